"""Queues in PostgreSQL, as operators see them."""

from collections.abc import Sequence

from horsies.adapters.postgres.session import Session
from horsies.domain.ids import TaskId
from horsies.domain.queue import QueueDepth
from horsies.domain.task import Claim


class PostgresQueueStore:
    def __init__(self, session: Session) -> None:
        self._session = session

    async def pause(self, queue: str) -> None:
        await self._session.change("pause_queue", queue=queue, now=self._session.clock.now())

    async def resume(self, queue: str) -> bool:
        was_paused = await self._session.change("resume_queue", queue=queue) > 0
        self._session.announce_queue(queue)
        return was_paused

    async def claimed(self, queue: str) -> Sequence[Claim]:
        rows = await self._session.rows("claimed_of_queue", queue=queue)
        return [Claim(TaskId(task_id), epoch) for task_id, epoch in rows]

    async def all(self) -> Sequence[QueueDepth]:
        rows = await self._session.rows("queue_depths")
        return [
            QueueDepth(
                name=name,
                waiting=waiting,
                delayed=delayed,
                claimed=claimed,
                running=running,
                oldest=oldest,
                paused_at=paused_at,
            )
            for name, waiting, delayed, claimed, running, oldest, paused_at in rows
        ]
