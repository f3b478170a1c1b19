"""RELIABILITY 3: one row that cannot be written holds up nobody else."""

import psycopg

from tests.integration.worker import jobs
from tests.integration.worker.scene import PATIENCE_MS, Scene, happens


def test_a_row_that_somebody_holds_does_not_keep_its_worker_from_claiming(scene: Scene):
    path = scene.file("ends")
    scene.start("--processes", "2")
    held, free = jobs.block.send(path, "held"), jobs.block.send(path, "free")
    scene.until_begun("held")
    scene.until_begun("free")
    with psycopg.connect(scene.dsn) as holder:
        holder.execute("SELECT FROM horsies_tasks WHERE id = %s FOR UPDATE", [held.task_id])
        happens(path)
        assert free.get(PATIENCE_MS).ok_value == "unblocked"
        assert jobs.add.send(1, 2).get(PATIENCE_MS).ok_value == 3
    assert held.get(PATIENCE_MS).ok_value == "unblocked"
