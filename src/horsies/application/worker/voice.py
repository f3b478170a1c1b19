"""For which of its tasks a worker speaks with its next beat."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from horsies.application.ports.grant import Grant
from horsies.application.settings.recovery import RecoveryConfig
from horsies.application.worker.holdings import Holdings
from horsies.application.worker.vigil import Vigil
from horsies.domain.task import Claim
from horsies.domain.worker import Pulse, Worker

A_MOMENT = timedelta(seconds=1)
"""Nothing is even asked about what is held for less: thousands of short tasks come and go."""


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
        held = (grant.claim for grant in self._holdings if _is_held_since(grant, now - A_MOMENT))
        return Pulse(worker, claimed, running, [claim for claim in held if claim not in spoken])

    def said(self, pulse: Pulse, at: datetime) -> None:
        """It was heard; what is not held any more is forgotten."""
        self._spoken |= dict.fromkeys((*pulse.claimed, *pulse.running), at)
        if self._spoken:
            held = {grant.claim for grant in self._holdings}
            self._spoken = {claim: at for claim, at in self._spoken.items() if claim in held}

    def _due(self, grants: Iterable[Grant], last: datetime) -> list[Claim]:
        old = (grant.claim for grant in grants if _is_held_since(grant, last))
        return [claim for claim in old if self._spoken.get(claim, last) <= last]


def _is_held_since(grant: Grant, instant: datetime) -> bool:
    return grant.claimed_at is not None and grant.claimed_at <= instant
