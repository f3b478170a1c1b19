"""Under a cap the end of a task makes room at once, for its own worker and for others."""

from horsies import gather
from tests.integration.worker import cap_jobs
from tests.integration.worker.scene import PATIENCE_MS, Scene


def test_a_capped_queue_is_refilled_when_a_task_ends_and_not_at_the_next_poll(scene: Scene):
    scene.start("--processes", "2", app="cap_jobs")
    results = gather(cap_jobs.capped.send_many([{} for _ in range(8)]), PATIENCE_MS)
    assert all(result.is_ok() for result in results)


def test_who_waits_for_room_hears_of_an_end_elsewhere(scene: Scene):
    for _ in range(2):
        scene.start("--processes", "2", app="cap_jobs")
    results = gather(cap_jobs.capped.send_many([{} for _ in range(8)]), PATIENCE_MS)
    assert all(result.is_ok() for result in results)
