"""Tasks in modules: reloaded, copied, and annotated by texts."""

import importlib

import pytest

from horsies import DefinitionError
from horsies.entrypoints.locator import load_app

REDEFINED = """
    from shop import app
    from horsies import TaskError, TaskResult


    @app.task("job", aliases=["old_job"])
    def job(x: int) -> TaskResult[int, TaskError]:
        return TaskResult(ok=x)
"""


def test_a_reloaded_module_defines_the_same_tasks_again(project):
    project(shop="from horsies import Horsies\napp = Horsies()\n", jobs=REDEFINED)
    jobs = importlib.import_module("jobs")
    importlib.reload(jobs)
    app = load_app("shop:app")
    assert [task.name for task in app.tasks] == ["job"]
    with app.testing():
        assert jobs.job.send(1).get().unwrap() == 1


def test_another_module_with_the_same_lines_is_another_task(project):
    project(shop="from horsies import Horsies\napp = Horsies()\n", jobs=REDEFINED, copied=REDEFINED)
    importlib.import_module("jobs")
    with pytest.raises(DefinitionError, match="HRS-300"):
        importlib.import_module("copied")


def test_local_types_are_found_although_annotations_are_texts(project):
    project(
        jobs="""
            from __future__ import annotations
            from dataclasses import dataclass
            from horsies import Horsies, TaskError, TaskResult

            def build():
                app = Horsies()

                @dataclass
                class Point:
                    x: int

                @app.task("shift")
                def shift(point: Point) -> TaskResult[Point, TaskError]:
                    return TaskResult(ok=Point(point.x + 1))

                return app, shift, Point
        """
    )
    app, shift, point = importlib.import_module("jobs").build()
    with app.testing():
        assert shift.send(point(1)).get().unwrap() == point(2)


def test_a_type_for_type_checkers_only_is_a_fault_that_says_so(project):
    project(
        jobs="""
            from __future__ import annotations
            from typing import TYPE_CHECKING
            from horsies import Horsies, TaskError, TaskResult

            if TYPE_CHECKING:
                from decimal import Decimal

            app = Horsies()

            @app.task("pay")
            def pay(amount: Decimal) -> TaskResult[None, TaskError]:
                return TaskResult(ok=None)
        """
    )
    with pytest.raises(DefinitionError) as caught:
        importlib.import_module("jobs")
    (fault,) = caught.value.faults
    assert fault.code == "HRS-103"
    assert "TYPE_CHECKING" in fault.help
