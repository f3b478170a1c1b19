"""From a raised exception to an error code."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from horsies.domain.result import ExceptionInfo, TaskError


@dataclass(frozen=True, slots=True)
class ErrorMapping:
    """Mappers are asked in turn; within one, the nearest class of the exception's MRO wins."""

    mappers: Sequence[Mapping[type[BaseException], str]]
    default: str

    def error_of(self, exception: BaseException) -> TaskError:
        info = ExceptionInfo.of(exception)
        return TaskError(self._code_for(type(exception)), info.message or None, exception=info)

    def _code_for(self, kind: type[BaseException]) -> str:
        for mapper in self.mappers:
            for ancestor in kind.__mro__ if mapper else ():
                if code := _look_up(mapper, ancestor):
                    return code
        return self.default


def _look_up(mapper: Mapping[type[BaseException], str], kind: type) -> str | None:
    try:
        return mapper.get(kind)
    except TypeError:  # a metaclass without a hash
        return None
