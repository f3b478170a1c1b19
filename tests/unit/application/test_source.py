"""Laws of source lines: they point at the user's code, and asking for one never raises."""

import builtins
import functools
import linecache
import os
import runpy
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from horsies.application.settings.recovery import RecoveryConfig
from horsies.application.source import SourceLine, caller, decorator_line, def_line
from horsies.domain.errors import ConfigurationError

HERE = Path(__file__)


def plain(function):
    return function


def wrapping(function):
    @functools.wraps(function)
    def wrapper():
        return function()

    return wrapper


@plain
@wrapping  # a comment: def decorated() is further down
def decorated():
    """Not run."""


@plain
async def decorated_async():
    """Not run."""


def bare():
    """Not run."""


def line_of(text):
    return HERE.read_text().splitlines().index(text) + 1


def test_the_caller_is_the_line_that_asked():
    place = caller()

    assert place is not None
    assert place.source == "    place = caller()"
    assert place.line == line_of(place.source)
    assert Path(place.file).resolve() == HERE


def test_frames_of_horsies_and_generated_constructors_are_passed_over():
    with pytest.raises(ConfigurationError) as caught:
        RecoveryConfig(check_interval_ms=0)

    place = caught.value.faults[0].location
    assert place.source == "        RecoveryConfig(check_interval_ms=0)"


def test_replacing_a_field_points_at_the_line_that_replaces():
    config = RecoveryConfig()
    with pytest.raises(ConfigurationError) as caught:
        replace(config, check_interval_ms=0)

    assert caught.value.faults[0].location.source == "        replace(config, check_interval_ms=0)"


def test_a_package_that_only_begins_like_ours_is_the_users():
    scope = {"__name__": "horsies_at_home", "caller": caller}
    exec("place = caller()", scope)

    assert scope["place"] == SourceLine("<string>", 1, "")


def test_there_may_be_no_caller_at_all(monkeypatch):
    monkeypatch.setattr("horsies.application.source._is_inside", lambda _: True)

    assert caller() is None


def test_paths_below_the_current_directory_are_shown_relative_to_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "jobs.py").write_text(
        "from horsies.application.source import caller\nplace = caller()\n"
    )

    scope = runpy.run_path(str(tmp_path / "jobs.py"))

    assert scope["place"] == SourceLine("jobs.py", 2, "place = caller()")


def test_paths_elsewhere_are_shown_in_full(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    assert def_line(bare).file == str(HERE)


@pytest.mark.skipif(sys.platform == "win32", reason="a current directory cannot be removed there")
def test_a_current_directory_that_is_gone_does_no_harm(tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    os.rmdir(gone)  # noqa: PTH106 - pathlib would do the same

    assert def_line(bare).source == "def bare():"


def test_a_decorated_function_is_found_by_its_first_decorator_and_by_its_def():
    first, definition = decorator_line(decorated), def_line(decorated)

    assert first.source == "@plain"
    assert definition.source == "def decorated():"
    assert definition.line == first.line + 2


def test_the_def_of_an_async_function_is_found():
    assert def_line(decorated_async).source == "async def decorated_async():"


def test_without_decorators_both_are_the_def():
    assert decorator_line(bare) == def_line(bare)


def test_a_lambda_is_found_by_its_own_line():
    function = lambda: None  # noqa: E731 - the law is about lambdas

    assert def_line(function).source.strip().startswith("function = lambda")


@pytest.mark.parametrize("thing", [len, builtins.print, str, 3, None, functools.partial(plain)])
def test_what_has_no_source_has_no_line(thing):
    assert decorator_line(thing) is None
    assert def_line(thing) is None


def test_wrappers_that_form_a_circle_have_no_line():
    def circular():
        """Not run."""

    circular.__wrapped__ = circular

    assert def_line(circular) is None


def test_an_object_that_raises_when_looked_at_has_no_line():
    class Hostile:
        def __getattr__(self, name):
            raise RuntimeError(name)

    assert def_line(Hostile()) is None


def test_an_executed_function_has_a_place_without_text():
    scope = {}
    exec("def f(): pass", scope)

    assert def_line(scope["f"]) == SourceLine("<string>", 1, "")
    assert decorator_line(scope["f"]) == SourceLine("<string>", 1, "")


def test_an_import_hook_that_raises_costs_the_text_alone(monkeypatch):
    def broken(_file, _number):
        raise RuntimeError

    monkeypatch.setattr(linecache, "getline", broken)

    assert def_line(bare).source == ""
