"""What must never break, whatever workers, zombies, cancels and reapers do to one another."""

from collections import Counter
from dataclasses import dataclass
from datetime import timedelta

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from horsies.application.ports.executor import RunReport
from horsies.application.usecases.claim_tasks import start_tasks
from horsies.domain.ids import TaskId
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
from horsies.domain.retry import RetryPolicy
from horsies.domain.task import FailureHandler, Task, Terms
from horsies.domain.task_lifecycle import TaskStatus
from horsies.entrypoints.bridge import drive
from tests.contract.conftest import LEASE
from tests.unit.application.usecases.bench import bench as new_bench

POLICIES = [
    None,
    RetryPolicy.fixed([1, 30], auto_retry_for=["BOOM"]),
    RetryPolicy.fixed([0] * 5, auto_retry_for=["WORKER_CRASHED", "BOOM"]),
]
OUTCOMES = [
    Succeeded(),
    Errored("BOOM"),
    Errored("OTHER"),
    Crashed(),
    ShutDown(),
    Interrupted(),
    Unbegun(),
    Unresolved("WORKER_RESOLUTION_ERROR"),
]
HANDLER = FailureHandler(name="clean_up", queue="handlers")

pick = st.integers(0, 10**6)


@dataclass
class Story:
    """What a law must remember of a task."""

    last: Task
    starts: int = 0
    free: int = 0  # runs that ended without costing a retry
    cancelled: bool = False


class LifeOfTasks(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.bench = new_bench()
        self.workers = [self.bench.new_worker() for _ in range(2)]
        self.stories: dict[TaskId, Story] = {}
        self.held: list[Task] = []  # also by zombies: nobody forgets a claim
        self.reports: list[RunReport] = []

    @rule(policy=st.sampled_from(POLICIES), watched=st.booleans(), seconds=st.integers(0, 90))
    def send(self, policy: RetryPolicy | None, watched: bool, seconds: int) -> None:  # noqa: FBT001 - hypothesis draws it
        until = self.bench.now() + timedelta(seconds=seconds) if seconds else None
        terms = Terms(retry=policy, on_failure=HANDLER if watched else None)
        task_id = self.bench.send(terms=terms, good_until=until)
        self.stories[task_id] = Story(drive(self.bench.find(task_id)))

    @rule(start=st.booleans(), worker=st.integers(0, 1), limit=st.integers(1, 3))
    def claim(self, start: bool, worker: int, limit: int) -> None:  # noqa: FBT001 - hypothesis draws it
        drive(self.bench.promote())
        taken = drive(self.bench.claim(limit, worker=self.workers[worker], start=start))
        self.held += taken
        if start:
            self.note_starts(taken)

    @rule(which=pick)
    def start(self, which: int) -> None:
        if not self.held:
            return

        async def begin() -> list[Task]:
            claim = self.held[which % len(self.held)].claim
            async with self.bench.unit_of_work() as tx:
                return list((await start_tasks(tx, [claim])).started)

        started = drive(begin())
        self.held += started
        self.note_starts(started)

    @rule(which=pick, outcome=st.sampled_from(OUTCOMES))
    def report(self, which: int, outcome: Outcome) -> None:
        begun = [task for task in self.held if task.status is TaskStatus.RUNNING]
        if begun:
            task = begun[which % len(begun)]
            result = self.bench.failed() if isinstance(outcome, Errored) else None
            self.settle(RunReport(task, outcome, result))

    @rule(which=pick)
    def repeat_a_report(self, which: int) -> None:
        if self.reports:
            self.settle(self.reports[which % len(self.reports)])

    @rule(which=pick)
    def cancel(self, which: int) -> None:
        if self.stories:
            task_id = list(self.stories)[which % len(self.stories)]
            drive(self.bench.cancel(drive(self.bench.find(task_id))))
            self.stories[task_id].cancelled = True

    @rule(seconds=st.sampled_from([1, 5, 30, 61, 200, 400]))
    def let_time_pass(self, seconds: int) -> None:
        self.bench.pass_time(seconds=seconds)

    @rule(worker=st.integers(0, 1))
    def beat(self, worker: int) -> None:
        drive(self.bench.beat(self.workers[worker]))

    @rule()
    def reap(self) -> None:
        drive(self.bench.reap(self.bench.long_watch))

    def settle(self, report: RunReport) -> None:
        self.reports.append(report)
        before = drive(self.bench.find(report.task.id))
        drive(self.bench.report(report.task, report.outcome, report.result))
        after = drive(self.bench.find(report.task.id))
        if before.status is TaskStatus.RUNNING and after.status is TaskStatus.PENDING:
            self.stories[after.id].free += after.retries == before.retries

    def note_starts(self, tasks: list[Task]) -> None:
        for task in tasks:
            story = self.stories[task.id]
            assert not story.cancelled, "started after a cancel was committed"
            assert task.good_until is None or task.started_at < task.good_until
            story.starts += 1

    @invariant()
    def every_task_lives_by_the_rules(self) -> None:
        handlers = self.handlers()
        for task_id, story in self.stories.items():
            now = drive(self.bench.find(task_id))
            self.check_history(story.last, now)
            self.check_attempts(now)
            self.check_starts(story, now)
            failed = now.status is TaskStatus.FAILED and now.terms.on_failure is not None
            assert handlers[str(task_id)] == failed
            story.last = now

    def handlers(self) -> Counter[str]:
        found: Counter[str] = Counter()
        for story in self.stories.values():
            found[str(story.last.id)] += 0
        state = self.bench.unit_of_work._state
        for task in (*state.live.rows(), *state.history.rows()):
            if task.name == "clean_up":
                found.update(i for i in found if i.encode() in task.payload)
        return found

    @staticmethod
    def check_history(before: Task, now: Task) -> None:
        if before.status.is_terminal:
            assert now == before, "an ended task has changed"
        assert now.epoch in (before.epoch, before.epoch + 1)
        assert now.crashes >= before.crashes
        assert now.retries >= before.retries

    def check_attempts(self, now: Task) -> None:
        attempts = drive(self.bench.attempts(now))
        assert [attempt.number for attempt in attempts] == list(range(1, len(attempts) + 1))
        assert len({attempt.epoch for attempt in attempts}) == len(attempts)
        running = now.status is TaskStatus.RUNNING
        assert len(attempts) == now.attempt - running
        if now.status.is_terminal and now.started_at is not None:
            assert attempts[-1].error_code == now.error_code

    @staticmethod
    def check_starts(story: Story, now: Task) -> None:
        allowed = now.terms.retry.max_retries if now.terms.retry else 0
        assert now.retries <= allowed
        assert story.starts <= 1 + now.retries + story.free


LifeOfTasks.TestCase.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
TestLifeOfTasks = LifeOfTasks.TestCase


def test_the_walk_covers_a_whole_lease() -> None:
    assert timedelta(seconds=61) > LEASE
