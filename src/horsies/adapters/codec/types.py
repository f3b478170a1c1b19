"""Which types can travel, read off annotations alone."""

from collections.abc import Iterator
from types import UnionType
from typing import Any, TypeVar, Union, cast, get_args, get_origin

from msgspec import inspect

from horsies.adapters.codec.errors import ErrorOnWire
from horsies.adapters.codec.models import is_model
from horsies.domain.result import TaskError

_KEYS = (
    inspect.AnyType,
    inspect.StrType,
    inspect.IntType,
    inspect.FloatType,
    inspect.DecimalType,
    inspect.BytesType,
    inspect.DateTimeType,
    inspect.DateType,
    inspect.TimeType,
    inspect.TimeDeltaType,
    inspect.UUIDType,
    inspect.EnumType,
    inspect.LiteralType,
)

_UNION_ADVICE = (
    "its members look alike in JSON; "
    "use Structs with tags, or a discriminated union inside a pydantic model"
)


def why_not(annotation: Any) -> str | None:
    if _is_open(annotation):
        return f"{_name(annotation)} cannot travel: it has a type variable without a value"
    try:
        root = inspect.type_info(on_wire(annotation))
    except Exception as error:  # noqa: BLE001 - resolving a user's annotations may raise anything
        return f"{_name(annotation)} cannot travel: {_misfit(error)}"
    for place, node in _nodes(root, ""):
        if problem := _problem(node):
            return f"{_name(annotation)} cannot travel: {place}{problem}"
    return None


def on_wire(annotation: Any) -> Any:
    """The annotation with `TaskError` replaced by the name under which msgspec asks our hook."""
    if annotation is TaskError:
        return ErrorOnWire
    given = get_args(annotation)
    inner = tuple(on_wire(part) for part in given)
    if all(new is old for new, old in zip(inner, given, strict=True)):
        return annotation
    origin: Any = Union if isinstance(annotation, UnionType) else get_origin(annotation)
    return origin[inner]


def holds(annotation: Any, *kinds: type[inspect.Type]) -> bool:
    nodes = _nodes(inspect.type_info(annotation), "")
    return any(isinstance(node, kinds) for _, node in nodes)


def _nodes(
    node: inspect.Type, place: str, seen: set[int] | None = None
) -> Iterator[tuple[str, inspect.Type]]:
    """Each type once, with the field it was found in: types may contain themselves."""
    seen = set() if seen is None else seen
    if id(node) in seen:
        return
    seen.add(id(node))
    yield place, node
    for part in _parts(node):
        if isinstance(part, inspect.Field):
            yield from _nodes(part.type, f"in its field '{part.name}', ", seen)
        else:
            yield from _nodes(part, place, seen)


def _parts(node: inspect.Type) -> Iterator[inspect.Type | inspect.Field]:
    for name in node.__struct_fields__:
        value = getattr(node, name)
        parts = cast("tuple[Any, ...]", value) if isinstance(value, tuple) else (value,)
        for part in parts:
            if isinstance(part, inspect.Type | inspect.Field):
                yield part


def _problem(node: inspect.Type) -> str | None:
    match node:
        case inspect.CustomType(cls=kind) if kind is not ErrorOnWire and not is_model(kind):
            return (
                f"{_name(kind)} is none of the types that travel; "
                "make it a dataclass, a Struct or a pydantic model"
            )
        case inspect.RawType() | inspect.ExtType():
            return "msgspec's Raw and Ext are bytes of unknown meaning"
        case inspect.DictType(key_type=key) if not isinstance(_bare(key), _KEYS):
            return (
                "the keys of a JSON object are texts, which only one scalar type can be read from"
            )
        case _:
            return None


def _bare(node: inspect.Type) -> inspect.Type:
    return node.type if isinstance(node, inspect.Metadata) else node


def _misfit(error: Exception) -> str:
    text = str(error)
    return f"{_UNION_ADVICE} ({text})" if "union" in text else text


def _is_open(annotation: Any) -> bool:
    """A bare generic class holds `Any`; a type variable in a signature stands for nothing."""
    if isinstance(annotation, TypeVar):
        return True
    return not isinstance(annotation, type) and bool(getattr(annotation, "__parameters__", ()))


def _name(annotation: Any) -> str:
    if isinstance(annotation, type):
        return annotation.__qualname__
    return str(annotation).replace("typing.", "")
