"""Asking workers to show that they are there."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from horsies.application.ports.clock import Clock
from horsies.application.ports.unit_of_work import UnitOfWork
from horsies.domain.lease import renew_every
from horsies.domain.worker import Presence, Worker

LOOK_EVERY_SECONDS = 0.02
ANSWER_WITHIN = timedelta(seconds=3)
"""How long who listens may take; and who does not, once its next beat is due."""


@dataclass(frozen=True, slots=True)
class Ping:
    """Those who were asked, and when; workers that were lost before are only told of."""

    asked_at: datetime
    asked: Sequence[Worker]
    lost: Sequence[Worker]

    @property
    def patience(self) -> timedelta:
        """Who does not listen is waited for until its next beat."""
        beats = [_until_next_beat(worker) for worker in self.asked if not worker.hears]
        return ANSWER_WITHIN + max(beats, default=timedelta())


@dataclass(frozen=True, slots=True)
class Answer:
    """`after` is None of a worker that said nothing."""

    worker: Worker
    after: timedelta | None


@dataclass(frozen=True, slots=True)
class PingWorkers:
    unit_of_work: UnitOfWork
    clock: Clock

    async def ask(self, name: str | None = None) -> Ping:
        """All that are there, or those of one name."""
        async with self.unit_of_work() as tx:
            asked_at = self.clock.now()
            known = [each for each in await tx.workers.all() if name in {None, each.name}]
            await tx.workers.ping(asked_at)
        by_presence = {
            presence: [each for each in known if each.presence(asked_at) is presence]
            for presence in Presence
        }
        return Ping(asked_at, by_presence[Presence.HERE], by_presence[Presence.LOST])

    async def answers(self, ping: Ping) -> Sequence[Answer]:
        """In the order in which they came; who is silent comes last."""
        waiting = {worker.id: worker for worker in ping.asked}
        answers: list[Answer] = []
        deadline = asyncio.get_running_loop().time() + ping.patience.total_seconds()
        while waiting:
            for worker in await self._all():
                if worker.id in waiting and worker.has_answered(ping.asked_at):
                    del waiting[worker.id]
                    answers.append(
                        Answer(worker, (worker.beat_at or ping.asked_at) - ping.asked_at)
                    )
            if asyncio.get_running_loop().time() >= deadline:
                break
            await asyncio.sleep(LOOK_EVERY_SECONDS)
        return [*answers, *(Answer(worker, None) for worker in waiting.values())]

    async def _all(self) -> Sequence[Worker]:
        async with self.unit_of_work() as tx:
            return await tx.workers.all()


def _until_next_beat(worker: Worker) -> timedelta:
    if worker.beat_at is None:
        return timedelta()
    return renew_every(worker.lease_until - worker.beat_at)
