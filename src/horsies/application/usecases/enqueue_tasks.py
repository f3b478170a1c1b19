"""Sending: a pure plan, and two short runners for it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, TypeAlias

from horsies.application.definition import TaskDefinition
from horsies.application.ports.clock import Clock
from horsies.application.ports.codec import Codec, UnfitValueError
from horsies.application.ports.id_source import IdSource
from horsies.application.ports.task_inbox import TaskInbox, UnusableConnectionError
from horsies.application.registry import TaskRegistry
from horsies.application.send_options import NO_OPTIONS, Call, SendGate, SendOptions
from horsies.application.settings.app import AppConfig
from horsies.domain.errors import BrokerError, TaskSendError
from horsies.domain.ids import TaskId
from horsies.domain.result import Err, Ok
from horsies.domain.sending import (
    Accepted,
    Batch,
    Receipt,
    Refusal,
    SendErrorCode,
    read_receipt,
    replay_too_old,
)
from horsies.domain.task import DEFAULT_PRIORITY, IdempotencyKey, NewTask, Terms

Plan: TypeAlias = Ok[Batch] | Err[TaskSendError]
SendResult: TypeAlias = Ok[tuple[TaskId, ...]] | Err[TaskSendError]


@dataclass(frozen=True, slots=True)
class EnqueueTasks:
    inbox: TaskInbox
    registry: TaskRegistry
    codec: Codec
    ids: IdSource
    clock: Clock
    config: AppConfig
    gate: SendGate

    def run(self, plan: Plan, connection: object | None = None) -> SendResult:
        """On the caller's own thread."""
        if isinstance(plan, Err):
            return plan
        batch = plan.unwrap()
        try:
            return _read(batch, self.inbox.accept(batch, connection))
        except UnusableConnectionError as error:
            return _refuse(SendErrorCode.VALIDATION_FAILED, str(error))
        except BrokerError as error:
            return _unknown_outcome(batch, error, transactional=connection is not None)

    async def run_async(self, plan: Plan, connection: object | None = None) -> SendResult:
        if isinstance(plan, Err):
            return plan
        batch = plan.unwrap()
        try:
            return _read(batch, await self.inbox.accept_async(batch, connection))
        except UnusableConnectionError as error:
            return _refuse(SendErrorCode.VALIDATION_FAILED, str(error))
        except BrokerError as error:
            return _unknown_outcome(batch, error, transactional=connection is not None)

    def plan(self, definition: TaskDefinition, calls: Sequence[Call], options: SendOptions) -> Plan:
        if self.gate.closed:
            return _suppressed(definition.name)
        if options is not NO_OPTIONS and (problems := options.problems(self.config, len(calls))):
            return _refuse(
                SendErrorCode.VALIDATION_FAILED, f"task {definition.name!r}: {'; '.join(problems)}"
            )
        common = self._common_fields(definition, options)
        tasks: list[NewTask] = []
        for number, call in enumerate(calls):
            try:
                payload = definition.codec.encode_call(call.args, call.kwargs)
            except UnfitValueError as error:
                which = f", call {number} of {len(calls)}" if len(calls) > 1 else ""
                return _refuse(
                    SendErrorCode.VALIDATION_FAILED, f"task {definition.name!r}{which}: {error}"
                )
            if len(payload) > self.config.payload_limit_bytes:
                return _refuse(
                    SendErrorCode.PAYLOAD_TOO_LARGE,
                    f"task {definition.name!r}: the arguments take {len(payload)} bytes, "
                    f"of at most {self.config.payload_limit_bytes} (payload_limit_bytes); "
                    "store large data elsewhere and send a reference to it",
                )
            tasks.append(NewTask(id=self.ids.task_id(), payload=payload, **common))
        if options.idempotency_key is not None:
            tasks = [self._with_key(task, options.idempotency_key) for task in tasks]
        return Ok(self._batch(tasks))

    def plan_replay(self, error: TaskSendError, connection: object | None = None) -> Plan:
        """The same ids and payloads once more: never a second task."""
        if self.gate.closed:
            return _suppressed(error.tasks[0].name if error.tasks else "")
        retention = self.config.recovery.terminal_record_retention
        now = self.clock.now()
        if any(replay_too_old(task, now, retention) for task in error.tasks):
            return _refuse(
                SendErrorCode.REPLAY_TOO_OLD,
                "the first copy may have been purged and could not be recognised: "
                "look up what became of it, then send anew",
                error.tasks,
            )
        if not error.tasks:
            return _refuse(
                SendErrorCode.VALIDATION_FAILED,
                f"this send was refused ({error.code}) before it reached the queue: "
                "mend it and send it anew",
            )
        if error.transactional and connection is None:
            return _refuse(
                SendErrorCode.VALIDATION_FAILED,
                "this send was part of a transaction of yours, and would now happen without it: "
                "repeat the transaction, with with_options(connection=...).retry_send(error) in it",
                error.tasks,
            )
        return Ok(replace(self._batch(error.tasks), replay=True))

    def _common_fields(self, definition: TaskDefinition, options: SendOptions) -> dict[str, Any]:
        terms = self._terms(definition, options)
        fields = {"name": definition.name, "queue": definition.queue, "terms": terms}
        if options is NO_OPTIONS:
            return fields
        return fields | {
            "queue": options.queue or definition.queue,
            "priority": options.priority or DEFAULT_PRIORITY,
            "delay": options.delay_time,
            "eta": options.eta_utc,
            "good_until": options.good_until_utc,
        }

    def _terms(self, definition: TaskDefinition, options: SendOptions) -> Terms:
        terms = self.registry.terms_of(definition)
        if options.timeout_ms is not None:
            terms = replace(terms, timeout=timedelta(milliseconds=options.timeout_ms))
        if options.result_ttl_ms is not None:
            terms = replace(terms, result_ttl=timedelta(milliseconds=options.result_ttl_ms))
        return terms

    def _with_key(self, task: NewTask, key: str) -> NewTask:
        fingerprint = self.codec.fingerprint(task.name, task.payload)
        return replace(task, idempotency=IdempotencyKey(key, fingerprint))

    def _batch(self, tasks: Sequence[NewTask]) -> Batch:
        return Batch(
            tasks=tasks,
            max_pending=self.config.max_pending,
            key_window=self.config.idempotency_window,
        )


