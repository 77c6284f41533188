"""Values of other writers are read as the objects that they are."""

import orjson
import pytest

from sampan.core.object import Object
from sampan.storage.encoding import decode, encode, splice
from sampan.storage.store import UnreadableValue
from sampan.storage.translation import canonical, protobuf_form
from sampan.wire import protobuf
from sampan.wire.json import DecodeError
from tests.unreadable import DEEP, NO_TEXT

POD: Object = {
    "kind": "Pod",
    "apiVersion": "v1",
    "metadata": {
        "name": "a",
        "namespace": "d",
        "uid": "u-1",
        "labels": {"x": "y"},
        "creationTimestamp": "2024-01-01T00:00:00Z",
    },
    "spec": {"containers": [{"name": "c", "image": "i", "resources": {}}]},
    "status": {"phase": "Running"},
}
CUSTOM: Object = {
    "apiVersion": "stable.example.com/v1",
    "kind": "CronTab",
    "metadata": {"creationTimestamp": "2024-01-01T00:00:00Z", "generation": 1, "name": "a", "namespace": "d"},
    "spec": {"resourceVersion": "not this one", "replicas": 2**70},
}


def test_protobuf_is_read_as_the_object_with_a_place_for_the_revision() -> None:
    found = decode(splice(canonical(protobuf.encode(POD)), 42))
    assert found["metadata"] == {**POD["metadata"], "resourceVersion": "42"}
    assert (found["kind"], found["apiVersion"], found["spec"]) == ("Pod", "v1", POD["spec"])


def test_json_of_kube_apiserver_gets_a_place_for_the_revision() -> None:
    found = decode(splice(canonical(encode_as_go(CUSTOM)), 42))
    assert found == {**CUSTOM, "metadata": {**CUSTOM["metadata"], "resourceVersion": "42"}}


def encode_as_go(obj: Object) -> bytes:
    """Names in order, a newline at the end, no resourceVersion."""
    text = orjson.dumps({**obj, "spec": {}}, option=orjson.OPT_SORT_KEYS).replace(b'"spec":{}', b'"spec":%b')
    return text % encode({"metadata": {}, "spec": obj["spec"]}).partition(b'"spec":')[2].removesuffix(b"}") + b"\n"


@pytest.mark.parametrize("metadata", [{"name": "a"}, {"name": 'q"uo\\te', "uid": "u", "labels": {}}, {}])
def test_our_own_form_is_not_touched(metadata: Object) -> None:
    value = encode({"kind": "Pod", "apiVersion": "v1", "metadata": metadata})
    assert canonical(value) is value


def test_a_place_that_belongs_to_something_else_is_not_taken() -> None:
    value = b'{"kind":"Event","apiVersion":"v1","metadata":{"name":"a"},"involvedObject":{"resourceVersion":""}}'
    assert decode(splice(canonical(value), 7))["metadata"]["resourceVersion"] == "7"


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"1234",
        b"k8s:enc:aescbc:v1:key:\x00",
        b"{",
        b"{}",
        b'{"metadata":1}',
        b"[]",
        b'{"metadata":{},"x":' + NO_TEXT + b"}",
        b'{"metadata":{},"x":' + DEEP + b"}",
    ],
)
def test_a_value_that_is_no_object_is_not_changed(value: bytes) -> None:
    assert canonical(value) == value


@pytest.mark.parametrize("value", [b"k8s\x00", b"k8s\x00\xff\xff", protobuf.envelope("autoscaling/v2beta2", "A", b"")])
def test_protobuf_that_cannot_be_read_is_not_passed_over(value: bytes) -> None:
    assert isinstance(canonical(value), UnreadableValue)


def test_json_of_a_version_that_is_not_known_is_not_passed_over() -> None:
    def upgrade(obj: Object) -> Object:
        raise DecodeError(f"no kind {obj['kind']}")

    found = canonical(encode_as_go(CUSTOM), upgrade)
    assert isinstance(found, UnreadableValue)
    assert found.error == "no kind CronTab"


def test_built_in_kinds_are_stored_as_kube_apiserver_stores_them() -> None:
    stored = protobuf_form(encode(POD))
    assert stored == protobuf.encode(POD)
    assert stored.startswith(b"k8s\x00")


@pytest.mark.parametrize("value", [encode(CUSTOM), b"1234", b"[]", b'{"metadata":{}}', b'{"x":' + NO_TEXT + b"}", DEEP])
def test_a_value_without_a_protobuf_form_is_stored_as_json(value: bytes) -> None:
    assert protobuf_form(value) == value


def test_a_value_stored_as_protobuf_is_read_as_it_was_written() -> None:
    once = canonical(protobuf_form(encode(POD)))
    assert canonical(protobuf_form(once)) == once


def test_foreign_values_are_upgraded_and_own_ones_are_not() -> None:
    def upgrade(obj: Object) -> Object:
        return {**obj, "spec": {"new": True}}

    ours = encode(POD)
    assert canonical(ours, upgrade) is ours
    assert decode(canonical(protobuf.encode(POD), upgrade))["spec"] == {"new": True}
    assert decode(canonical(encode_as_go(CUSTOM), upgrade))["spec"] == {"new": True}
