"""Protobuf form of objects: the envelope, the JSON form, malformed bodies."""

import struct
from typing import Any

import pytest

from sampan.wire.json import DecodeError, EncodeError
from sampan.wire.protobuf import decode, encode, encode_bare, encode_watch_event, envelope, supports
from sampan.wire.protobuf.decode_budget import LEVELS_MAX
from sampan.wire.protobuf.varint import read_varint, write_varint

POD: dict[str, Any] = {
    "kind": "Pod",
    "apiVersion": "v1",
    "metadata": {"name": "p", "labels": {"b": "2", "a": "1"}},
    "spec": {
        "volumes": [{"name": "v", "emptyDir": {}}],
        "containers": [{"name": "c", "image": "i", "resources": {"limits": {"cpu": "1"}}, "tty": True}],
        "terminationGracePeriodSeconds": 0,
    },
    "status": {},
}


def pod_with(raw: bytes) -> Any:
    """Decode a message as a Pod."""
    return decode(envelope("v1", "Pod", raw))


def test_the_envelope_names_the_type() -> None:
    assert encode(POD).startswith(b"k8s\x00\x0a\x09\x0a\x02v1\x12\x03Pod\x12")
    assert encode(POD).endswith(b"\x1a\x00\x22\x00")


def test_object_round_trips() -> None:
    assert decode(encode(POD)) == POD


def test_kind_and_api_version_are_the_first_members() -> None:
    assert list(decode(encode(POD)))[:2] == ["kind", "apiVersion"]


def test_default_type_applies_to_bodies_without_a_type() -> None:
    assert decode(envelope("", "", encode_bare("v1", "Pod", POD)), "v1", "Pod") == POD


@pytest.mark.parametrize("api_version", ["v1", "apps/v1", "policy/v1"])
def test_options_belong_to_every_group(api_version: str) -> None:
    options = {"kind": "DeleteOptions", "apiVersion": api_version, "gracePeriodSeconds": 0}
    assert decode(encode(options)) == options


@pytest.mark.parametrize(("api_version", "kind"), [("example.com/v1", "Widget"), ("v1", "Widget"), ("apps/v1", "Pod")])
def test_other_kinds_have_no_protobuf_form(api_version: str, kind: str) -> None:
    assert not supports(api_version, kind)
    with pytest.raises(EncodeError, match="does not implement"):
        encode({"apiVersion": api_version, "kind": kind})
    with pytest.raises(DecodeError, match=f'no kind "{kind}" is registered for version "{api_version}"'):
        decode(envelope(api_version, kind, b""))


@pytest.mark.parametrize(
    ("member", "form"),
    [
        ({"limits": {"cpu": "1"}}, b"\x0a\x0a\x0a\x03cpu\x12\x03\x0a\x011"),
        ({}, b""),
        (None, b""),
    ],
    ids=["some", "empty", "null"],
)
def test_structs_are_written_even_if_absent(member: Any, form: bytes) -> None:
    expected = b"\x0a\x01c\x12\x00\x2a\x00\x42" + bytes((len(form),)) + form
    assert encode_bare("v1", "Pod", {"spec": {"containers": [{"name": "c", "resources": member}]}}).find(expected) > 0


def test_null_member_equals_an_absent_one() -> None:
    assert encode({**POD, "status": None}) == encode(POD)


def test_unknown_members_are_ignored() -> None:
    assert encode({**POD, "colour": "red"}) == encode(POD)


def test_maps_are_written_in_key_order() -> None:
    body = encode(POD)
    assert body.index(b"\x0a\x01a\x12\x011") < body.index(b"\x0a\x01b\x12\x012")


def test_members_of_embedded_messages_are_members_of_the_object() -> None:
    volume = decode(encode(POD))["spec"]["volumes"][0]
    assert volume == {"name": "v", "emptyDir": {}}


@pytest.mark.parametrize(
    ("kind", "member", "value"),
    [
        ("Secret", "data", {"a": "aGVsbG8=", "b": ""}),
        ("ConfigMap", "binaryData", {"a": "AA=="}),
        ("Secret", "immutable", False),
        ("ServiceAccount", "automountServiceAccountToken", True),
    ],
)
def test_bytes_and_pointers_keep_their_presence(kind: str, member: str, value: Any) -> None:
    obj = {"kind": kind, "apiVersion": "v1", "metadata": {}, member: value}
    assert decode(encode(obj)) == obj


