"""From a decorated function to a task definition, or to everything that is wrong with it."""

import inspect
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from horsies.application.definition import TaskDefinition
from horsies.application.error_mapping import ErrorMapping
from horsies.application.hrs import Hrs
from horsies.application.ports.codec import Codec
from horsies.application.registry import TaskRegistry
from horsies.application.send_options import LONGEST_MS
from horsies.application.settings.app import AppConfig
from horsies.application.settings.mapper import error_code_faults, mapper_faults
from horsies.application.settings.names import MAX_TASK_NAME_BYTES, why_not_a_name
from horsies.application.signature import Complaint, Reading, read_signature
from horsies.application.source import SourceLine, decorator_line, def_line, option_line
from horsies.domain.codes import OperationalErrorCode
from horsies.domain.errors import DefinitionError
from horsies.domain.faults import Fault
from horsies.domain.queue import DEFAULT_QUEUE
from horsies.domain.retry import IDEMPOTENT_DEFAULT, RetryPolicy
from horsies.domain.values import is_whole, shown


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskOptions:
    """What `@app.task` was given; nothing in it has been checked."""

    name: str
    queue: str | None = None
    retry_policy: RetryPolicy | None = None
    idempotent: bool = False
    timeout_ms: int | None = None
    result_ttl_ms: int | None = None
    exception_mapper: Mapping[type[BaseException], str] | None = None
    default_unhandled_error_code: str | None = None
    on_failure: object = None
    aliases: Sequence[str] = ()
    fresh: bool = False


def define_task(
    function: Callable[..., Any],
    options: TaskOptions,
    scope: Mapping[str, Any],
    *,
    codec: Codec,
    config: AppConfig,
    registry: TaskRegistry,
) -> TaskDefinition | tuple[Fault, ...]:
    """All faults are found at once; none of them keeps another from being found."""
    faults = [
        replace(fault, location=option_line(function, option))
        for option, fault in _option_faults(options, config)
    ]
    if kind := _why_not_a_function(function):
        return (*faults, _fault(_not_a_function(options.name, kind), decorator_line(function)))
    reading = read_signature(function, scope, codec)
    at_def = def_line(function)
    faults += [_fault(complaint, at_def) for complaint in reading.complaints]
    names = [name for name in (options.name, *options.aliases) if isinstance(name, str)]  # pyright: ignore[reportUnnecessaryIsInstance] - callers may be untyped
    faults += registry.taken(names, function, at_def)
    if faults:
        return tuple(faults)
    return _definition(function, options, reading, at_def, codec=codec, config=config)


def bare_decorator(function: Callable[..., Any]) -> DefinitionError:
    """For `@app.task` without parentheses, which would otherwise pass in silence."""
    fault = Fault(
        Hrs.BAD_TASK_NAME,
        "@app.task is used without a name",
        f'write @app.task("{getattr(function, "__name__", "name")}")',
        decorator_line(function),
    )
    return DefinitionError([fault])


def _definition(
    function: Callable[..., Any],
    options: TaskOptions,
    reading: Reading,
    location: SourceLine | None,
    *,
    codec: Codec,
    config: AppConfig,
) -> TaskDefinition:
    mappers = (options.exception_mapper or {}, config.exception_mapper)
    default = options.default_unhandled_error_code or config.default_unhandled_error_code
    timeout_ms = options.timeout_ms or config.default_timeout_ms
    return TaskDefinition(
        name=options.name,
        aliases=tuple(options.aliases),
        fresh=options.fresh,
        function=function,
        is_async=inspect.iscoroutinefunction(function),
        signature=reading.signature,
        codec=codec.compile(reading.signature),
        queue=options.queue or DEFAULT_QUEUE,
        retry=_retry(options),
        timeout=_milliseconds(timeout_ms),
        result_ttl=_milliseconds(options.result_ttl_ms),
        on_failure=_name_of(options.on_failure),
        errors=ErrorMapping(mappers, default),
        location=location,
    )


def _retry(options: TaskOptions) -> RetryPolicy | None:
    if not options.idempotent:
        return options.retry_policy
    if options.retry_policy is None:
        return IDEMPOTENT_DEFAULT
    return options.retry_policy.including(OperationalErrorCode.WORKER_CRASHED)


