"""What worker and child tell each other through the memory they share."""

import os
from collections.abc import Generator

import pytest

from horsies.adapters.execution.page import SIZE, Page, make_page


@pytest.fixture
def pages() -> Generator[tuple[Page, Page]]:
    """The worker's and the child's."""
    descriptor = make_page()
    worker, child = Page(descriptor), Page(descriptor)
    os.close(descriptor)
    yield worker, child
    worker.close()
    child.close()


def test_what_was_revoked_stays_revoked(pages):
    worker, child = pages
    worker.revoke(12)
    worker.revoke(2)
    assert child.is_revoked(12)
    assert not child.is_revoked(13)


def test_a_begin_is_seen_at_once(pages):
    worker, child = pages
    child.begin(7, 1.5)
    assert (worker.begun, worker.cpu_at_begin) == (7, 1.5)


def test_records_are_kept_until_they_are_sent(pages):
    worker, child = pages
    assert child.keep(b"one")
    assert child.keep(b"two")
    assert worker.unsent() == worker.unsent_meanwhile() == (2, b"onetwo")
    child.sent()
    assert worker.unsent() == (0, b"")


def test_what_does_not_fit_is_not_kept(pages):
    _, child = pages
    assert not child.keep(bytes(SIZE))
    assert child.unsent() == (0, b"")
