"""`Ref`: objects kept as bytes; managed fields cut out of them."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampan.informer import DeletedFinalStateUnknown, RefReader, UnreadableObject, last_known, strip_managed_fields
from sampan.informer.transform import transform_objects
from sampan.resource import Object
from sampan.wire import json
from tests.informer.refs import ref
from tests.informer.server import WIDGETS
from tests.unreadable import DEEP, NO_TEXT


def test_a_ref_has_at_hand_what_is_requested_often_and_reads_the_rest() -> None:
    obj = ref(
        "a", 7, generation=3, labels={"app": "web"}, annotations={"x": "y"}, deletionTimestamp="2026-01-01T00:00:00Z"
    )
    assert (obj.key, obj.namespace, obj.name, obj.uid, obj.resource_version) == ("ns/a", "ns", "a", "uid-a", "7")
    assert (obj.generation, obj.labels, obj.annotations) == (3, {"app": "web"}, {"x": "y"})
    assert obj.deletion_timestamp == "2026-01-01T00:00:00Z"
    assert obj.owner_references == []
    assert obj.decode()["metadata"]["generation"] == 3


def test_a_ref_of_a_cluster_scoped_object_has_no_namespace() -> None:
    obj = ref("a", namespace="")
    assert (obj.key, obj.namespace, obj.name) == ("a", "", "a")


def test_a_tombstone_has_the_last_known_state() -> None:
    known = ref("a", 7)
    lost = DeletedFinalStateUnknown(known.key, known)
    assert (lost.namespace, lost.name, lost.uid) == ("ns", "a", "uid-a")
    assert last_known(lost) is last_known(known) is known


def test_metadata_with_nulls_can_be_read() -> None:
    body = b'{"metadata":{"name":"a","namespace":null,"labels":null,"annotations":null,"managedFields":[{}]}}'
    obj = RefReader(WIDGETS).read(body)
    assert (obj.key, obj.labels, obj.annotations) == ("a", {}, {})
    assert "managedFields" not in obj.decode()["metadata"]


NO_OBJECTS = [b"", b"[]", b"{}", b'{"metadata":[]}', b'{"metadata":{"labels":{"a":1}}}']


@pytest.mark.parametrize("body", [*NO_OBJECTS, b'{"metadata":{"name":"a"},"x":' + DEEP + b"}"])
def test_a_body_that_is_no_object_is_an_error(body: bytes) -> None:
    with pytest.raises(UnreadableObject):
        RefReader(WIDGETS).read(body)
    with pytest.raises(UnreadableObject):
        strip_managed_fields(body)


def test_a_label_that_is_no_text_does_not_hide_the_object() -> None:
    obj = RefReader(WIDGETS).read(b'{"metadata":{"name":"a","labels":{"x":' + NO_TEXT + b"}}}")
    assert (obj.key, obj.labels) == ("a", {"x": "\ufffd"})


values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5) | st.just('"managedFields":[1]'),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "managedFields", "z"]), inner),
    max_leaves=6,
)
metadata = st.dictionaries(st.sampled_from(["annotations", "zebra", "ownerReferences"]), values, max_size=3)


@given(before=metadata, managed=values, after=metadata, spec=values, spaced=st.booleans())
def test_an_object_without_managed_fields_is_else_the_same(
    before: Any, managed: Any, after: Any, spec: Any, spaced: bool
) -> None:
    whole = {"metadata": {**before, "name": "a", "managedFields": managed, **after}, "spec": spec, "managedFields": 1}
    body = json.pretty(whole) if spaced else json.encode(whole)
    stripped = strip_managed_fields(body)
    del whole["metadata"]["managedFields"]
    assert json.decode(stripped) == whole


@pytest.mark.parametrize(
    "body",
    [
        b'{"metadata":{"managedFields":[],"name":"a"}}',
        b'{"metadata":{"name":"a","managedFields":[]}}',
        b'{"metadata":{"managedFields":[]}}',
        b'{"metadata":{"name":"a" ,"managedFields":[] }}',
        b'{"metadata":{"name":"a"}}',
    ],
)
def test_managed_fields_are_cut_out_wherever_they_stand(body: bytes) -> None:
    assert "managedFields" not in json.decode(strip_managed_fields(body))["metadata"]


def test_a_transform_may_be_written_for_decoded_objects() -> None:
    def drop_status(obj: Object) -> Object:
        obj.pop("status", None)
        return obj

    transform = transform_objects(WIDGETS, drop_status)
    assert transform(b'{"metadata":{"name":"a"},"status":{}}') == b'{"metadata":{"name":"a"}}'


def test_refs_and_tombstones_are_invisible_to_the_cyclic_collector() -> None:
    obj = ref("a", labels={"a": "b"})
    assert type(obj).__struct_config__.gc is False
    assert type(DeletedFinalStateUnknown("ns/a", obj)).__struct_config__.gc is False
    assert isinstance(obj, msgspec.Struct)
