"""Finding modules and apps by name."""

import sys
from pathlib import Path

import pytest

from horsies import DefinitionError, Horsies
from horsies.entrypoints.locator import load_app

JOBS = """
    from horsies import TaskError, TaskResult
    from shop import app, note

    note("jobs")


    @app.task("job")
    def job() -> TaskResult[None, TaskError]:
        return TaskResult(ok=None)
"""

SHOP = """
    from horsies import Horsies

    app = Horsies()
    imported = []
    note = imported.append
"""


def names(app: Horsies) -> list[str]:
    return [task.name for task in app.tasks]


def test_a_dotted_path_is_imported(project):
    project(shop=SHOP, jobs=JOBS)
    app = load_app("shop:app")
    app.discover_tasks(["jobs"])
    app.load_tasks()
    assert names(app) == ["job"]


def test_nothing_is_imported_before_it_is_asked_for(project):
    project(shop=SHOP, jobs=JOBS)
    app = load_app("shop:app")
    app.discover_tasks(["jobs"])
    assert "jobs" not in sys.modules


def test_discoveries_add_up_and_repeat_nothing(project):
    project(shop=SHOP, jobs=JOBS, more=JOBS.replace('"job"', '"more"').replace("job()", "more()"))
    app = load_app("shop:app")
    app.discover_tasks(["jobs"])
    app.discover_tasks(["jobs", "more"])
    app.load_tasks()
    assert names(app) == ["job", "more"]


@pytest.mark.parametrize("absolute", [True, False])
def test_a_file_below_the_path_is_the_module_of_that_name(project, absolute):
    folder = project(shop=SHOP, jobs=JOBS)
    app = load_app("shop:app")
    app.discover_tasks([str(folder / "jobs.py") if absolute else "jobs.py", "jobs"])
    app.load_tasks()
    assert sys.modules["shop"].imported == ["jobs"]


@pytest.fixture
def outside(project, tmp_path_factory) -> Path:
    """A file of tasks that is nowhere on the path."""
    folder = project(shop=SHOP, jobs=JOBS)
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "jobs.py"
    (folder / "jobs.py").rename(elsewhere)
    return elsewhere


def test_a_file_off_the_path_is_run(outside):
    app = load_app("shop:app")
    app.discover_tasks([str(outside)])
    app.load_tasks()
    assert names(app) == ["job"]


def test_a_file_is_run_once_however_often_tasks_are_loaded(outside):
    app = load_app("shop:app")
    app.discover_tasks([str(outside)])
    app.load_tasks()
    app.load_tasks()
    assert sys.modules["shop"].imported == ["jobs"]


def test_files_of_one_name_in_two_places_are_two_modules(outside, tmp_path_factory):
    other = tmp_path_factory.mktemp("other") / "jobs.py"
    other.write_text(outside.read_text().replace('"job"', '"other"').replace("job()", "other()"))
    app = load_app("shop:app")
    app.discover_tasks([str(outside), str(other)])
    app.load_tasks()
    assert names(app) == ["job", "other"]
    assert sys.modules["shop"].imported == ["jobs", "jobs"]


def test_a_file_named_like_another_module_is_that_file(project):
    folder = project(shop=SHOP, calendar=JOBS)
    import calendar  # noqa: F401, PLC0415 - the standard library's is already there

    app = load_app("shop:app")
    app.discover_tasks([str(folder / "calendar.py")])
    app.load_tasks()
    assert names(app) == ["job"]


def test_a_file_that_is_not_there_is_hrs_302():
    app = Horsies()
    app.discover_tasks(["/nowhere/jobs.py"])
    with pytest.raises(DefinitionError, match=r"HRS-302.*there is no file /nowhere/jobs\.py"):
        app.load_tasks()


def test_an_app_is_found_by_its_locator(project):
    project(shop=SHOP)
    assert isinstance(load_app("shop:app"), Horsies)


def test_an_app_is_found_in_a_file(project):
    project(shop=SHOP)
    assert load_app("shop.py:app") is load_app("shop:app")


def test_the_current_directory_is_searched(project, monkeypatch):
    folder = project(shop=SHOP)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry != str(folder)])
    assert isinstance(load_app("shop:app"), Horsies)


@pytest.mark.parametrize("locator", ["", ":", "shop", "shop:", ":app", "shop.app"])
def test_a_locator_of_another_shape_is_hrs_303(locator):
    with pytest.raises(DefinitionError, match=r"HRS-303.*has to look like package\.module:app"):
        load_app(locator)


def test_a_locator_that_names_no_attribute_is_hrs_303(project):
    project(shop=SHOP)
    with pytest.raises(DefinitionError, match=r"HRS-303.*module 'shop' has no 'queue'"):
        load_app("shop:queue")


def test_a_locator_that_leads_to_something_else_is_hrs_303(project):
    project(shop=SHOP)
    with pytest.raises(DefinitionError, match=r"HRS-303.*it is of type list, not a Horsies app"):
        load_app("shop:imported")


def test_a_locator_of_a_module_that_is_not_there_is_hrs_302():
    with pytest.raises(DefinitionError, match=r"HRS-302.*No module named 'nowhere_at_all'"):
        load_app("nowhere_at_all:app")
