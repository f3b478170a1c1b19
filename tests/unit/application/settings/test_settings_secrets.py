"""Laws of secrets: whatever is done with a config, its passwords do not show."""

import copy
import json
import pickle
import pprint
from dataclasses import asdict, astuple, replace
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from horsies.application.settings import AppConfig, PostgresConfig, Secret, WorkerConfig

CANARY = "canary"
NASTY = st.text(st.sampled_from("'\"\\@%:/?#&= é→a1"))


def configs(password):
    url = f"postgresql://u:{quote(password, safe='')}@db/shop"
    broker = PostgresConfig(url, listen_url=f"{url}?sslpassword={quote(password, safe='')}")
    return [broker, AppConfig(broker=broker), WorkerConfig(dsn=url)]


@given(NASTY, NASTY)
def test_no_text_of_a_config_shows_a_password(before, after):
    for config in configs(f"{before}{CANARY}{after}"):
        texts = [
            repr(config),
            str(config),
            f"{config}",
            f"{config!r:>5}",
            pprint.pformat(config),
            repr(asdict(config)),
            repr(astuple(config)),
            repr(vars(config)),
            repr(copy.deepcopy(config)),
        ]
        assert not [text for text in texts if CANARY in text]


def test_what_is_shown_still_tells_databases_apart():
    assert "postgresql://u:***@db/shop" in repr(PostgresConfig("postgresql://u:p@db/shop"))


def test_errors_of_serialisers_do_not_show_a_password():
    config = configs(CANARY)[0]
    with pytest.raises(TypeError) as caught:
        json.dumps(asdict(config))

    assert CANARY not in str(caught.value)


def test_the_driver_gets_the_password():
    broker = PostgresConfig("postgresql+psycopg://u:p@db", listen_url="host=direct password=q")

    assert broker.dsn == "postgresql://u:p@db"
    assert broker.listen_dsn == "host=direct password=q"


def test_listening_uses_the_same_database_unless_told():
    assert PostgresConfig("postgresql://db").listen_dsn == "postgresql://db"


def test_a_secret_may_be_handed_from_one_config_to_another():
    worker = WorkerConfig(dsn="postgresql://u:p@other")
    broker = replace(PostgresConfig("postgresql://db"), database_url=worker.dsn)

    assert broker.dsn == "postgresql://u:p@other"


def test_configs_can_be_copied_pickled_compared_and_hashed():
    config = AppConfig.for_database_url(
        "postgresql://u:p@db", exception_mapper={ValueError: "BAD_VALUE"}
    )

    for twin in (copy.deepcopy(config), pickle.loads(pickle.dumps(config)), replace(config)):
        assert twin == config
        assert hash(twin) == hash(config)


def test_secrets_differ_by_what_they_hide():
    assert Secret("a") == Secret("a")
    assert Secret("a") != Secret("b")
    assert Secret("a") != "a"
    assert f"{Secret('a')}" == "***"
