"""Ids tell when they were made, and handlers' ids can be derived again."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
import uuid_utils
from hypothesis import given
from hypothesis import strategies as st

from horsies.domain.ids import TaskId, failure_handler_id, minted_at
from tests.unit.domain.strategies import MILLISECOND, TASK_ID, instants, uuid7_at

ids = st.uuids().map(TaskId)
epochs = st.integers(0, 2**31)


@given(instants)
def test_an_id_tells_its_minting_time_to_the_millisecond(instant: datetime):
    minted = minted_at(uuid7_at(instant))
    assert minted is not None
    assert timedelta(0) <= instant - minted < MILLISECOND


def test_an_id_minted_now_tells_the_time_of_now():
    before = datetime.now(UTC)
    minted = minted_at(TaskId(UUID(int=uuid_utils.uuid7().int)))
    assert minted is not None
    assert before - MILLISECOND <= minted <= datetime.now(UTC) + MILLISECOND


def test_a_minting_time_is_in_utc():
    minted = minted_at(uuid7_at(datetime(2026, 7, 1, tzinfo=UTC)))
    assert minted is not None
    assert minted.tzinfo is UTC


@pytest.mark.parametrize("version", [1, 3, 4, 5])
@given(data=st.data())
def test_other_versions_tell_no_time(version, data):
    assert minted_at(TaskId(data.draw(st.uuids(version=version)))) is None


@given(ids, epochs)
def test_the_id_of_a_handler_can_be_derived_again(failed, epoch):
    assert failure_handler_id(failed, epoch) == failure_handler_id(failed, epoch)


@given(ids, epochs, epochs)
def test_every_epoch_has_its_own_handler(failed, one, other):
    same = failure_handler_id(failed, one) == failure_handler_id(failed, other)
    assert same == (one == other)


@given(ids, ids, epochs)
def test_every_task_has_its_own_handler(one, other, epoch):
    assert (failure_handler_id(one, epoch) == failure_handler_id(other, epoch)) == (one == other)


def test_the_derivation_of_a_handlers_id_never_changes():
    """Old and new workers live together during a deploy; both must derive the same id."""
    assert failure_handler_id(TASK_ID, 1) == UUID("f6334910-7056-5c71-ae85-67061a8c8d13")