def _option_faults(options: TaskOptions, config: AppConfig) -> Generator[tuple[str, Fault]]:
    """What is wrong with the options, each with the option it is about."""
    found = {
        "name": _name_faults(options.name),
        "aliases": (fault for alias in options.aliases for fault in _name_faults(alias)),
        "idempotent": _flag_faults("idempotent", options.idempotent),
        "fresh": _flag_faults("fresh", options.fresh),
        "queue": _queue_faults(options.queue, config),
        "retry_policy": _retry_faults(options.retry_policy),
        "timeout_ms": _duration_faults("timeout_ms", options.timeout_ms),
        "result_ttl_ms": _duration_faults("result_ttl_ms", options.result_ttl_ms),
        "exception_mapper": _mapper_faults(options.exception_mapper),
        "default_unhandled_error_code": _code_faults(options.default_unhandled_error_code),
        "on_failure": _handler_faults(options.on_failure),
    }
    for option, faults in found.items():
        for fault in faults:
            yield option, fault


def _flag_faults(field: str, value: object) -> Generator[Fault]:
    if not isinstance(value, bool):
        problem = f"{field} cannot be of type {type(value).__name__}"
        yield Fault(Hrs.OPTION_OUT_OF_RANGE, problem, f"pass {field}=True, or leave it out")


def _mapper_faults(mapper: object) -> Iterable[Fault]:
    return mapper_faults("exception_mapper", mapper, Hrs.BAD_TASK_MAPPER) if mapper else ()


def _code_faults(code: object) -> Iterable[Fault]:
    name = "default_unhandled_error_code"
    return () if code is None else error_code_faults(name, code, Hrs.BAD_TASK_MAPPER)


def _handler_faults(handler: object) -> Generator[Fault]:
    if handler is not None and not _name_of(handler):
        yield Fault(
            Hrs.BAD_ON_FAILURE,
            f"on_failure names no task: {shown(handler)}",
            "pass a task or the name of one",
        )


def _name_faults(name: object) -> Generator[Fault]:
    reason = (
        why_not_a_name(name, MAX_TASK_NAME_BYTES) if isinstance(name, str) else "a name is text"
    )
    if reason:
        yield Fault(
            Hrs.BAD_TASK_NAME,
            f"the task cannot be named {shown(name)}: {reason}",
            'give it a short name, such as @app.task("send_invoice")',
        )


def _queue_faults(queue: object, config: AppConfig) -> Generator[Fault]:
    known = ", ".join(repr(known.name) for known in config.queues())
    if queue is None and config.queue_named(DEFAULT_QUEUE) is None:
        yield Fault(
            Hrs.NO_QUEUE,
            "the task names no queue, and the custom queues have no 'default'",
            f"pass queue= with one of {known}",
        )
    elif queue is not None and not (isinstance(queue, str) and config.queue_named(queue)):
        yield Fault(
            Hrs.UNKNOWN_QUEUE,
            f"there is no queue {shown(queue)}",
            f"pass queue= with one of {known}, or add the queue to AppConfig.custom_queues",
        )


def _retry_faults(policy: object) -> Generator[Fault]:
    help_text = "see RetryPolicy.fixed([1, 5, 25]) and RetryPolicy.exponential(2, max_retries=5)"
    if policy is not None and not isinstance(policy, RetryPolicy):
        problem = f"retry_policy cannot be of type {type(policy).__name__}"
        yield Fault(Hrs.BAD_RETRY_POLICY, problem, help_text)
        return
    for problem in policy.problems if policy else ():
        yield Fault(Hrs.BAD_RETRY_POLICY, f"the retry policy makes no sense: {problem}", help_text)


def _duration_faults(field: str, value: object) -> Generator[Fault]:
    if value is None or (is_whole(value) and 0 < value <= LONGEST_MS):
        return
    yield Fault(
        Hrs.OPTION_OUT_OF_RANGE,
        f"{field} cannot be {shown(value)}",
        f"pass {field} as a whole number of milliseconds, from 1 to {LONGEST_MS:_}",
    )


def _not_a_function(name: str, kind: str) -> Complaint:
    return Complaint(
        Hrs.NOT_A_FUNCTION,
        f"task {shown(name)} is {kind}, not a plain function",
        "decorate a `def` or an `async def` that returns its result",
    )


def _why_not_a_function(function: Callable[..., Any]) -> str | None:
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        return "a generator (it has a yield)"
    if isinstance(function, type):
        return f"the class {function.__name__}"
    if not inspect.isfunction(function):
        return f"a {type(function).__name__}"
    return "a lambda" if function.__name__ == "<lambda>" else None


def _name_of(handler: object) -> str | None:
    name = handler if isinstance(handler, str) else getattr(handler, "name", None)
    return name if isinstance(name, str) and name else None


def _milliseconds(value: int | None) -> timedelta | None:
    return None if value is None else timedelta(milliseconds=value)


def _fault(complaint: Complaint, location: SourceLine | None) -> Fault:
    return Fault(complaint.code, complaint.message, complaint.help, location)
