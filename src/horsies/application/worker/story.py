"""What a worker's log says of runs that did not succeed. Arguments are never part of it."""

import logging
from typing import assert_never

from horsies.application.ports.executor import RunReport
from horsies.domain.outcome import (
    Crashed,
    Errored,
    Interrupted,
    Outcome,
    ShutDown,
    Succeeded,
    Unbegun,
    Unresolved,
)

_log = logging.getLogger("horsies.worker")


def tell(report: RunReport) -> None:
    grant = report.grant
    level, what = _words(report.outcome, report.detail)
    _log.log(level, "task %r (%s, attempt %d) %s", grant.name, grant.claim.id, grant.attempt, what)


def _words(outcome: Outcome, detail: str | None) -> tuple[int, str]:
    match outcome:
        case Errored(code):
            return logging.WARNING, f"failed: {code}"
        case Crashed():
            return logging.ERROR, f"crashed: {detail or 'its process died'}"
        case ShutDown():
            return logging.WARNING, "was ended because the worker stops"
        case Unresolved():
            return logging.WARNING, f"is left to other workers: {detail}"
        case Interrupted():
            return logging.INFO, "was cancelled"
        case Unbegun():
            return logging.DEBUG, "goes back unbegun"
        case Succeeded():
            return logging.DEBUG, "succeeded"
        case _:
            assert_never(outcome)