def _read(batch: Batch, receipts: Sequence[Receipt]) -> SendResult:
    ids: list[TaskId] = []
    for task, receipt in zip(batch.tasks, receipts, strict=True):
        if isinstance(receipt, Accepted):
            ids.append(receipt.id)
            continue
        answer = read_receipt(task, receipt)
        if isinstance(answer, Refusal):
            return _refuse(answer.code, answer.message, tuple(batch.tasks))
        ids.append(answer)
    return Ok(tuple(ids))


def _unknown_outcome(
    batch: Batch, error: BrokerError, *, transactional: bool
) -> Err[TaskSendError]:
    hint = ""
    if transactional:
        hint = "; your transaction cannot be kept: roll it back and repeat it as a whole"
    elif error.retryable:
        hint = "; retry_send(error) repeats it without ever making a second task"
    return Err(
        TaskSendError(
            SendErrorCode.ENQUEUE_FAILED,
            f"{error}{hint}",
            tuple(batch.tasks),
            fault=error.fault,
            transactional=transactional,
        )
    )


def _suppressed(name: str) -> Err[TaskSendError]:
    return _refuse(
        SendErrorCode.SEND_SUPPRESSED,
        f"task {name!r} was sent while modules are being imported or sends are suppressed; "
        "send from a function, not at the top level of a module",
    )


def _refuse(
    code: SendErrorCode, message: str, tasks: tuple[NewTask, ...] = ()
) -> Err[TaskSendError]:
    return Err(TaskSendError(code, message, tasks))
