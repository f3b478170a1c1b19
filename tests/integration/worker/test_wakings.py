"""What brings a worker to a task: news, due times, free places. Without all of them, polls."""

import pytest

from horsies import gather
from tests.integration.worker import jobs
from tests.integration.worker.scene import PATIENCE_MS, Scene

NEVER_MS = 300_000


@pytest.mark.parametrize("sent", ["before the worker", "after the worker"])
def test_a_delayed_task_starts_when_it_is_due_and_waits_for_no_poll(scene: Scene, sent: str):
    if sent == "before the worker":
        handle = jobs.pid.with_options(delay=1).send()
        scene.start("--processes", "1", POLL_MS=NEVER_MS)
    else:
        scene.start("--processes", "1", POLL_MS=NEVER_MS)
        jobs.add.send(1, 2).get(PATIENCE_MS)
        handle = jobs.pid.with_options(delay=1).send()
    assert handle.get(PATIENCE_MS).is_ok()
    info = handle.info()
    assert info.started_at >= info.enqueued_at > info.sent_at


def test_a_retry_starts_when_it_is_due_and_waits_for_no_poll(scene: Scene):
    scene.start("--processes", "1", POLL_MS=NEVER_MS)
    assert jobs.trouble_later.send().get(PATIENCE_MS).err_value.error_code == "TROUBLE"
    assert len(scene.lines("begin", "trouble_later")) == 2


def test_news_and_free_places_suffice(scene: Scene):
    scene.start("--processes", "2", POLL_MS=NEVER_MS)
    results = gather([jobs.add.send(n, n) for n in range(20)], PATIENCE_MS)
    assert [result.ok_value for result in results] == [2 * n for n in range(20)]


def test_polls_suffice_where_the_trigger_was_dropped(scene: Scene):
    scene.start("--processes", "1")
    jobs.add.send(1, 2).get(PATIENCE_MS)
    scene.rows("DROP TRIGGER horsies_announce_tasks ON horsies_tasks")
    assert jobs.add.send(3, 4).get(PATIENCE_MS).ok_value == 7
