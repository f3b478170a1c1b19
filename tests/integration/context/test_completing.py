"""Tasks that are completed in a transaction of their own, in real workers."""

import pytest

from horsies import TaskStatus
from tests.integration.context import jobs
from tests.integration.context.test_context import get, lines
from tests.integration.worker.processes import until


@pytest.mark.usefixtures("worker")
class TestCompleteIn:
    def test_the_result_commits_with_the_rows_of_the_task(self, orders):
        handle = jobs.complete.send()
        assert get(handle).unwrap() == "stored"
        assert orders() == ["one"]

    def test_async_tasks_have_the_same(self, orders):
        assert get(jobs.complete_async.send()).unwrap() == "stored"
        assert orders() == ["one"]

    @pytest.mark.usefixtures("orders")
    def test_what_is_returned_afterwards_does_not_count(self):
        assert get(jobs.complete.send("return something else")).unwrap() == "stored"

    def test_an_exception_inside_undoes_both(self, orders):
        handle = jobs.complete.send("raise inside")
        assert get(handle).err_value.message == "undo it all"
        assert orders() == []

    def test_a_roll_back_leaves_the_return_to_count(self, orders):
        assert get(jobs.complete.send("roll back")).unwrap() == "returned"
        assert orders() == []

    def test_an_exception_after_the_commit_comes_too_late(self, orders, worker):
        handle = jobs.complete.send("raise")
        assert get(handle).unwrap() == "stored"
        assert orders() == ["one"]
        worker.stop()
        assert handle.info().status is TaskStatus.COMPLETED
        assert "came too late" not in worker.words

    @pytest.mark.usefixtures("orders")
    def test_who_waits_is_woken_by_the_commit(self, tmp_path, worker):
        ready = tmp_path / "ready"
        handle = jobs.complete.send("go on", str(ready))
        assert get(handle).unwrap() == "stored"
        ready.touch()
        worker.stop()
        assert get(handle).unwrap() == "stored"

    def test_lost_ownership_undoes_the_transaction(self, orders, worker):
        handle = jobs.lose.send()
        until(lambda: "came too late" in worker.words, "the late result has been discarded")
        assert orders() == []
        assert handle.info().status is TaskStatus.RUNNING

    def test_an_uncommitted_transaction_fails_the_task(self, orders):
        error = get(jobs.forget_to_commit.send()).err_value
        assert "returned with that transaction still open" in error.message
        assert orders() == []


@pytest.mark.usefixtures("child_worker")
class TestDeaths:
    @pytest.mark.parametrize("name", ["complete", "complete_and_die"])
    def test_a_death_right_after_the_commit_changes_nothing(self, orders, witness, name):
        task = getattr(jobs, name)
        handle = task.send("die") if name == "complete" else task.send()
        assert get(handle).unwrap() == "stored"
        get(jobs.identify.send()).unwrap()  # by the child that has come after it
        info = handle.info()
        assert (info.status, info.attempt, info.crashes) == (TaskStatus.COMPLETED, 1, 0)
        assert (orders(), lines(witness).count("committed")) == (["one"], 1)


@pytest.mark.parametrize(
    "ending", [("commit", None, ["one"]), ("rollback", "UNHANDLED_EXCEPTION", [])], ids=["c", "r"]
)
def test_while_a_transaction_stays_open_its_owner_decides(child_worker, orders, tmp_path, ending):
    how, code, rows = ending
    end = tmp_path / "end"
    left_open = jobs.keep_open.send(how, str(end))
    until(lambda: "a row is held by someone else" in child_worker.words, "the result has to wait")
    end.touch()
    result = get(left_open)
    assert (result.err_value.error_code if result.is_err() else None) == code
    assert orders() == rows


def test_others_do_not_wait_for_a_row_that_is_held(child_worker, orders, tmp_path):
    left_open = jobs.keep_open.send("commit", str(tmp_path / "never"))
    until(lambda: "a row is held by someone else" in child_worker.words, "the result has to wait")
    assert [get(jobs.identify.send()).is_ok() for _ in range(3)] == [True] * 3
    assert left_open.info().status is TaskStatus.RUNNING
    assert child_worker.stop() == 0
    assert "transaction still open" in get(left_open).err_value.message
    assert orders() == []