@pytest.mark.parametrize("value", [0, 5, -1, 2**31 - 1, -(2**31)])
def test_small_numbers_keep_their_sign(value: int) -> None:
    obj = {"kind": "PriorityClass", "apiVersion": "scheduling.k8s.io/v1", "metadata": {}, "value": value}
    assert decode(encode(obj)) == obj


@pytest.mark.parametrize("value", [0, 127, 128, 2**32, 2**64 - 1])
def test_varints_round_trip(value: int) -> None:
    assert read_varint(b"x" + write_varint(value), 1) == (value, 1 + len(write_varint(value)))


@pytest.mark.parametrize("port", [80, "http", 0, -1])
def test_a_port_is_a_number_or_a_name(port: int | str) -> None:
    service = {
        "kind": "Service",
        "apiVersion": "v1",
        "metadata": {},
        "spec": {"ports": [{"port": 1, "targetPort": port}]},
        "status": {"loadBalancer": {}},
    }
    assert decode(encode(service)) == service


def test_times_are_whole_seconds_and_absent_ones_are_omitted_or_null() -> None:
    body = encode_bare("v1", "Pod", {"metadata": {"creationTimestamp": "2026-11-20T18:45:20+01:00"}})
    assert pod_with(body)["metadata"]["creationTimestamp"] == "2026-11-20T17:45:20Z"
    assert "creationTimestamp" not in pod_with(encode_bare("v1", "Pod", {}))["metadata"]
    status = encode_bare("v1", "Pod", {"status": {"conditions": [{"type": "Ready"}]}})
    assert pod_with(status)["status"]["conditions"][0]["lastProbeTime"] is None


def test_schemas_of_three_forms_round_trip() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"items": {"type": "string"}, "default": {"x": [1]}, "maximum": 10, "$ref": "#/a"}},
        "additionalProperties": False,
        "dependencies": {"a": ["b"]},
        "x-kubernetes-preserve-unknown-fields": True,
    }
    crd = decode(
        encode(
            {
                "kind": "CustomResourceDefinition",
                "apiVersion": "apiextensions.k8s.io/v1",
                "spec": {"versions": [{"name": "v1", "schema": {"openAPIV3Schema": schema}}]},
            }
        )
    )
    assert crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"] == schema


def test_a_watch_event_is_framed() -> None:
    frame = encode_watch_event("ADDED", encode(POD))
    assert int.from_bytes(frame[:4], "big") == len(frame) - 4
    assert frame[4:].startswith(b"\x0a\x05ADDED\x12")
    assert frame.endswith(encode(POD))


@pytest.mark.parametrize(
    "unknown",
    [
        b"\xf8\x07\x05",
        b"\xf9\x07" + bytes(8),
        b"\xfa\x07\x03abc",
        b"\xfb\x07\x08\x01\x12\x01x\xfc\x07",
        b"\xfd\x07" + bytes(4),
    ],
    ids=["varint", "fixed64", "bytes", "group", "fixed32"],
)
def test_unknown_fields_are_skipped(unknown: bytes) -> None:
    body = encode_bare("v1", "Pod", POD)
    assert pod_with(unknown + body + unknown) == POD


def test_a_message_in_two_parts_is_merged() -> None:
    assert pod_with(b"\x0a\x03\x0a\x01p\x0a\x03\x1a\x01n")["metadata"] == {"name": "p", "namespace": "n"}


def test_packed_numbers_are_read() -> None:
    raw = b"\x12\x09" + b"\x72\x07" + b"\x22\x05\x01\x02\xac\x02\x03"
    assert pod_with(raw)["spec"]["securityContext"]["supplementalGroups"] == [1, 2, 300, 3]


def test_later_zero_value_replaces_an_earlier_value() -> None:
    assert pod_with(b"\x0a\x05\x0a\x01p\x0a\x00")["metadata"] == {}


def nested(levels: int) -> bytes:
    """Return a CustomResourceDefinition with a schema of that many levels (field 28 is `not`)."""
    schema = b""
    for _ in range(levels):
        schema = b"\xe2\x01" + write_varint(len(schema)) + schema
    for tag in (b"\x0a", b"\x22", b"\x3a", b"\x12"):
        schema = tag + write_varint(len(schema)) + schema
    return envelope("apiextensions.k8s.io/v1", "CustomResourceDefinition", schema)


