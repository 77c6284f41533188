"""Bytes at rest."""

import json
import tracemalloc
from typing import Any, TypedDict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampan.core.object import Object
from sampan.storage.encoding import decode, encode, extractor, respliced, respliced_record, splice
from sampan.storage.store import KeyValue

TEXT = st.text(st.characters(codec="utf-8"), max_size=8) | st.sampled_from(
    ["resourceVersion", '"resourceVersion":"', 'x","resourceVersion":"9', "metadata", "uid", "kind"]
)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
SCALARS = st.none() | st.booleans() | st.integers(-(2**80), 2**80) | FLOATS | TEXT
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3), max_leaves=8
)


@st.composite
def objects(draw: st.DrawFn) -> Object:
    """Objects with their fields in any order."""
    metadata: dict[str, Any] = {
        **draw(st.dictionaries(TEXT, VALUES, max_size=3)),
        "name": draw(TEXT),
        "labels": draw(st.dictionaries(TEXT, TEXT, max_size=2)),
    }
    for name in ("namespace", "uid", "generateName", "resourceVersion"):
        metadata.pop(name, None)
        if draw(st.booleans()):
            metadata[name] = draw(TEXT)
    obj = {**draw(st.dictionaries(TEXT, VALUES, max_size=3)), "kind": draw(TEXT), "apiVersion": "v1"}
    obj["metadata"] = dict(draw(st.permutations(list(metadata.items()))))
    return dict(draw(st.permutations(list(obj.items()))))


def at_revision(obj: Object, revision: str) -> Object:
    return {**obj, "metadata": {**obj["metadata"], "resourceVersion": revision}}


@given(objects())
def test_an_encoded_object_is_decoded_with_an_empty_resource_version(obj: Object) -> None:
    assert decode(encode(obj)) == at_revision(obj, "")


@given(objects(), st.integers(1, 2**63))
def test_splice_fills_in_the_resource_version_and_nothing_else(obj: Object, revision: int) -> None:
    assert decode(splice(encode(obj), revision)) == at_revision(obj, str(revision))


@given(objects(), st.integers(1, 2**63), st.integers(1, 2**63))
def test_respliced_replaces_whatever_resource_version_stands_there(obj: Object, first: int, second: int) -> None:
    assert respliced(splice(encode(obj), first), second) == splice(encode(obj), second)


@given(objects())
def test_encode_does_not_change_the_object(obj: Object) -> None:
    before = json.dumps(obj)
    encode(obj)
    assert json.dumps(obj) == before


@given(objects())
def test_only_scalars_stand_before_the_resource_version(obj: Object) -> None:
    decoded = decode(encode(obj))
    before = list(decoded)[: list(decoded).index("metadata")]
    metadata = list(decoded["metadata"])
    before_in_metadata = metadata[: metadata.index("resourceVersion")]
    assert set(before) <= {"apiVersion", "kind"}
    assert set(before_in_metadata) <= {"name", "generateName", "namespace", "uid"}


@pytest.mark.parametrize("number", [2**63, 2**64, -(2**63) - 1, 10**40])
def test_integers_of_any_size_stay_integers(number: int) -> None:
    obj = {"kind": "K", "apiVersion": "v1", "metadata": {"name": "n"}, "spec": {"n": number}}
    assert decode(encode(obj))["spec"]["n"] == number


def test_characters_that_go_escapes_are_escaped() -> None:
    obj = {
        "kind": "ControllerRevision",
        "apiVersion": "apps/v1",
        "metadata": {"name": "r"},
        "data": "a && <b> \u2028\u2029 ü",
    }
    value = encode(obj)
    assert rb'"data":"a \u0026\u0026 \u003cb\u003e \u2028\u2029 ' + "ü".encode() in value
    assert decode(value)["data"] == obj["data"]


def test_an_object_in_order_is_encoded_as_it_is() -> None:
    obj = {"kind": "K", "apiVersion": "v1", "metadata": {"name": "n", "resourceVersion": "", "labels": {}}}
    assert encode(obj) == b'{"kind":"K","apiVersion":"v1","metadata":{"name":"n","resourceVersion":"","labels":{}}}'


def test_a_value_without_a_place_for_the_revision_is_an_error() -> None:
    with pytest.raises(ValueError):
        splice(b"{}", 1)


def test_extract_takes_what_selection_needs() -> None:
    metadata = {"name": "n", "namespace": "ns", "uid": "u", "labels": {"a": "b"}}
    value = encode({"kind": "Pod", "apiVersion": "v1", "metadata": metadata, "spec": {"nodeName": "node"}})
    record = extractor(lambda obj: {"spec.nodeName": obj["spec"]["nodeName"]})(KeyValue("/k", value, 3, 7))
    assert (record.key, record.namespace, record.name, record.uid) == ("/k", "ns", "n", "u")
    assert (record.create_revision, record.revision, record.labels) == (3, 7, {"a": "b"})
    assert record.fields == {"metadata.name": "n", "metadata.namespace": "ns", "spec.nodeName": "node"}
    assert decode(record.value)["metadata"]["resourceVersion"] == "7"


def test_a_cluster_scoped_object_has_no_namespace_to_select() -> None:
    value = encode({"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n"}})
    assert extractor()(KeyValue("/k", value, 3, 3)).fields == {"metadata.name": "n"}


def test_a_respliced_record_is_the_same_under_another_revision() -> None:
    value = encode({"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n", "labels": {"a": "b"}}})
    record = respliced_record(extractor()(KeyValue("/k", value, 3, 3)), 9)
    assert (record.revision, record.create_revision, record.labels) == (9, 3, {"a": "b"})
    assert decode(record.value)["metadata"]["resourceVersion"] == "9"


def test_a_value_takes_no_more_memory_than_its_bytes() -> None:
    obj = {"kind": "ConfigMap", "metadata": {"name": "a", "resourceVersion": ""}, "data": {"a": "x" * 1000}}
    tracemalloc.start()
    try:
        values = [encode(obj) for _ in range(100)]
        used, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert used < 1.5 * sum(len(value) for value in values)


class Part(TypedDict, total=False):
    kind: str


@pytest.mark.parametrize("kind", ["Gadget", None, 3])
def test_the_part_that_selection_reads_is_enough_whatever_was_stored(kind: Any) -> None:
    obj = {"kind": kind, "metadata": {"name": "a"}, "spec": {"size": 3}}
    row = KeyValue("/a", encode(obj), 1, 1)

    def fields(found: Object) -> dict[str, str]:
        return {"kind": str(found.get("kind"))}

    assert extractor(fields, Part)(row).fields == extractor(fields)(row).fields
