"""The pytest plugin: a fixture away from a tested task."""

from textwrap import dedent

import pytest

pytest_plugins = ["pytester"]

QUIET = ("-o", "asyncio_default_fixture_loop_scope=function")  # pytest-asyncio warns otherwise

SHOP = """
    from horsies import Horsies, TaskError, TaskResult

    app = Horsies()
    app.discover_tasks(["shop_jobs"])


    @app.task("welcome")
    def welcome(email: str) -> TaskResult[str, TaskError]:
        return TaskResult(ok=f"hello {email}")
"""

JOBS = """
    from horsies import TaskError, TaskResult
    from shop import app


    @app.task("goodbye")
    def goodbye() -> TaskResult[None, TaskError]:
        return TaskResult(ok=None)
"""


@pytest.fixture
def shop(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makepyfile(shop=dedent(SHOP), shop_jobs=dedent(JOBS))
    pytester.syspathinsert()
    return pytester


def run(pytester: pytest.Pytester, tests: str) -> pytest.RunResult:
    pytester.makepyfile(dedent(tests))
    return pytester.runpytest("-p", "no:cacheprovider", *QUIET)


def configure(pytester: pytest.Pytester, locator: str = "shop:app") -> None:
    pytester.makeini(f"[pytest]\nhorsies_app = {locator}\n")


def test_the_app_named_in_the_configuration_is_under_test(shop):
    configure(shop)
    result = run(
        shop,
        """
        from shop import welcome

        def test_a_send(horsies):
            handle = welcome.send("ada")
            horsies.assert_sent(welcome, email="ada")
            assert handle.get().unwrap() == "hello ada"
        """,
    )
    result.assert_outcomes(passed=1)


def test_each_test_has_a_queue_of_its_own(shop):
    configure(shop)
    result = run(
        shop,
        """
        from shop import welcome

        def test_one(horsies):
            welcome.send("ada")

        def test_two(horsies):
            horsies.assert_not_sent(welcome)
            assert horsies.drain() == 0
        """,
    )
    result.assert_outcomes(passed=2)


def test_its_task_modules_are_loaded(shop):
    configure(shop)
    result = run(
        shop,
        """
        def test_tasks(horsies_app):
            assert [task.name for task in horsies_app.tasks] == ["goodbye", "welcome"]
        """,
    )
    result.assert_outcomes(passed=1)


def test_the_fixture_may_be_overridden(shop):
    result = run(
        shop,
        """
        import pytest
        from shop import app, welcome

        @pytest.fixture
        def horsies_app():
            return app

        def test_a_send(horsies):
            assert welcome.send("ada").get().is_ok()
        """,
    )
    result.assert_outcomes(passed=1)


def test_async_tests_work_with_the_same_fixture(shop):
    configure(shop)
    result = run(
        shop,
        """
        import asyncio
        from shop import welcome

        def test_a_send(horsies):
            async def scenario():
                return await (await welcome.send_async("ada")).get_async()
            assert asyncio.run(scenario()).is_ok()
        """,
    )
    result.assert_outcomes(passed=1)


def test_without_an_app_the_error_says_what_to_do(shop):
    result = run(shop, "def test_a_send(horsies): ...")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        ['*which app? Set horsies_app = "package.module:app" in the pytest configuration*']
    )


def test_a_locator_that_leads_nowhere_is_explained(shop):
    configure(shop, "shop:queue")
    result = run(shop, "def test_a_send(horsies): ...")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*HRS-303*module 'shop' has no 'queue'*"])


def test_a_project_that_does_not_use_it_pays_nothing(pytester):
    pytester.makepyfile(
        """
        import sys

        def test_nothing_is_loaded():
            assert "horsies.entrypoints.testing.sandbox" not in sys.modules
        """
    )
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    result.assert_outcomes(passed=1)


def test_the_option_is_explained_in_the_help(pytester):
    result = pytester.runpytest("--help", *QUIET)
    result.stdout.fnmatch_lines(["*horsies_app*Horsies app under test*"])
