"""Tests that unknown fields survive an update."""

import copy
import dataclasses
import pickle
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sampan.resource import CustomResource, ObjectMeta, object_type, resource
from sampan.resource.unknown_fields import with_unknown
from tests.properties import examples


class Port(msgspec.Struct, rename="camel", omit_defaults=True):
    """An element of a list."""

    name: str = ""
    number: int = 0


class HullSpec(msgspec.Struct, rename="camel", omit_defaults=True, kw_only=True):
    """The fields that this program defines."""

    length: int = 1
    colour: str = ""
    ports: list[Port] = msgspec.field(default_factory=list)


@resource(group="harbour.example.com", version="v2")
class Hull(CustomResource):
    """A kind of which this class defines only some fields."""

    spec: HullSpec


@resource(group="harbour.example.com", version="v2", kind="Hull")
@dataclass
class PlainHull:
    """Form of the kind as a dataclass."""

    spec: HullSpec
    metadata: ObjectMeta = field(default_factory=ObjectMeta)


STORED = {
    "apiVersion": "harbour.example.com/v2",
    "kind": "Hull",
    "metadata": {"name": "a", "resourceVersion": "7", "selfLink": "/x", "labels": {"x": "y"}},
    "spec": {
        "length": 3,
        "colour": "red",
        "planks": {"count": 12},
        "nothing": None,
        "ports": [{"name": "a", "number": 1, "glass": True}, {"name": "b", "number": 2, "glass": False}],
    },
    "status": {"afloat": True},
    "extra": [1],
}
KIND = object_type(Hull)


def read() -> Hull:
    return KIND.decode(msgspec.json.encode(STORED))


def written(hull: Hull) -> Any:
    return msgspec.json.decode(KIND.encode_update(hull))


def test_an_unchanged_object_is_written_as_it_was_read() -> None:
    assert written(read()) == STORED


def test_a_value_with_another_type_is_written() -> None:
    assert with_unknown({"a": True, "b": 2}, {"a": True}, {"a": 1})["a"] is not True


def test_a_change_changes_only_its_field() -> None:
    hull = read()
    hull.spec.length = 4
    hull.metadata.labels["x"] = "z"
    expected = copy.deepcopy(STORED)
    expected["spec"]["length"] = 4  # type: ignore[index]
    expected["metadata"]["labels"]["x"] = "z"  # type: ignore[index]
    assert written(hull) == expected


def test_a_removed_field_is_deleted() -> None:
    hull = read()
    hull.spec.colour = ""
    assert "colour" not in written(hull)["spec"]


@pytest.mark.parametrize(
    ("change", "ports"),
    [
        pytest.param(
            lambda ports: ports.reverse(),
            [{"name": "b", "number": 2, "glass": False}, {"name": "a", "number": 1, "glass": True}],
            id="another order",
        ),
        pytest.param(lambda ports: ports.pop(0), [{"name": "b", "number": 2, "glass": False}], id="one less"),
        pytest.param(
            lambda ports: ports.insert(0, Port("c", 3)),
            [
                {"name": "c", "number": 3},
                {"name": "a", "number": 1, "glass": True},
                {"name": "b", "number": 2, "glass": False},
            ],
            id="one more",
        ),
        pytest.param(
            lambda ports: setattr(ports[1], "number", 9),
            [{"name": "a", "number": 1, "glass": True}, {"name": "b", "number": 9, "glass": False}],
            id="one changed",
        ),
        pytest.param(
            lambda ports: setattr(ports[1], "name", "z"),
            [{"name": "a", "number": 1, "glass": True}, {"name": "z", "number": 2, "glass": False}],
            id="one renamed",
        ),
        pytest.param(lambda ports: ports.clear(), None, id="none left"),
    ],
)
def test_list_elements_keep_their_unknown_fields(change: Callable[[list[Port]], None], ports: Any) -> None:
    hull = read()
    change(hull.spec.ports)
    assert written(hull)["spec"].get("ports") == ports


@pytest.mark.parametrize(
    "copied",
    [
        copy.copy,
        copy.deepcopy,
        lambda hull: pickle.loads(pickle.dumps(hull)),
        lambda hull: msgspec.structs.replace(hull, spec=copy.deepcopy(hull.spec)),
        lambda hull: Hull(metadata=copy.copy(hull.metadata), spec=hull.spec),
    ],
    ids=["copy", "deepcopy", "pickle", "replace", "metadata copied"],
)
def test_copies_keep_unknown_fields(copied: Callable[[Hull], Hull]) -> None:
    hull = copied(read())
    hull.spec.length = 5
    assert written(hull)["spec"]["planks"] == {"count": 12}


def test_dataclasses_keep_unknown_fields() -> None:
    kind = object_type(PlainHull)
    hull = dataclasses.replace(kind.decode(msgspec.json.encode(STORED)), spec=HullSpec(length=9))
    body = msgspec.json.decode(kind.encode_update(hull))
    assert (body["spec"]["length"], body["spec"]["planks"]) == (9, {"count": 12})


def test_a_new_object_has_no_unknown_fields() -> None:
    hull = Hull(metadata=ObjectMeta(name="a"), spec=HullSpec(length=2))
    assert KIND.encode_update(hull) == KIND.encode(hull)


def test_created_or_applied_objects_have_only_defined_fields() -> None:
    assert "planks" not in msgspec.json.decode(KIND.encode(read()))["spec"]


def test_the_attached_source_is_not_part_of_the_object() -> None:
    assert read().metadata == ObjectMeta(name="a", resource_version="7", labels={"x": "y"})
    assert read() == read()


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(0, 9) | st.text("ab", max_size=2),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["name", "a", "b", "c"]), inner),
    max_leaves=12,
)


@settings(max_examples=examples(100))
@given(source=VALUES, after=VALUES)
def test_without_unknown_fields_the_result_is_the_new_object(source: Any, after: Any) -> None:
    assert with_unknown(source, source, after) == after


@settings(max_examples=examples(100))
@given(source=VALUES, before=VALUES)
def test_without_changes_the_result_is_the_object_as_read(source: Any, before: Any) -> None:
    assert with_unknown(source, before, before) == source
