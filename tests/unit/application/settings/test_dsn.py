"""Laws of connection strings: what libpq takes is taken, and no secret is ever shown."""

from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from horsies.application.settings.dsn import UnusableDsnError, mask_dsn, normalise_dsn

CANARY = "canary"
ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
NASTY = st.text(st.sampled_from("'\"\\@%:/?#&= ,[]\t\né→a1"))


def passwords(edges=NASTY | ANY_TEXT):
    return st.builds(lambda before, after: f"{before}{CANARY}{after}", edges, edges)


def quoted(value):
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


@pytest.mark.parametrize(
    ("given_dsn", "normalised"),
    [
        ("postgresql://db/shop", "postgresql://db/shop"),
        ("postgres://db/shop", "postgres://db/shop"),
        ("postgresql+psycopg://u:p@db/shop", "postgresql://u:p@db/shop"),
        ("postgresql://", "postgresql://"),
        ("  postgresql:///shop\n", "postgresql:///shop"),
        ("postgresql://u:p:q?r#s@db", "postgresql://u:p:q?r#s@db"),
        ("postgresql://a:1,b:2,[::1]:3,c/shop?", "postgresql://a:1,b:2,[::1]:3,c/shop?"),
        ("postgresql://%2Frun%2Fpg/shop?user=me@home&", "postgresql://%2Frun%2Fpg/shop?user=me@home&"),
        ("host=db dbname = shop", "host=db dbname = shop"),
        ("password=a\\ b\\", "password=a\\ b\\"),
        ("password='a b'host=db ", "password='a b'host=db "),
        ("password=", "password="),
    ],
)  # fmt: skip
def test_what_libpq_takes_is_taken(given_dsn, normalised):
    assert normalise_dsn(given_dsn) == normalised


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n",
        "shop",
        "mysql://u:p@db/shop",
        "postgresql+asyncpg://u:p@db/shop",
        "POSTGRESQL://db",
        "postgresql://u:p@ss@db/shop",
        "postgresql://u:1/ss@db/shop",
        "postgresql://u:p/ss@db/shop",
        "postgresql://u:50%off@db",
        "postgresql://u:%00@db",
        "postgresql://db:https/shop",
        "postgresql://db/shop?sslmode",
        "host=db password='open",
        "host=db password",
        "host=db\0",
        "host=db\ud800",
    ],
)
def test_what_cannot_be_used_is_refused_in_words_of_our_own(text):
    with pytest.raises(UnusableDsnError) as caught:
        normalise_dsn(text)

    assert "db" not in str(caught.value)
    assert mask_dsn(text) == "***"


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("postgresql://u:p@db:5432/shop", "postgresql://u:***@db:5432/shop"),
        ("postgresql+psycopg://u:p@db", "postgresql+psycopg://u:***@db"),
        ("postgresql://u@db/shop?sslmode=require", "postgresql://u@db/shop?sslmode=require"),
        ("postgresql://db?password=p&port=1", "postgresql://db?password=***&port=1"),
        ("postgresql://db?pass%77ord=p", "postgresql://db?password=***"),
        ("postgresql://db?PASSWORD=p", "postgresql://db?PASSWORD=***"),
        ("postgresql://db?something=new", "postgresql://db?***"),
        ("postgresql://u:1?x=/y@db/shop", "postgresql://***"),
        ("host=db password=p sslpassword='q r'", "host=db password=*** sslpassword=***"),
        ("password = ' x' host=db", "password=*** host=db"),
        ("host=db password=p rest=q", "host=db password=*** ***"),
    ],
)
def test_masks_keep_what_helps_and_hide_the_rest(text, masked):
    assert mask_dsn(text) == masked


@given(passwords())
def test_an_encoded_password_is_accepted_and_hidden(password):
    for text in (
        f"postgresql://u:{quote(password, safe='')}@db/shop",
        f"postgresql://db/shop?password={quote(password, safe='')}&sslpassword={CANARY}",
        f"host=db password={quoted(password)} sslpassword = {quoted(password)} user=u",
    ):
        assert normalise_dsn(text) == text
        assert CANARY not in mask_dsn(text)
        assert "db" in mask_dsn(text)


@given(passwords())
def test_a_password_that_nobody_encoded_is_hidden_all_the_same(password):
    assert CANARY not in mask_dsn(f"postgresql://u:{password}@db/shop")


@given(passwords(NASTY))  # other text might happen to say ` host=`
def test_a_password_that_nobody_quoted_is_hidden_all_the_same(password):
    assert CANARY not in mask_dsn(f"host=db password={password} user=u")
    assert CANARY not in mask_dsn(f"host=db password='{password}' user=u")


@given(ANY_TEXT)
def test_masking_never_raises(text):
    mask_dsn(text)
    mask_dsn(f"postgresql://{text}")
