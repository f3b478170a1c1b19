"""The application: its configuration, its tasks, and where they go."""

import sys
from uuid import UUID

import pytest

from horsies import (
    AppConfig,
    AsyncTask,
    ConfigurationError,
    DefinitionError,
    Horsies,
    SyncTask,
    Task,
    TaskError,
    TaskResult,
)


def test_an_app_needs_no_configuration():
    assert Horsies().config == AppConfig()


def test_an_app_takes_a_configuration_as_it_is():
    config = AppConfig(prefetch_buffer=3)
    assert Horsies(config).config is config


def test_an_app_takes_a_database_url_and_keeps_it_secret():
    app = Horsies("postgresql://ada:hunter2@db/shop")
    assert app.config.broker is not None
    assert "hunter2" not in repr(app.config)


def test_an_unusable_url_is_a_configuration_fault():
    with pytest.raises(ConfigurationError, match="HRS-202"):
        Horsies("mysql://ada@db/shop")


@pytest.mark.parametrize("config", [5, {"prefetch_buffer": 3}, b"postgresql://db/shop"])
def test_what_is_no_configuration_is_refused(config):
    with pytest.raises(ConfigurationError):
        Horsies(config)


@pytest.fixture
def app() -> Horsies:
    app = Horsies()

    @app.task("beta")
    async def beta() -> TaskResult[None, TaskError]:
        return TaskResult(ok=None)

    @app.task("alpha", aliases=["a"])
    def alpha() -> TaskResult[None, TaskError]:
        """Says hello."""
        return TaskResult(ok=None)

    return app


def test_the_tasks_of_an_app_are_listed_by_name(app):
    assert [task.name for task in app.tasks] == ["alpha", "beta"]


def test_apps_share_no_tasks(app):
    assert Horsies().tasks == ()


def test_a_decorated_function_still_looks_like_itself():
    app = Horsies()

    @app.task("alpha")
    def greet(name: str) -> TaskResult[str, TaskError]:
        """Says hello."""
        return TaskResult(ok=name)

    assert isinstance(greet, SyncTask)
    assert (greet.name, greet.__name__, greet.__module__) == ("alpha", "greet", __name__)
    assert (greet.__doc__, greet.__wrapped__("ada")) == ("Says hello.", TaskResult(ok="ada"))
    assert repr(greet) == "<task 'alpha'>"


def test_sync_and_async_functions_become_tasks_of_their_kind():
    app = Horsies()

    @app.task("slow")
    async def slow() -> TaskResult[None, TaskError]:
        return TaskResult(ok=None)

    assert isinstance(slow, AsyncTask)
    assert isinstance(slow, Task)


def test_without_a_database_a_send_says_that_there_is_none(no_database):
    app = Horsies()

    @app.task("job")
    def job() -> TaskResult[None, TaskError]:
        return TaskResult(ok=None)

    with pytest.raises(ConfigurationError, match="HRS-203: no database is configured"):
        job.send()
    handle = app.handle("01a1eebb-3f40-7000-8000-000000000002")
    with pytest.raises(ConfigurationError, match="HRS-203"):
        handle.get()
    with pytest.raises(ConfigurationError, match="HRS-203"):
        handle.info()


async def test_without_a_database_the_async_verbs_say_so_too(no_database):
    app = Horsies()

    @app.task("job")
    async def job() -> TaskResult[None, TaskError]:
        return TaskResult(ok=None)

    with pytest.raises(ConfigurationError, match="HRS-203"):
        await job.try_send_async()
    with pytest.raises(ConfigurationError, match="HRS-203"):
        await app.handle(UUID(int=5)).get_async()


def test_without_a_database_a_wrong_call_is_told_first(no_database):
    app = Horsies()

    @app.task("job")
    def job(x: int) -> TaskResult[None, TaskError]:
        return TaskResult(ok=None)

    assert job.try_send("one").failure().code == "VALIDATION_FAILED"  # pyright: ignore[reportArgumentType] - the fault under test


def test_a_decorator_without_a_name_is_a_fault_that_says_what_to_write():
    app = Horsies()
    with pytest.raises(DefinitionError) as caught:

        @app.task  # pyright: ignore[reportArgumentType] - the fault under test
        def job() -> TaskResult[None, TaskError]:
            return TaskResult(ok=None)

    (fault,) = caught.value.faults
    assert (fault.code, fault.help) == ("HRS-108", 'write @app.task("job")')


def test_one_former_name_may_be_given_as_a_text():
    app = Horsies()

    @app.task("job", aliases="old_job")
    def job() -> TaskResult[None, TaskError]:
        return TaskResult(ok=None)

    assert job.definition.aliases == ("old_job",)


def test_one_module_may_be_given_as_a_text(project):
    project(jobs="ran = True")
    app = Horsies()
    app.discover_tasks("jobs")
    app.load_tasks()
    assert "jobs" in sys.modules
