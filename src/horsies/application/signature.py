"""Reading what a task takes and gives from its function, and everything wrong with it."""

import inspect
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, get_args, get_origin, get_type_hints

from horsies.application.hrs import Hrs
from horsies.application.ports.codec import Codec, Parameter, Signature
from horsies.domain.result import TaskError, TaskResult

_RETURN = "return"
_UNNAMEABLE = {
    inspect.Parameter.POSITIONAL_ONLY: "is positional-only",
    inspect.Parameter.VAR_POSITIONAL: "takes any number of positional arguments",
    inspect.Parameter.VAR_KEYWORD: "takes any keyword arguments",
}


@dataclass(frozen=True, slots=True)
class Complaint:
    """A fault that has not yet been given its place in the source."""

    code: Hrs
    message: str
    help: str


@dataclass(frozen=True, slots=True)
class Reading:
    signature: Signature
    complaints: tuple[Complaint, ...]


def read_signature(function: Callable[..., Any], scope: Mapping[str, Any], codec: Codec) -> Reading:
    """The signature as far as it can be read; it is whole if there are no complaints.

    `scope` holds the names visible where the function was written, for annotations that are
    strings and name something local.
    """
    raw = inspect.signature(function)
    complaints = list(_complain_of_shape(raw))
    hints: dict[str, Any] = {}
    for name, annotation in _annotations(raw).items():
        try:
            hints[name] = _resolve(annotation, function, scope)
        except Exception as error:  # noqa: BLE001 - evaluating an annotation can raise anything
            complaints.append(_unresolved(name, error))
    parameters = tuple(
        Parameter(
            name,
            hints[name],
            required=parameter.default is inspect.Parameter.empty,
            keyword_only=parameter.kind is inspect.Parameter.KEYWORD_ONLY,
        )
        for name, parameter in raw.parameters.items()
        if name in hints and parameter.kind not in _UNNAMEABLE
    )
    result = _result_type(hints.get(_RETURN))
    if _RETURN in hints and result is None:
        complaints.append(_wrong_return(hints[_RETURN]))
    signature = Signature(parameters, result[0] if result else Any)
    complaints += _complain_of_types(signature, codec)
    return Reading(signature, tuple(complaints))


def _annotations(raw: inspect.Signature) -> dict[str, Any]:
    found = {name: parameter.annotation for name, parameter in raw.parameters.items()}
    found[_RETURN] = raw.return_annotation
    return {name: given for name, given in found.items() if given is not inspect.Signature.empty}


def _resolve(annotation: Any, function: Callable[..., Any], scope: Mapping[str, Any]) -> Any:
    """One by one, so that an annotation that cannot be resolved does not hide the others."""
    holder = SimpleNamespace(__annotations__={_RETURN: annotation})
    names = getattr(function, "__globals__", {})
    return get_type_hints(holder, names, dict(scope), include_extras=True)[_RETURN]


def _complain_of_shape(raw: inspect.Signature) -> Generator[Complaint]:
    if raw.return_annotation is inspect.Signature.empty:
        yield Complaint(
            Hrs.NO_RETURN_TYPE,
            "the task does not say what it returns",
            "annotate it with -> TaskResult[..., TaskError]",
        )
    for name, parameter in raw.parameters.items():
        if name == "self":
            yield Complaint(
                Hrs.UNSUPPORTED_PARAMETER,
                "a task cannot be a method, nor have a parameter named 'self'",
                "use a function at the top level of a module",
            )
        elif problem := _UNNAMEABLE.get(parameter.kind):
            yield Complaint(
                Hrs.UNSUPPORTED_PARAMETER,
                f"parameter {name!r} {problem}",
                "arguments travel by name: give the task named parameters only",
            )
        elif parameter.annotation is inspect.Parameter.empty:
            yield Complaint(
                Hrs.UNANNOTATED_PARAMETER,
                f"parameter {name!r} has no type",
                f"annotate it, for example {name}: int; the type says how the argument travels",
            )


def _complain_of_types(signature: Signature, codec: Codec) -> Generator[Complaint]:
    kinds = {f"parameter {known.name!r}": known.annotation for known in signature.parameters}
    for what, annotation in (kinds | {"the result": signature.result}).items():
        try:
            reason = codec.why_not(annotation)
        except Exception as error:  # noqa: BLE001 - looking into a user's type can raise anything
            reason = f"it cannot be examined ({type(error).__name__})"
        if reason:
            yield _unfit(what, reason)


def _unfit(what: str, reason: str) -> Complaint:
    return Complaint(
        Hrs.UNFIT_TYPE,
        f"{what}: {reason}",
        "use plain JSON types, dataclasses, TypedDicts, msgspec Structs or pydantic models",
    )


def _unresolved(name: str, error: Exception) -> Complaint:
    what = "the return type" if name == _RETURN else f"the type of parameter {name!r}"
    return Complaint(
        Hrs.UNRESOLVED_ANNOTATION,
        f"{what} cannot be resolved: {error}",
        "import the type at runtime (not only under TYPE_CHECKING), before the task",
    )


def _wrong_return(found: Any) -> Complaint:
    shown = getattr(found, "__name__", None) if get_origin(found) is None else None
    return Complaint(
        Hrs.WRONG_RETURN_TYPE,
        f"the task returns {shown or found}, not TaskResult[T, TaskError]",
        "return TaskResult(ok=value) or TaskResult(err=TaskError(...)), and annotate it so",
    )


def _result_type(annotation: Any) -> tuple[Any] | None:
    """The T of TaskResult[T, TaskError], in a tuple because T may be None."""
    match get_origin(annotation), get_args(annotation):
        case origin, (value, error) if origin is TaskResult and error is TaskError:
            return (value,)
        case _:
            return None