def test_number_of_messages_is_limited() -> None:
    spec = b"\x12\x00" * 1000
    body = envelope("v1", "Pod", b"\x12" + write_varint(len(spec)) + spec)
    assert len(decode(body)["spec"]["containers"]) == 1000
    with pytest.raises(DecodeError, match="too many messages"):
        decode(body, messages_max=1000)


def test_nesting_is_limited() -> None:
    decode(nested(LEVELS_MAX - 5))
    with pytest.raises(DecodeError, match="exceeded max depth"):
        decode(nested(1000))


@pytest.mark.parametrize("raw", [b'{"a":' * 240 + b"1" + b"}" * 240, b"[" * 5000])
def test_nesting_of_raw_json_is_limited(raw: bytes) -> None:
    data = b"\x12" + write_varint(len(raw) + 1 + len(write_varint(len(raw)))) + b"\x0a" + write_varint(len(raw)) + raw
    with pytest.raises(DecodeError):
        decode(nested(0)[:0] + envelope("apps/v1", "ControllerRevision", data + data[:-1]))


def test_raw_json_is_escaped_as_by_go() -> None:
    """kube-controller-manager treats a ControllerRevision as changed when a byte of its data differs."""
    revision = {"kind": "ControllerRevision", "apiVersion": "apps/v1", "metadata": {}, "data": {"a": "b && c <d>"}}
    assert rb'{"a":"b \u0026\u0026 c \u003cd\u003e"}' in encode(revision)
    assert decode(encode(revision))["data"] == revision["data"]


@pytest.mark.parametrize("cut", [cut for cut in range(4, len(encode(POD)) - 4) if cut != 15])
def test_truncated_body_is_rejected(cut: int) -> None:
    """A body that ends directly after the type (cut 15) is excluded: it is an empty object."""
    with pytest.raises(DecodeError):
        decode(encode(POD)[:cut])


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (b"", "empty data"),
        (b"{}", "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"),
        (b"k8s\0", "empty body"),
        (envelope("", "", b""), 'no kind "" is registered for version ""'),
        (envelope("v1", "Pod", b"\x0a\x80\x80\x80\x80\x08x"), "unexpected EOF"),
        (envelope("v1", "Pod", b"\x0a" + b"\xff" * 9 + b"\x01"), "unexpected EOF"),
        (envelope("v1", "Pod", b"\xfa\x07" + b"\xff" * 9 + b"\x01"), "unexpected EOF"),
        (envelope("v1", "Pod", b"\x0a" + b"\xff" * 11), "proto: integer overflow"),
        (envelope("v1", "Pod", b"\x08\x01"), "proto: wrong wireType = 0 for field metadata"),
        (envelope("v1", "Pod", b"\x0a\x02\x3a\x00"), "proto: wrong wireType = 2 for field generation"),
        (envelope("v1", "Pod", b"\x00\x01"), "proto: illegal tag 0 (wire type 0)"),
        (envelope("v1", "Pod", b"\xfc\x07"), "proto: illegal wireType 4"),
        (envelope("v1", "Pod", b"\xfe\x07\x00"), "proto: illegal wireType 6"),
        (envelope("v1", "Pod", b"\xfb\x07" * 100), "proto: illegal wireType 3"),
        (envelope("v1", "Pod", b"\x0a\x03\x0a\x01\xff"), "proto: invalid UTF-8"),
    ],
)
def test_malformed_bodies_are_rejected(body: bytes, error: str) -> None:
    with pytest.raises(DecodeError) as raised:
        decode(body)
    assert str(raised.value) == error


def test_nan_and_infinities_are_rejected() -> None:
    schema = b"\x49" + struct.pack("<d", float("nan"))
    for tag in (b"\x0a", b"\x22", b"\x3a", b"\x12"):
        schema = tag + write_varint(len(schema)) + schema
    with pytest.raises(DecodeError, match="unsupported value"):
        decode(envelope("apiextensions.k8s.io/v1", "CustomResourceDefinition", schema))


@pytest.mark.parametrize(
    "spec",
    [{"containers": 5}, {"containers": ["c"]}, {"nodeName": 5}, {"priority": "high"}, 7, {"nodeSelector": ["a"]}],
)
def test_values_of_wrong_types_cannot_be_encoded(spec: Any) -> None:
    with pytest.raises(EncodeError):
        encode({**POD, "spec": spec})
