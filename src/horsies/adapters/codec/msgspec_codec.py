"""The codec of Horsies: JSON by msgspec, steered by signatures alone."""

from hashlib import sha256
from typing import Any, final

import msgspec

from horsies.adapters.codec.calls import Calls
from horsies.adapters.codec.results import Results, raw_error
from horsies.adapters.codec.types import why_not
from horsies.application.ports.codec import CallCodec, Signature, UnfitValueError
from horsies.domain.ids import TaskId
from horsies.domain.result import TaskError, TaskResult

_canonical = msgspec.json.Encoder(order="deterministic").encode


@final
class MsgspecCallCodec:
    """The verbs are bound here once, because every task pays for a call in between."""

    def __init__(self, signature: Signature) -> None:
        calls = Calls(signature.parameters)
        results = Results(signature.result)
        self.encode_call = calls.encode
        self.decode_call = calls.decode
        self.encode_result = results.encode
        self.decode_result = results.decode


@final
class MsgspecCodec:
    def __init__(self) -> None:
        self._untyped = Results(Any)

    def why_not(self, annotation: Any) -> str | None:
        return why_not(annotation)

    def compile(self, signature: Signature) -> CallCodec:
        return MsgspecCallCodec(signature)

    def encode_error(self, error: TaskError) -> bytes:
        return self._untyped.encode_surely(error)

    def encode_failure_call(self, task_id: TaskId, result: bytes) -> bytes:
        return msgspec.json.encode({"task_id": str(task_id), "error": raw_error(result)})

    def decode_untyped(self, payload: bytes) -> TaskResult[Any, TaskError]:
        return self._untyped.decode(payload)

    def fingerprint(self, name: str, payload: bytes) -> bytes:
        try:
            arguments = msgspec.json.decode(payload)
        except (ValueError, RecursionError):
            raise UnfitValueError("the payload is not valid JSON") from None
        return sha256(name.encode() + b"\0" + _canonical(arguments)).digest()
