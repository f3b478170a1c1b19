"""Definitions: every fault has its code, its place and its help, and none hides another."""

import functools
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta

import pytest

from horsies.application.settings.app import AppConfig
from horsies.domain.codes import OperationalErrorCode
from horsies.domain.result import TaskError, TaskResult
from horsies.domain.retry import RetryPolicy
from tests.unit.application.defining import CUSTOM, Unfit, codes, defined, faults, good


def test_a_plain_function_becomes_a_task():
    task = defined(good)
    assert (task.name, task.queue, task.is_async) == ("job", "default", False)
    assert (task.retry, task.timeout, task.result_ttl, task.on_failure) == (None,) * 4
    assert task.run((1,), {"y": 4}).result == TaskResult(ok=5)


def test_a_coroutine_function_becomes_an_async_task():
    async def job() -> TaskResult[None, TaskError]:
        return TaskResult(ok=None)

    assert defined(job).is_async


def test_options_become_terms():
    task = defined(good, timeout_ms=1_500, result_ttl_ms=60_000, on_failure="clean_up")
    assert task.timeout == timedelta(seconds=1.5)
    assert task.result_ttl == timedelta(minutes=1)
    assert task.on_failure == "clean_up"


def test_a_task_s_timeout_overrides_the_app_s():
    config = AppConfig(default_timeout_ms=5)
    assert defined(good, config=config).timeout == timedelta(milliseconds=5)
    assert defined(good, config=config, timeout_ms=9).timeout == timedelta(milliseconds=9)


def test_an_idempotent_task_may_run_again_after_a_crash():
    retry = defined(good, idempotent=True).retry
    assert retry.covers(OperationalErrorCode.WORKER_CRASHED)
    assert retry.max_retries == 3


def test_an_idempotent_task_with_a_policy_keeps_it_and_lists_the_crash():
    policy = RetryPolicy.fixed([1], auto_retry_for=["BOOM"])
    retry = defined(good, idempotent=True, retry_policy=policy).retry
    assert retry.covers("BOOM")
    assert retry.covers(OperationalErrorCode.WORKER_CRASHED)
    assert retry.max_retries == 1


def test_a_policy_alone_does_not_list_the_crash():
    retry = defined(good, retry_policy=RetryPolicy.fixed([1])).retry
    assert not retry.covers(OperationalErrorCode.WORKER_CRASHED)


def test_a_custom_queue_is_found():
    assert defined(good, config=CUSTOM, queue="b").queue == "b"


