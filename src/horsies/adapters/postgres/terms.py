"""The terms of a task as JSON: what was agreed at send, readable by every later version."""

import json
import logging
from datetime import timedelta
from functools import lru_cache
from typing import Any, cast

from horsies.domain.codes import known_code
from horsies.domain.retry import Exponential, FixedDelays, RetryPolicy
from horsies.domain.task import NOT_AGREED, FailureHandler, Terms

_MILLISECOND = timedelta(milliseconds=1)
_SECOND = timedelta(seconds=1)
_logger = logging.getLogger("horsies")


@lru_cache(maxsize=1024)
def encode_terms(terms: Terms) -> str:
    """Without the lifetime of the result, which is a column: retention reads it."""
    return json.dumps(_terms_to_json(terms), separators=(",", ":"))


@lru_cache(maxsize=1024)
def decode_terms(text: str | None, result_ttl: timedelta | None) -> Terms:
    if text is None:
        return NOT_AGREED
    try:
        return _terms_from_json(json.loads(text), result_ttl)
    except (ValueError, LookupError, TypeError, AttributeError):
        # One row that nobody can read must not stop the claim of all others: it runs once.
        _logger.warning("a task has terms that this version cannot read, and gets none")
        return Terms(result_ttl=result_ttl)


def _terms_to_json(terms: Terms) -> dict[str, Any]:
    written: dict[str, Any] = {}
    if terms.retry is not None:
        written["retry"] = _retry_to_json(terms.retry)
    if terms.timeout is not None:
        written["timeout_ms"] = terms.timeout // _MILLISECOND
    if terms.on_failure is not None:
        written["on_failure"] = _handler_to_json(terms.on_failure)
    return written


def _terms_from_json(written: dict[str, Any], result_ttl: timedelta | None) -> Terms:
    timeout_ms = written.get("timeout_ms")
    return Terms(
        retry=_retry_from_json(written["retry"]) if "retry" in written else None,
        timeout=None if timeout_ms is None else timeout_ms * _MILLISECOND,
        result_ttl=result_ttl,
        on_failure=_handler_from_json(written["on_failure"]) if "on_failure" in written else None,
    )


def _retry_to_json(policy: RetryPolicy) -> dict[str, Any]:
    written: dict[str, Any] = {"max": policy.max_retries, "codes": sorted(policy.codes)}
    if isinstance(policy.backoff, FixedDelays):
        written["delays"] = [delay / _SECOND for delay in policy.backoff.delays]
    else:
        written["base"] = policy.backoff.base / _SECOND
        written["max_delay"] = policy.backoff.max_delay / _SECOND
    return written


def _retry_from_json(written: dict[str, Any]) -> RetryPolicy:
    if "delays" in written:
        backoff = FixedDelays(tuple(_seconds(delay) for delay in written["delays"]))
    else:
        backoff = Exponential(_seconds(written["base"]), _seconds(written["max_delay"]))
    codes = cast("list[str]", written["codes"])
    return RetryPolicy(backoff, written["max"], frozenset(known_code(code) for code in codes))


def _handler_to_json(handler: FailureHandler) -> dict[str, Any]:
    written = {"name": handler.name, "queue": handler.queue, "priority": handler.priority}
    terms = _terms_to_json(handler.terms)
    if handler.terms.result_ttl is not None:
        terms["result_ttl_ms"] = handler.terms.result_ttl // _MILLISECOND
    return {**written, "terms": terms}


def _handler_from_json(written: dict[str, Any]) -> FailureHandler:
    terms = written["terms"]
    ttl_ms = terms.get("result_ttl_ms")
    return FailureHandler(
        name=written["name"],
        queue=written["queue"],
        priority=written["priority"],
        terms=_terms_from_json(terms, None if ttl_ms is None else ttl_ms * _MILLISECOND),
    )


def _seconds(value: float) -> timedelta:
    return timedelta(seconds=value)
