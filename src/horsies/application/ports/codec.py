"""Values to bytes and back, steered by signatures alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from horsies.domain.errors import HorsiesError
from horsies.domain.ids import TaskId
from horsies.domain.result import TaskError, TaskResult


class UnfitValueError(HorsiesError):
    """A value that cannot travel, or bytes that do not hold what the signature says."""


@dataclass(frozen=True, slots=True)
class Parameter:
    name: str
    annotation: Any
    required: bool
    keyword_only: bool = False


@dataclass(frozen=True, slots=True)
class Signature:
    """What a task takes and gives; `result` is the T of its TaskResult[T, TaskError]."""

    parameters: Sequence[Parameter]
    result: Any


class CallCodec(Protocol):
    """The codec of one task."""

    def encode_call(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bytes:
        """Raises `UnfitValueError` if the arguments do not fit the signature."""
        ...

    def decode_call(self, payload: bytes) -> dict[str, Any]:
        """Keyword arguments; names the signature no longer has are dropped."""
        ...

    def encode_result(self, result: TaskResult[Any, TaskError]) -> bytes:
        """Raises `UnfitValueError` for what cannot travel, `MismatchError` for another type."""
        ...

    def decode_result(self, payload: bytes) -> TaskResult[Any, TaskError]: ...


class MismatchError(UnfitValueError):
    """The value could travel, but it is not what the signature promises."""


class Codec(Protocol):
    def why_not(self, annotation: Any) -> str | None:
        """Why values of this type cannot travel; None if they can."""
        ...

    def compile(self, signature: Signature) -> CallCodec: ...

    def encode_error(self, error: TaskError) -> bytes:
        """A result that holds this error; what cannot travel in it is left out."""
        ...

    def encode_failure_call(self, task_id: TaskId, result: bytes) -> bytes:
        """The arguments of an `on_failure` handler: the failed task's id and its error."""
        ...

    def decode_untyped(self, payload: bytes) -> TaskResult[Any, TaskError]:
        """A result whose task is unknown here: plain JSON values."""
        ...

    def fingerprint(self, name: str, payload: bytes) -> bytes:
        """Equal for calls that mean the same, whatever the order of their keys."""
        ...
