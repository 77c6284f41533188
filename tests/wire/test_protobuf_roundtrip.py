"""Encoded objects can be decoded, for every message of the table."""

from random import Random

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampan.wire.json import DecodeError
from sampan.wire.protobuf import LIST_END, decode, encode, envelope, list_head, list_items
from sampan.wire.protobuf.decode import decode_message
from sampan.wire.protobuf.decode_budget import DecodeBudget
from sampan.wire.protobuf.encode import encode_message
from sampan.wire.protobuf.table import table
from tests.wire.protobuf_objects import random_object

VALUES = {"Time", "MicroTime", "Timestamp", "Duration", "FieldsV1", "Verbs", "ExtraValue", "Quantity", "QuantityValue"}
OTHERS = {"IntOrString", "JSON", "JSONSchemaPropsOrArray", "JSONSchemaPropsOrBool", "JSONSchemaPropsOrStringArray"}
MESSAGES = [
    name
    for name in table().names()
    if name.rpartition(".")[2] not in VALUES | OTHERS and not name.startswith("runtime.")
]
KINDS = [
    (api_version, name.rpartition(".")[2])
    for api_version, package in table().api_versions().items()
    for name in MESSAGES
    if name.rpartition(".")[0] == package and any(field.type == "meta.v1.ObjectMeta" for field in table().fields(name))
]


@pytest.mark.parametrize("message", MESSAGES)
def test_full_object_of_each_message_round_trips(message: str) -> None:
    obj = random_object(Random(message), message)
    body = encode_message(message, obj)
    assert decode_message(message, body, 0, len(body), DecodeBudget()) == obj


@given(st.sampled_from(MESSAGES), st.integers(0, 2**32))
def test_objects_round_trip(message: str, seed: int) -> None:
    obj = random_object(Random(seed), message)
    body = encode_message(message, obj)
    assert decode_message(message, body, 0, len(body), DecodeBudget()) == obj


@given(st.sampled_from(MESSAGES), st.integers(0, 2**32))
def test_decoded_objects_encode_to_the_same_bytes(message: str, seed: int) -> None:
    body = encode_message(message, random_object(Random(seed), message))
    assert encode_message(message, decode_message(message, body, 0, len(body), DecodeBudget())) == body


@pytest.mark.parametrize(("api_version", "kind"), KINDS)
def test_an_empty_object_of_each_kind_has_its_zero_values(api_version: str, kind: str) -> None:
    obj = decode(encode({"apiVersion": api_version, "kind": kind}))
    assert (obj["apiVersion"], obj["kind"]) == (api_version, kind)
    assert decode(encode(obj)) == obj


@given(st.sampled_from(KINDS), st.integers(0, 2**32), st.integers(1, 255), st.data())
def test_body_with_a_changed_byte_is_decoded_or_rejected(
    kind: tuple[str, str], seed: int, change: int, data: st.DataObject
) -> None:
    package = table().api_versions()[kind[0]]
    body = bytearray(
        envelope(*kind, encode_message(f"{package}.{kind[1]}", random_object(Random(seed), f"{package}.{kind[1]}")))
    )
    position = data.draw(st.integers(4, len(body) - 1))
    body[position] ^= change
    try:
        orjson.dumps(decode(bytes(body)))
    except DecodeError:
        pass


@given(st.binary(max_size=200), st.sampled_from(KINDS))
def test_random_bytes_are_decoded_or_rejected(raw: bytes, kind: tuple[str, str]) -> None:
    try:
        decode(envelope(*kind, raw))
    except DecodeError:
        pass


@pytest.mark.parametrize("count", [0, 1, 300])
def test_lists_are_joined_from_their_items(count: int) -> None:
    pods = [random_object(Random(index), "core.v1.Pod") for index in range(count)]
    metadata = {"resourceVersion": "7"}
    items = list_items("v1", "PodList", [encode_message("core.v1.Pod", pod) for pod in pods])
    body = list_head("v1", "PodList", metadata, len(items)) + items + LIST_END
    listed = {"apiVersion": "v1", "kind": "PodList", "metadata": metadata, "items": pods}
    assert body == encode(listed)
    assert decode(body) == listed | {"items": pods or None}


def test_every_list_has_its_items_under_the_same_field_number() -> None:
    fields = {name: [(field.number, field.name) for field in table().fields(name)] for name in MESSAGES}
    lists = {
        name: numbered
        for name, numbered in fields.items()
        if name.endswith("List")
        and {field for _, field in numbered} == {"metadata", "items"}
        and not name.startswith("meta.v1beta1.")
    }
    assert "core.v1.PodList" in lists
    assert {name: numbered for name, numbered in lists.items() if numbered != [(1, "metadata"), (2, "items")]} == {}
