"""For which of its tasks a worker speaks with its next beat."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from horsies.application.settings.recovery import RecoveryConfig
from horsies.application.worker.holdings import Holdings
from horsies.application.worker.vigil import Vigil
from horsies.domain.task import Claim, Task
from horsies.domain.worker import Pulse, Worker


class Voice:
    """Once an interval for each, and never for what ends within one: its claim was a sign of life.

    Beats are at most an interval apart, and one that is nearly due does not wait for the next.
    """

    def __init__(self, recovery: RecoveryConfig, holdings: Holdings, vigil: Vigil) -> None:
        self._claimer = recovery.claimer_heartbeat_interval
        self._runner = recovery.runner_heartbeat_interval
        self._holdings = holdings
        self._vigil = vigil
        self._spoken: dict[Claim, datetime] = {}

    def pulse(self, worker: Worker, now: datetime, beat: timedelta) -> Pulse:
        """What to say now, if the next beat comes after `beat`."""
        claimed = self._due(self._holdings.claimed, now - self._claimer + beat / 2)
        running = [
            claim
            for claim in self._due(self._holdings.running, now - self._runner + beat / 2)
            if self._vigil.has_heard(claim)
        ]
        spoken = {*claimed, *running}
        quiet = [claim for claim in self._holdings if claim not in spoken]
        return Pulse(worker, claimed, running, quiet)

    def said(self, pulse: Pulse, at: datetime) -> None:
        """It was heard; what is not held any more is forgotten."""
        self._spoken |= dict.fromkeys((*pulse.claimed, *pulse.running), at)
        self._spoken = {
            claim: spoken for claim, spoken in self._spoken.items() if claim in self._holdings
        }

    def _due(self, tasks: Mapping[Claim, Task], last: datetime) -> list[Claim]:
        return [claim for claim, task in tasks.items() if self._last(claim, task) <= last]

    def _last(self, claim: Claim, task: Task) -> datetime:
        signs: Iterable[datetime | None] = (
            task.claimed_at,
            task.started_at,
            self._spoken.get(claim),
        )
        return max(sign for sign in signs if sign is not None)
