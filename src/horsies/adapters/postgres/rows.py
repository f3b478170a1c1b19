"""Tasks to rows and back."""

import json
from collections.abc import Sequence
from typing import Any

from horsies.adapters.postgres.terms import decode_terms
from horsies.domain.codes import known_code
from horsies.domain.task import Attempt, Task
from horsies.domain.task_lifecycle import TaskStatus
from horsies.domain.worker import Gauge, Load, Versions, Worker, WorkerState

Row = tuple[Any, ...]
Columns = dict[str, list[Any]]


def task_of(row: Row) -> Task:
    """A row in the order of `queries.LIVE_COLUMNS`."""
    return Task(
        id=row[0],
        name=row[1],
        queue=row[2],
        payload=row[3].encode(),
        priority=row[4],
        terms=decode_terms(row[5], row[6]),
        good_until=row[7],
        headers=row[8],
        retry_of=row[9],
        sent_at=row[10],
        enqueued_at=row[11],
        claimable=row[12],
        status=TaskStatus(row[13]),
        epoch=row[14],
        attempt=row[15],
        retries=row[16],
        crashes=row[17],
        worker=row[18],
        claimed_at=row[19],
        started_at=row[20],
        next_retry_at=row[21],
        cancel_requested_at=row[22],
        unresolved_since=row[23],
        error_code=None if row[24] is None else known_code(row[24]),
        finished_at=row[25],
        result=_bytes(row[26]),
    )


def attempt_of(row: Row) -> Attempt:
    task_id, epoch, number, worker, started_at, finished_at, error_code, result = row
    return Attempt(
        task_id=task_id,
        epoch=epoch,
        number=number,
        worker=worker,
        started_at=started_at,
        finished_at=finished_at,
        error_code=error_code,
        result=_bytes(result),
    )


def worker_of(row: Row) -> Worker:
    """A row in the order of sql/all_workers.sql."""
    running, claimed, places, memory, cpu = row[10:15]
    return Worker(
        id=row[0],
        name=row[1],
        hostname=row[2],
        pid=row[3],
        queues=tuple(row[4]),
        started_at=row[5],
        lease_until=row[6],
        state=WorkerState(row[7]),
        current=tuple(row[8]),
        caps=row[9],
        load=Load(
            running=running, claimed=claimed, places=places, gauge=Gauge(memory, round(cpu, 3))
        ),
        versions=Versions(horsies=row[15], python=row[16], schema=row[17]),
        hears=row[18],
        beat_at=row[19],
        pinged_at=row[20],
        left_at=row[21],
    )


def columns_of_worker(worker: Worker) -> dict[str, Any]:
    """What a worker says of itself; the instants of its row are the database's."""
    return {
        "worker": worker.id,
        "name": worker.name,
        "hostname": worker.hostname,
        "pid": worker.pid,
        "queues": list(worker.queues),
        "state": str(worker.state),
        "started_at": worker.started_at,
        "current": list(worker.current),
        "caps": json.dumps(dict(worker.caps)),
        "running": worker.load.running,
        "claimed": worker.load.claimed,
        "places": worker.load.places,
        "memory": worker.load.gauge.memory_bytes,
        "cpu": worker.load.gauge.cpu_share,
        "horsies_version": worker.versions.horsies,
        "python_version": worker.versions.python,
        "schema_version": worker.versions.schema,
        "hears": worker.hears,
        "pinged_at": worker.pinged_at,
    }


def columns_of_tasks(tasks: Sequence[Task]) -> Columns:
    """What a change can touch, one array a column: rows are written in one statement."""
    return {
        "id": [task.id for task in tasks],
        "epoch": [task.epoch for task in tasks],
        "status": [str(task.status) for task in tasks],
        "enqueued_at": [task.enqueued_at for task in tasks],
        "claimable": [task.claimable for task in tasks],
        "attempt": [task.attempt for task in tasks],
        "retries": [task.retries for task in tasks],
        "crashes": [task.crashes for task in tasks],
        "worker_id": [task.worker for task in tasks],
        "claimed_at": [task.claimed_at for task in tasks],
        "started_at": [task.started_at for task in tasks],
        "next_retry_at": [task.next_retry_at for task in tasks],
        "cancel_requested_at": [task.cancel_requested_at for task in tasks],
        "unresolved_since": [task.unresolved_since for task in tasks],
        "error_code": [_text(task.error_code) for task in tasks],
        "finished_at": [task.finished_at for task in tasks],
        "result": [text_of(task.result) for task in tasks],
    }


def columns_of_attempts(attempts: Sequence[Attempt]) -> Columns:
    return {
        "task_id": [attempt.task_id for attempt in attempts],
        "epoch": [attempt.epoch for attempt in attempts],
        "number": [attempt.number for attempt in attempts],
        "worker_id": [attempt.worker for attempt in attempts],
        "started_at": [attempt.started_at for attempt in attempts],
        "finished_at": [attempt.finished_at for attempt in attempts],
        "error_code": [_text(attempt.error_code) for attempt in attempts],
        "result": [text_of(attempt.result) for attempt in attempts],
    }


def text_of(payload: bytes | None) -> str | None:
    return None if payload is None else payload.decode()


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else text.encode()


def _text(code: str | None) -> str | None:
    """A plain string: the driver would take the members of an enum for a type of their own."""
    return None if code is None else str(code)
