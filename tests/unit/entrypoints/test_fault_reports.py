"""What a user reads when a project cannot work: everything at once, each with its place."""

import importlib

import pytest

from horsies import DefinitionError, FaultsError
from horsies.entrypoints.locator import load_app
from tests.faulty_project import APP, EMAILS, REPORTS

SHOP = """
    from horsies import Horsies, RetryPolicy, TaskError, TaskResult

    app = Horsies()


    @app.task("send_invoice")
    def send_invoice(order_id: int) -> TaskResult[None, TaskError]:
        return TaskResult(ok=None)


    @app.task(
        "send_invoice",
        queue="invoices",
        retry_policy=RetryPolicy.fixed([]),
    )
    def resend_invoice(order_id: int):
        return TaskResult(ok=None)
"""

REPORT = """\
error[HRS-111]: there is no queue 'invoices'
  --> shop.py:13
   |
13 |     queue="invoices",
   |
   = help: pass queue= with one of 'default', or add the queue to AppConfig.custom_queues

error[HRS-106]: the retry policy makes no sense: it needs 1 to 20 delays, not 0
  --> shop.py:14
   |
14 |     retry_policy=RetryPolicy.fixed([]),
   |
   = help: see RetryPolicy.fixed([1, 5, 25]) and RetryPolicy.exponential(2, max_retries=5)

error[HRS-100]: the task does not say what it returns
  --> shop.py:16
   |
16 | def resend_invoice(order_id: int):
   |
   = help: annotate it with -> TaskResult[..., TaskError]

error[HRS-300]: the task name 'send_invoice' is taken
  --> shop.py:16
   |
16 | def resend_invoice(order_id: int):
   |
   = note: first defined at shop.py:7
   = help: give one of the two another name; tasks are found by name wherever they run

4 faults found"""


def test_one_definition_with_four_faults_reports_all_four(project):
    project(shop=SHOP)
    with pytest.raises(DefinitionError) as caught:
        importlib.import_module("shop")
    assert str(caught.value) == f"HRS-111: there is no queue 'invoices'\n\n{REPORT}"


def test_a_report_is_a_value_error_and_lists_its_faults(project):
    project(shop=SHOP)
    with pytest.raises(ValueError) as caught:
        importlib.import_module("shop")
    assert isinstance(caught.value, FaultsError)
    codes = [fault.code for fault in caught.value.faults]
    assert codes == ["HRS-111", "HRS-106", "HRS-100", "HRS-300"]


@pytest.fixture
def loaded(project):
    project(shop=APP, emails=EMAILS, reports=REPORTS)
    with pytest.raises(DefinitionError) as caught:
        load_app("shop:app")
    return importlib.import_module("shop").app, caught.value


def places(error):
    return [(fault.location.file, fault.location.line, fault.code) for fault in error.faults]


def test_faulty_definitions_in_several_modules_are_all_reported(loaded):
    _, error = loaded
    assert places(error) == [
        ("emails.py", 6, "HRS-102"),
        ("emails.py", 10, "HRS-107"),
        ("reports.py", 6, "HRS-301"),
        ("reports.py", 11, "HRS-101"),
        ("reports.py", 11, "HRS-300"),
    ]


def test_what_is_faultless_is_registered_all_the_same(loaded):
    app, _ = loaded
    assert [task.name for task in app.tasks] == ["fine", "yearly"]


def test_a_faulty_task_of_a_loaded_module_cannot_be_used(loaded):
    app, _ = loaded
    emails = importlib.import_module("emails")
    with app.testing():
        with pytest.raises(DefinitionError, match="HRS-102"):
            emails.welcome.send("ada@example.com")
        with pytest.raises(DefinitionError, match="HRS-102"):
            emails.welcome("ada@example.com")


def test_all_faulty_definitions_of_the_app_s_own_module_are_reported(project):
    project(
        shop="""
            from horsies import Horsies

            app = Horsies()


            @app.task("a")
            def a(): ...


            @app.task("b")
            def b(): ...
        """
    )
    with pytest.raises(DefinitionError) as caught:
        load_app("shop:app")
    assert places(caught.value) == [("shop.py", 7, "HRS-100"), ("shop.py", 11, "HRS-100")]


def test_a_module_that_cannot_be_imported_hides_no_other(project):
    project(shop=APP, emails="import nowhere_to_be_found", reports=REPORTS)
    with pytest.raises(DefinitionError) as caught:
        load_app("shop:app")
    assert [str(fault.code) for fault in caught.value.faults] == [
        "HRS-302",
        "HRS-301",
        "HRS-101",
    ]
    unimportable = caught.value.faults[0]
    assert unimportable.message == (
        "module 'emails' cannot be imported: "
        "ModuleNotFoundError: No module named 'nowhere_to_be_found'"
    )
    assert (unimportable.location.file, unimportable.location.line) == ("emails.py", 1)
    assert unimportable.location.source == "import nowhere_to_be_found"


def test_asking_again_reports_again(loaded):
    app, first = loaded
    with pytest.raises(DefinitionError) as caught:
        app.load_tasks()
    assert places(caught.value) == places(first)


def reported(project, **modules):
    project(shop="from horsies import Horsies\napp = Horsies()\n", **modules)
    app = load_app("shop:app")
    app.discover_tasks(modules)
    with pytest.raises(DefinitionError) as caught:
        app.load_tasks()
    return places(caught.value)


FAULTY = """
    from shop import app


    @app.task("job")
    def job(): ...
"""


def test_faulty_definitions_of_one_name_are_all_reported(project):
    assert reported(project, one=FAULTY, two=FAULTY) == [
        ("one.py", 5, "HRS-100"),
        ("two.py", 5, "HRS-100"),
    ]


def test_a_good_definition_does_not_hide_a_faulty_one_of_its_name(project):
    good = """
        from horsies import TaskError, TaskResult
        from shop import app


        @app.task("job")
        def job() -> TaskResult[None, TaskError]:
            return TaskResult(ok=None)
    """
    assert ("one.py", 5, "HRS-100") in reported(project, one=FAULTY, two=good)


def test_a_mended_definition_is_no_longer_reported(project):
    project(shop="from horsies import Horsies\napp = Horsies()\n", one=FAULTY)
    app = load_app("shop:app")
    app.discover_tasks(["one"])
    with pytest.raises(DefinitionError):
        app.load_tasks()
    mended = """
        from horsies import TaskError, TaskResult
        from shop import app
        @app.task("job")
        def job() -> TaskResult[None, TaskError]: return TaskResult(ok=None)
    """
    project(one=mended)
    importlib.invalidate_caches()
    importlib.reload(importlib.import_module("one"))
    app.load_tasks()
