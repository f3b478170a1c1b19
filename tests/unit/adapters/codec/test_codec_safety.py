"""Decoding builds what the signature names; a payload can neither import nor run anything."""

import subprocess
import sys

SPY = """
import sys
from dataclasses import dataclass
from typing import Any

import msgspec
import pydantic

from horsies.adapters.codec.msgspec_codec import MsgspecCodec
from horsies.application.ports.codec import Parameter, Signature, UnfitValueError

@dataclass
class Order:
    note: Any

class Shape(msgspec.Struct, tag=True):
    note: Any

class Model(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="allow")
    note: Any

FORBIDDEN = {"import", "exec", "compile", "open", "pickle.find_class", "os.system"}
seen = []
hostile = [
    b'{"py/object": "os.system", "py/reduce": [{"py/function": "os.system"}, ["id"]]}',
    b'{"__class__": "os.system", "__reduce__": ["os.system", "id"], "__dict__": {}}',
    b'{"$type": "System.Diagnostics.Process", "note": {"$ref": "file:///etc/passwd"}}',
    b'{"type": "__main__.Shape", "tag": "Shape", "note": "!!python/object:os.system"}',
    b'{"note": {"__init__": "eval(1)"}, "model_config": {}, "__pydantic_extra__": 1}',
]
codec = MsgspecCodec()
types = (Any, dict[str, Any], Order, Shape, Model, list[Model], str, int)
calls = [codec.compile(Signature([Parameter("x", kind, True)], kind)) for kind in types]

def spy(event, arguments):
    if watching and event in FORBIDDEN:
        seen.append((event, arguments))

watching = False
sys.addaudithook(spy)
watching = True
for call in calls:
    for value in hostile:
        for decode, payload in (
            (call.decode_call, b'{"x":%s}' % value),
            (call.decode_result, b'{"ok":%s}' % value),
            (call.decode_result, b'{"err":%s}' % value),
            (codec.decode_untyped, b'{"ok":%s}' % value),
        ):
            try:
                decode(payload)
            except UnfitValueError:
                pass
watching = False
assert not seen, seen
watching = True
import wave
watching = False
assert seen, "the spy is blind"
"""


def test_a_hostile_payload_causes_no_import_no_open_and_no_execution():
    subprocess.run([sys.executable, "-c", SPY], check=True)
