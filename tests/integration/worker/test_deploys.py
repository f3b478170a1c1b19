"""A worker gives back what it does not understand, and a newer one runs it."""

import pytest

from horsies import TaskHandle
from tests.integration.worker import deploys
from tests.integration.worker.processes import until
from tests.integration.worker.scene import PATIENCE_MS, Scene

CALLS = [
    pytest.param(deploys.newcomer.send, "WORKER_RESOLUTION_ERROR", id="unknown name"),
    pytest.param(lambda: deploys.changed.send("one"), "ARGUMENT_MISMATCH", id="unfit arguments"),
]


def _given_back(handle: TaskHandle, code: str) -> bool:
    """With a delay, and without an attempt."""
    info = handle.info()
    if info.error is None:
        return False
    assert (info.status, info.error.error_code, info.attempt) == ("PENDING", code, 0)
    return info.enqueued_at > info.sent_at


def test_a_name_that_an_old_worker_does_not_know_is_left_to_new_ones(scene: Scene):
    scene.start("--processes", "1", app="deploys", RELEASE=1)
    handle = deploys.newcomer.send()
    until(lambda: _given_back(handle, "WORKER_RESOLUTION_ERROR"), "it has been given back")
    assert deploys.old.send().get(PATIENCE_MS).ok_value == 1  # the old one works on
    scene.start("--processes", "1", app="deploys", RELEASE=2)
    scene.rows("UPDATE horsies_tasks SET enqueued_at = now()")  # nobody waits for the delay here
    assert handle.get(PATIENCE_MS).ok_value == 2


def test_arguments_that_an_old_worker_cannot_read_wait_for_a_new_one(scene: Scene):
    scene.start("--processes", "1", app="deploys", RELEASE=1)
    handle = deploys.changed.send("one")
    until(lambda: _given_back(handle, "ARGUMENT_MISMATCH"), "it has been given back")
    scene.start("--processes", "1", app="deploys", RELEASE=2)
    scene.rows("UPDATE horsies_tasks SET enqueued_at = now()")
    assert handle.get(PATIENCE_MS).ok_value == 2


@pytest.mark.parametrize(("send", "code"), CALLS)
def test_what_nobody_understands_within_the_grace_has_failed(scene: Scene, send, code):
    scene.start("--processes", "1", app="deploys", RELEASE=1, UNRESOLVED_GRACE_MS=100)
    handle = send()
    assert handle.get(PATIENCE_MS).err_value.error_code == code
    assert handle.info().attempts == ()
