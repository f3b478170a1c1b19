"""Pydantic models, alone and inside everything else, and life without pydantic."""

import subprocess
import sys
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from pydantic import (
    AliasChoices,
    BaseModel,
    ConfigDict,
    Field,
    RootModel,
    SecretStr,
    computed_field,
    field_serializer,
    field_validator,
)
from tests.unit.adapters.codec.codec_samples import Cat, Dog, Home, Parcel, giving, taking

from horsies.application.ports.codec import MismatchError, UnfitValueError
from horsies.domain.result import TaskResult


class Aliased(BaseModel):
    first: int = Field(0, alias="One")
    second: int = Field(0, serialization_alias="Two")
    third: int = Field(0, validation_alias=AliasChoices("Three", "Drei"))


class Strict(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")
    on: date
    pair: tuple[int, int]
    amount: Decimal

    @computed_field
    @property
    def total(self) -> int:
        return sum(self.pair)


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")


class Names(RootModel[list[str]]):
    pass


class Fussy(BaseModel):
    word: str

    @field_validator("word")
    @classmethod
    def refuse(cls, word: str) -> str:
        if word.startswith("hunter"):
            raise ValueError(f"not {word}")
        if word == "broken":
            raise KeyError(word)
        return word


class Keyless(BaseModel):
    key: SecretStr


class Revealing(Keyless):
    @field_serializer("key")
    def reveal(self, key: SecretStr) -> str:
        return key.get_secret_value()


@dataclass
class Envelope:
    home: Home | None
    cats: list[Cat]


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (Cat, Cat(lives=3)),
        (Cat | None, None),
        (list[Cat], [Cat(lives=1), Cat(lives=2)]),
        (dict[str, Dog], {"rex": Dog(name="Rex")}),
        (Home, Home(pet=Dog(name="Rex"))),
        (Parcel, Parcel(Home(pet=Cat()), 2.5)),
        (Envelope, Envelope(None, [Cat()])),
        (Aliased, Aliased.model_construct(first=1, second=2, third=3)),
        (Strict, Strict(on=date(2024, 1, 1), pair=(1, 2), amount=Decimal("1.50"))),
        (Open, Open.model_validate({"extra": [1, None]})),
        (Names, Names(["a", "b"])),
    ],
)
def test_a_model_arrives_as_it_was_sent(annotation, value):
    codec = taking(value=annotation)
    assert codec.decode_call(codec.encode_call((value,), {})) == {"value": value}
    result = TaskResult(ok=value)
    assert giving(annotation).decode_result(giving(annotation).encode_result(result)) == result


def test_a_model_may_be_given_as_a_mapping():
    codec = taking(home=Home)
    payload = codec.encode_call(({"pet": {"kind": "dog", "name": "Rex"}},), {})
    assert codec.decode_call(payload) == {"home": Home(pet=Dog(name="Rex"))}


def test_a_mapping_that_is_no_model_is_a_mismatch_that_names_the_field():
    with pytest.raises(MismatchError, match=r"not a valid Dog \(field 'name' missing\)$"):
        taking(dog=Dog).encode_call(({},), {})


def test_a_model_that_was_made_without_validation_is_checked():
    with pytest.raises(MismatchError, match=r"argument 'cat': not a valid Cat \(field 'lives'"):
        taking(cat=Cat).encode_call((Cat.model_construct(lives="many"),), {})


def test_the_words_of_a_validator_are_not_repeated():
    with pytest.raises(MismatchError, match=r"\(field 'word' value_error\)$"):
        taking(x=Fussy).encode_call((Fussy.model_construct(word="hunter2"),), {})


def test_a_broken_validator_is_a_mismatch():
    with pytest.raises(MismatchError, match=r"not a valid Fussy \(KeyError\)$"):
        taking(x=Fussy).decode_call(b'{"x":{"word":"broken"}}')


def test_a_secret_is_refused_because_pydantic_masks_it():
    with pytest.raises(UnfitValueError, match=r"argument 'x', at \.key: a masked secret"):
        taking(x=Keyless).encode_call((Keyless(key=SecretStr("k")),), {})


def test_a_secret_that_its_model_reveals_travels():
    codec = taking(x=Revealing)
    value = Revealing(key=SecretStr("k"))
    assert codec.decode_call(codec.encode_call((value,), {})) == {"x": value}


@pytest.mark.parametrize("kept_as", ["null", "constants", "strings"])
@pytest.mark.parametrize("value", [float("nan"), float("-inf"), Decimal("NaN"), [float("inf")]])
def test_nan_in_a_model_is_refused_however_the_model_writes_it(kept_as, value):
    class Reading(BaseModel):
        model_config = ConfigDict(ser_json_inf_nan=kept_as)
        value: Any = None

    with pytest.raises(UnfitValueError, match=r"argument 'x', at \.value.*: NaN or infinity"):
        taking(x=Reading).encode_call((Reading(value=value),), {})


def test_a_model_that_cannot_be_dumped_is_refused():
    with pytest.raises(UnfitValueError, match="argument 'x' cannot travel: Open could not be"):
        taking(x=Open).encode_call((Open.model_validate({"odd": object()}),), {})


WITHOUT_PYDANTIC = """
import sys
sys.modules["pydantic"] = None
from dataclasses import dataclass
from horsies.adapters.codec.msgspec_codec import MsgspecCodec
from horsies.application.ports.codec import Parameter, Signature
from horsies.domain.result import TaskError, TaskResult

@dataclass
class Line:
    price: float

codec = MsgspecCodec()
assert codec.why_not(Line) is None
assert "make it a dataclass" in codec.why_not(type(codec))
call = codec.compile(Signature([Parameter("line", Line, required=True)], Line))
assert call.decode_call(call.encode_call((Line(1.5),), {})) == {"line": Line(1.5)}
assert call.decode_result(call.encode_result(TaskResult(ok=Line(2)))).unwrap() == Line(2)
codec.encode_error(TaskError("X", data=object()))
"""


def test_the_codec_works_without_pydantic():
    subprocess.run([sys.executable, "-c", WITHOUT_PYDANTIC], check=True)


def test_the_codec_never_imports_pydantic():
    code = "import sys, horsies.adapters.codec.msgspec_codec; sys.exit('pydantic' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