class TestOptions:
    @pytest.mark.parametrize(
        "policy",
        [
            RetryPolicy.fixed([]),
            RetryPolicy.fixed([-1]),
            RetryPolicy.exponential(0),
            RetryPolicy.exponential(1, max_retries=21),
            RetryPolicy.fixed([1], auto_retry_for=[]),
            "often",
        ],
    )
    def test_a_retry_policy_that_makes_no_sense_is_hrs_106(self, policy):
        assert codes(good, retry_policy=policy) == ["HRS-106"]

    def test_every_problem_of_a_policy_is_a_fault(self):
        policy = RetryPolicy.exponential(-1, max_retries=0, auto_retry_for=[5])
        assert codes(good, retry_policy=policy) == ["HRS-106"] * 3

    @pytest.mark.parametrize("option", ["timeout_ms", "result_ttl_ms"])
    @pytest.mark.parametrize("value", [0, -1, 1.5, "1", True])
    def test_a_duration_out_of_range_is_hrs_107(self, option, value):
        (fault,) = faults(good, **{option: value})
        assert fault.code == "HRS-107"
        assert fault.message == f"{option} cannot be {value!r}"

    @pytest.mark.parametrize(
        "name", ["", " job", "a\nb", "a\0b", "x" * 256, "é" * 128, "\ud800", 5, None, ["job"]]
    )
    def test_a_name_that_cannot_be_is_hrs_108(self, name):
        assert codes(good, name) == ["HRS-108"]

    @pytest.mark.parametrize("name", ["x" * 255, "é" * 127, "a.b:c/d", "名前", "two words"])
    def test_a_name_may_be_any_text_of_255_bytes(self, name):
        assert defined(good, name).name == name

    def test_an_alias_is_checked_like_a_name(self):
        assert codes(good, aliases=["", "fine"]) == ["HRS-108"]

    @pytest.mark.parametrize("value", [1, "yes", None])
    def test_a_flag_that_is_none_is_hrs_107(self, value):
        assert codes(good, idempotent=value) == ["HRS-107"]

    @pytest.mark.parametrize(
        "mapper",
        [
            {"ValueError": "X"},
            {ValueError: ""},
            {ValueError: 5},
            {ValueError: "WORKER_CRASHED"},
            {int: "X"},
            ["X"],
        ],
    )
    def test_an_unusable_mapper_is_hrs_110(self, mapper):
        assert codes(good, exception_mapper=mapper) == ["HRS-110"]

    @pytest.mark.parametrize("code", ["", " ", 5, "TASK_NOT_FOUND"])
    def test_an_unusable_default_code_is_hrs_110(self, code):
        assert codes(good, default_unhandled_error_code=code) == ["HRS-110"]

    def test_an_unknown_queue_is_hrs_111_and_names_the_known_ones(self):
        (fault,) = faults(good, config=CUSTOM, queue="c")
        assert (fault.code, fault.message) == ("HRS-111", "there is no queue 'c'")
        assert "one of 'a', 'b'" in fault.help

    def test_a_queue_that_is_no_text_is_hrs_111(self):
        assert codes(good, queue=["a"]) == ["HRS-111"]

    def test_no_queue_among_custom_ones_is_hrs_112(self):
        (fault,) = faults(good, config=CUSTOM)
        assert fault.code == "HRS-112"
        assert fault.help == "pass queue= with one of 'a', 'b'"

    @pytest.mark.parametrize("handler", [5, "", good, object()])
    def test_an_on_failure_that_is_no_task_is_hrs_113(self, handler):
        assert codes(good, on_failure=handler) == ["HRS-113"]


def generator() -> Iterator[int]:
    yield 1


async def async_generator() -> AsyncIterator[int]:
    yield 1


class CallableThing:
    def __call__(self) -> TaskResult[int, TaskError]:
        raise NotImplementedError


class TestFunctions:
    @pytest.mark.parametrize(
        "thing",
        [
            Unfit,
            CallableThing(),
            functools.partial(good, 1),
            lambda: None,
            len,
            generator,
            async_generator,
            CallableThing().__call__,
            5,
        ],
        ids=lambda thing: type(thing).__name__,
    )
    def test_what_is_no_plain_function_is_hrs_109(self, thing):
        assert codes(thing) == ["HRS-109"]

    def test_a_wrapper_that_tells_what_it_wraps_is_accepted(self):
        @functools.wraps(good)
        def wrapper(*args, **kwargs):
            return good(*args, **kwargs)

        assert [p.name for p in defined(wrapper).signature.parameters] == ["x", "y"]

    def test_what_is_no_function_hides_no_fault_of_its_options(self):
        assert codes(generator, "", timeout_ms=0) == ["HRS-108", "HRS-107", "HRS-109"]


def test_all_faults_of_one_definition_are_found_at_once():
    def job(x, *args: int, z: Unfit):
        raise NotImplementedError

    found = codes(
        job,
        "",
        queue="nowhere",
        retry_policy=RetryPolicy.fixed([]),
        timeout_ms=0,
        exception_mapper=["X"],
        on_failure=5,
    )
    assert sorted(found) == [
        "HRS-100",
        "HRS-102",
        "HRS-104",
        "HRS-105",
        "HRS-106",
        "HRS-107",
        "HRS-108",
        "HRS-110",
        "HRS-111",
        "HRS-113",
    ]


def test_every_fault_says_where_and_what_to_do():
    def job(x):
        raise NotImplementedError

    for fault in faults(job, "", queue="nowhere"):
        assert fault.help
        assert fault.location.file.endswith("test_define_task.py")
        assert fault.location.source.strip() == "def job(x):"
