"""Objects written by Kubernetes in JSON and in protobuf: encoding and decoding must be exact."""

import json
from pathlib import Path
from typing import Any

import pytest

from sampan.wire.protobuf import decode, encode, encode_bare

GOLDEN = Path(__file__).parents[3] / "shared" / "golden"
NAMES = sorted(path.stem for path in GOLDEN.glob("*.pb")) if GOLDEN.is_dir() else []

pytestmark = pytest.mark.skipif(not NAMES, reason="the golden objects are not beside the project")


def golden(name: str) -> tuple[dict[str, Any], bytes]:
    """Return an object's JSON form and its protobuf form."""
    return json.loads((GOLDEN / f"{name}.json").read_text()), (GOLDEN / f"{name}.pb").read_bytes()


@pytest.mark.parametrize("name", [name for name in NAMES if name != "core.v1.WatchEvent"])
def test_golden_protobuf_decodes_to_golden_json(name: str) -> None:
    obj, body = golden(name)
    assert decode(body) == obj


@pytest.mark.parametrize("name", [name for name in NAMES if name != "core.v1.WatchEvent"])
def test_golden_json_encodes_to_golden_protobuf(name: str) -> None:
    obj, body = golden(name)
    assert encode(obj) == body


def test_golden_watch_event_has_no_type() -> None:
    obj, body = golden("core.v1.WatchEvent")
    assert decode(body, "v1", "WatchEvent") == {"kind": "WatchEvent", "apiVersion": "v1", **obj}
    assert encode_bare("v1", "WatchEvent", obj) in body
