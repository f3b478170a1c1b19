"""Who is held back: those that are named, or everybody."""

from horsies.domain.suspension import EVERYBODY, Suspensions


def test_nobody_is_suspended_unless_somebody_is():
    assert not Suspensions().covers("mule")


def test_a_name_covers_itself_alone():
    suspensions = Suspensions(frozenset({"mule"}))
    assert suspensions.covers("mule")
    assert not suspensions.covers("donkey")
    assert not suspensions.everybody


def test_everybody_covers_every_name():
    suspensions = Suspensions(frozenset({EVERYBODY, "mule"}))
    assert suspensions.covers("donkey")
    assert suspensions.by_name == {"mule"}
