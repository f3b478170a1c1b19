"""Modules that cannot be imported: told with their own line, and hiding nothing else."""

import importlib
from textwrap import dedent

import pytest

from horsies import DefinitionError, Horsies
from horsies.entrypoints.locator import load_app

HEADER = "from horsies import Horsies, RetryPolicy, TaskError, TaskResult\n"


def places(error):
    return [(fault.location.file, fault.location.line, fault.code) for fault in error.faults]


def unimportable(project, text):
    project(jobs=text)
    app = Horsies()
    app.discover_tasks(["jobs"])
    with app.testing(), pytest.raises(DefinitionError) as caught:
        app.load_tasks()
    (fault,) = caught.value.faults
    assert fault.code == "HRS-302"
    return fault


def test_a_module_that_fails_inside_a_library_is_shown_at_its_own_line(project):
    fault = unimportable(project, "import json\njson.loads('{')\n")
    assert (fault.location.file, fault.location.line) == ("jobs.py", 2)


def test_a_module_that_is_no_python_is_shown_at_its_own_line(project):
    fault = unimportable(project, "x = 1\ny = = 2\n")
    assert "SyntaxError" in fault.message
    assert (fault.location.file, fault.location.line) == ("jobs.py", 2)


def test_a_module_that_leaves_the_process_is_reported(project):
    fault = unimportable(project, "import sys\nsys.exit('bye')\n")
    assert fault.message == "module 'jobs' cannot be imported: SystemExit: bye"


def test_a_module_that_sends_while_it_is_imported_is_shown_at_its_own_line(project):
    text = f"""
        {HEADER.strip()}
        app = Horsies()

        @app.task("job")
        def job() -> TaskResult[None, TaskError]:
            return TaskResult(ok=None)

        with app.testing():
            app.suppress_sends(True)
            job.send()
    """
    fault = unimportable(project, dedent(text))
    assert "SEND_SUPPRESSED" in fault.message
    assert (fault.location.file, fault.location.source) == ("jobs.py", "    job.send()")


def test_sends_of_a_module_being_imported_are_suppressed_and_open_again_afterwards(project):
    project(
        shop="""
            from horsies import Horsies, TaskError, TaskResult

            app = Horsies()
            app.discover_tasks(["jobs"])

            @app.task("ping")
            def ping() -> TaskResult[None, TaskError]:
                return TaskResult(ok=None)
        """,
        jobs="""
            from shop import ping

            refused = ping.try_send().failure()
        """,
    )
    app = importlib.import_module("shop").app
    with app.testing() as sandbox:
        app.load_tasks()
        assert importlib.import_module("jobs").refused.code == "SEND_SUPPRESSED"
        assert sandbox.sent() == []
        importlib.import_module("shop").ping.send()


def test_sends_of_the_app_s_modules_are_suppressed_without_a_queue_too(project):
    project(
        shop="""
            from horsies import Horsies, TaskError, TaskResult

            app = Horsies()
            app.discover_tasks(["jobs"])

            @app.task("ping")
            def ping() -> TaskResult[None, TaskError]:
                return TaskResult(ok=None)
        """,
        jobs="from shop import ping\nrefused = ping.try_send().failure()\n",
    )
    load_app("shop:app")
    assert importlib.import_module("jobs").refused.code == "SEND_SUPPRESSED"


def test_a_configuration_that_cannot_work_is_reported_with_the_rest(project):
    project(
        jobs="from horsies import AppConfig\nAppConfig(prefetch_buffer=-1)\n", more="import nowhere"
    )
    app = Horsies()
    app.discover_tasks(["jobs", "more"])
    with pytest.raises(DefinitionError) as caught:
        app.load_tasks()
    assert places(caught.value) == [("jobs.py", 2, "HRS-200"), ("more.py", 1, "HRS-302")]
