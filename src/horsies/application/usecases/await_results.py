"""Waiting for tasks to end and reading what they left."""

from collections.abc import AsyncGenerator, Collection, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from time import monotonic
from typing import Any, TypeAlias

from horsies.application.ports.codec import Codec, UnfitValueError
from horsies.application.ports.completions import Completions
from horsies.application.ports.unit_of_work import UnitOfWork
from horsies.application.registry import TaskRegistry
from horsies.domain.codes import (
    OperationalErrorCode,
    OutcomeErrorCode,
    RetrievalErrorCode,
)
from horsies.domain.errors import BrokerError
from horsies.domain.ids import TaskId
from horsies.domain.result import TaskError, TaskResult
from horsies.domain.task import Task
from horsies.domain.task_lifecycle import TaskStatus

AnyResult: TypeAlias = TaskResult[Any, TaskError]


@dataclass(frozen=True, slots=True)
class Ending:
    """What `get` gives; only a `final` one may be remembered."""

    result: AnyResult
    final: bool


@dataclass(frozen=True, slots=True)
class AwaitResults:
    unit_of_work: UnitOfWork
    completions: Completions
    registry: TaskRegistry
    codec: Codec

    async def __call__(self, task_id: TaskId, timeout_seconds: float | None) -> Ending:
        try:
            async with aclosing(self.as_they_end([task_id], timeout_seconds)) as endings:
                async for _, ending in endings:
                    return ending
            return await self._still_waiting(task_id)
        except BrokerError as error:
            return _passing(OperationalErrorCode.BROKER_ERROR, str(error))

    async def as_they_end(
        self, ids: Collection[TaskId], timeout_seconds: float | None
    ) -> AsyncGenerator[tuple[TaskId, Ending]]:
        """Each task when it has ended; stops without the rest when the time is up."""
        deadline = None if timeout_seconds is None else monotonic() + timeout_seconds
        open_ids = set(ids)
        with self.completions.watch(tuple(open_ids)) as watch:
            while True:
                for task_id, ending in (await self._ended(open_ids)).items():
                    open_ids.discard(task_id)
                    yield task_id, ending
                left = None if deadline is None else max(0.0, deadline - monotonic())
                if not open_ids or not await watch.wait(left):
                    return

    async def _still_waiting(self, task_id: TaskId) -> Ending:
        """Not ended in time: say where it is, which is mostly what one wants to know."""
        async with self.unit_of_work() as tx:
            task = (await tx.archive.find([task_id])).get(task_id)
        if task is None:
            return _not_found(task_id)
        if task.status.is_terminal:  # it has ended since the last look
            return self._read(task)
        state = f"is still {task.status}"
        if not task.claimable and task.status is TaskStatus.PENDING:
            state += f", due at {task.enqueued_at:%Y-%m-%d %H:%M:%S} UTC"
        return _passing(RetrievalErrorCode.WAIT_TIMEOUT, f"task {task_id} {state}")

    async def _ended(self, ids: Collection[TaskId]) -> Mapping[TaskId, Ending]:
        async with self.unit_of_work() as tx:
            found = await tx.archive.find(ids)
        endings = {task_id: _not_found(task_id) for task_id in ids if task_id not in found}
        ended = [(task.finished_at, task) for task in found.values() if task.finished_at]
        for _, task in sorted(ended, key=lambda pair: pair[0]):
            endings[task.id] = self._read(task)
        return endings

    def _read(self, task: Task) -> Ending:
        if task.result is not None:
            try:
                return Ending(self._decode(task.name, task.result), final=True)
            except UnfitValueError as error:
                code = OperationalErrorCode.RESULT_DESERIALIZATION_ERROR
                return Ending(_error(code, str(error)), final=True)
        return Ending(_without_result(task), final=True)

    def _decode(self, name: str, result: bytes) -> AnyResult:
        definition = self.registry.find(name)
        if definition is None:
            return self.codec.decode_untyped(result)
        return definition.codec.decode_result(result)


def _without_result(task: Task) -> AnyResult:
    match task.status:
        case TaskStatus.CANCELLED:
            return _error(OutcomeErrorCode.TASK_CANCELLED, f"task {task.id} was cancelled")
        case TaskStatus.EXPIRED:
            return _error(
                OutcomeErrorCode.TASK_EXPIRED,
                f"task {task.id} was not started before its good_until",
            )
        case _:
            return _error(
                RetrievalErrorCode.RESULT_NOT_AVAILABLE,
                f"task {task.id} is {task.status}, but its result is not stored",
            )


def _not_found(task_id: TaskId) -> Ending:
    return _passing(
        RetrievalErrorCode.TASK_NOT_FOUND,
        f"task {task_id} is not known: its send was never committed, or its record was purged",
    )


def _passing(code: str, message: str) -> Ending:
    return Ending(_error(code, message), final=False)


def _error(code: str, message: str) -> AnyResult:
    return TaskResult(err=TaskError(code, message))
