"""Tests of `meta()`: equal names for the metadata of dicts and of typed objects."""

from typing import Any

import msgspec
import pytest

from sampan.resource import ObjectMeta, OwnerReference, meta


class Typed(msgspec.Struct):
    """A typed object."""

    metadata: ObjectMeta


def _both(**fields: Any) -> list[Any]:
    typed = msgspec.convert(fields, ObjectMeta)
    return [{"metadata": dict(fields)}, Typed(typed)]


@pytest.mark.parametrize("obj", _both(name="a", resourceVersion="7", labels={"x": "y"}), ids=["dict", "typed"])
def test_fields_are_read_by_the_same_names(obj: Any) -> None:
    found = meta(obj)
    assert (found.name, found.resource_version, found.labels, found.uid) == ("a", "7", {"x": "y"}, "")


@pytest.mark.parametrize("obj", _both(name="a"), ids=["dict", "typed"])
def test_maps_and_lists_are_changed_in_place(obj: Any) -> None:
    meta(obj).labels["x"] = "y"
    meta(obj).finalizers.append("f")
    assert (meta(obj).labels, meta(obj).finalizers) == ({"x": "y"}, ["f"])


@pytest.mark.parametrize("obj", _both(name="a"), ids=["dict", "typed"])
def test_owner_references_are_assigned(obj: Any) -> None:
    owner = OwnerReference("v1", "ConfigMap", "o", "u", controller=True)
    meta(obj).owner_references = [owner]
    assert meta(obj).owner_references == [owner]


def test_assigning_an_empty_value_removes_the_field() -> None:
    obj = {"metadata": {"name": "a", "resourceVersion": "7"}}
    meta(obj).resource_version = ""
    assert obj == {"metadata": {"name": "a"}}


def test_a_dict_object_without_metadata_gets_it() -> None:
    obj: dict[str, Any] = {}
    meta(obj).name = "a"
    assert obj == {"metadata": {"name": "a"}}


def test_an_unknown_field_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError):
        meta({}).colour = "red"  # type: ignore[attr-defined]
