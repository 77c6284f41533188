"""Pruning of fields that an applier omits, with nested ownership. Spec rows E7, E11, E23, E28.

The scenarios are those of structured-merge-diff merge/{multiple_appliers,nested,leaf,key}_test.go.
"""

import copy
from typing import Any

import pytest

from sampan.core.object import Object
from sampan.patch.managed_fields.field_manager import FieldManager
from sampan.schema.structural import Schema
from tests.patch.schemas import INTEGER, METADATA, STRING, keyed_list_of, map_of, set_of, struct

GROUP = "example.io"
SCHEMA = struct(
    apiVersion=STRING,
    kind=STRING,
    metadata=METADATA,
    lists=keyed_list_of(struct(name=STRING, value=set_of(STRING)), "name"),
    struct=struct(name=STRING, value=INTEGER),
    labels=map_of(STRING),
)
DEDUCED = Schema(type="object", preserve_unknown_fields=True)


class Cluster:
    """One object, written by several managers in several versions that differ only by name."""

    def __init__(self, schema: Schema) -> None:
        self.live: Object | None = None
        self._manager = FieldManager(schema_for=lambda version: schema, convert=self._convert)
        self._time = 0

    def _convert(self, obj: Object, version: str) -> Object:
        return {**copy.deepcopy(obj), "apiVersion": version}

    def _now(self) -> str:
        self._time += 1
        return f"2026-01-01T00:00:{self._time:02}Z"

    def _at(self, version: str) -> Object | None:
        return None if self.live is None else self._convert(self.live, version)

    def apply(self, manager: str, version: str = "v1", *, force: bool = False, **parts: Any) -> None:
        version = f"{GROUP}/{version}"
        config = {"apiVersion": version, "kind": "Test", "metadata": {"name": "x"}, **parts}
        self.live = self._manager.apply(
            self._at(version), config, manager=manager, api_version=version, force=force, now=self._now()
        )

    def update(self, manager: str, version: str = "v1", **parts: Any) -> None:
        version = f"{GROUP}/{version}"
        live = self._at(version)
        metadata = {"name": "x"} if live is None else copy.deepcopy(live["metadata"])
        new = {"apiVersion": version, "kind": "Test", "metadata": metadata, **parts}
        self._manager.update(live, new, manager=manager, api_version=version, now=self._now())
        self.live = new

    @property
    def content(self) -> Object:
        assert self.live is not None
        return {key: value for key, value in self.live.items() if key not in ("apiVersion", "kind", "metadata")}

    @property
    def owned(self) -> dict[str, Any]:
        assert self.live is not None
        return {item["manager"]: item["fieldsV1"] for item in self.live["metadata"].get("managedFields", [])}


def item(name: str, *values: str) -> Object:
    return {"name": name, "value": list(values)} if values else {"name": name}


def key(name: str) -> str:
    return f'k:{{"name":"{name}"}}'


NAME: Any = {".": {}, "f:name": {}}


def test_item_stays_with_the_fields_of_another_applier_and_a_controller() -> None:
    cluster = Cluster(SCHEMA)
    cluster.apply("one", "v1", lists=[item("a"), item("b", "c")])
    cluster.apply("two", "v2", lists=[item("b", "d")])
    cluster.update("controller", "v2", lists=[item("a"), item("b", "c", "d", "e")])
    cluster.apply("one", "v3", lists=[item("a")])
    assert cluster.content == {"lists": [item("a"), item("b", "d", "e")]}
    assert cluster.owned == {
        "one": {"f:lists": {key("a"): NAME}},
        "two": {"f:lists": {key("b"): {**NAME, "f:value": {'v:"d"': {}}}}},
        "controller": {"f:lists": {key("b"): {"f:value": {'v:"e"': {}}}}},
    }


def test_item_is_removed_with_the_fields_of_a_controller_when_no_other_manager_owns_it() -> None:
    cluster = Cluster(SCHEMA)
    cluster.apply("one", "v1", lists=[item("a"), item("b", "c")])
    cluster.apply("two", "v2", lists=[item("a", "b")])
    cluster.update("controller", "v2", lists=[item("a", "b"), item("b", "c", "d")])
    cluster.apply("one", "v3", lists=[item("a")])
    assert cluster.content == {"lists": [item("a", "b")]}
    assert cluster.owned == {
        "one": {"f:lists": {key("a"): NAME}},
        "two": {"f:lists": {key("a"): {**NAME, "f:value": {'v:"b"': {}}}}},
    }


def test_struct_is_removed_with_its_only_field() -> None:
    cluster = Cluster(SCHEMA)
    cluster.apply("one", struct={"name": "a"})
    cluster.apply("one")
    assert cluster.content == {}


@pytest.mark.parametrize("left", [{}, {"struct": {}}, {"struct": None}], ids=["nothing", "empty", "null"])
def test_struct_stays_with_the_field_of_a_controller(left: Any) -> None:
    cluster = Cluster(SCHEMA)
    cluster.apply("one", struct={"name": "a"})
    cluster.update("controller", struct={"name": "a", "value": 1})
    cluster.apply("one", **left)
    assert cluster.content == {"struct": {"value": 1}}


def test_field_that_a_controller_took_over_stays() -> None:
    cluster = Cluster(SCHEMA)
    cluster.apply("one", struct={"name": "a"})
    cluster.update("controller", struct={"name": "b", "value": 1})
    cluster.apply("one", struct=None)
    assert cluster.content == {"struct": {"name": "b", "value": 1}}


def test_applier_of_null_still_owns_the_struct() -> None:
    cluster = Cluster(SCHEMA)
    cluster.apply("one", struct={"name": "a"})
    cluster.apply("one", struct=None)
    assert cluster.owned == {"one": {"f:struct": {}}}


def test_map_of_an_updater_stays_when_its_entries_are_removed() -> None:
    cluster = Cluster(SCHEMA)
    cluster.update("controller", labels={"b": "2"})
    cluster.apply("one", labels={"a": "1"})
    cluster.apply("one")
    assert cluster.content == {"labels": {"b": "2"}}


def test_shared_value_is_removed_with_its_last_applier() -> None:
    cluster = Cluster(SCHEMA)
    cluster.apply("one", labels={"a": "1"})
    cluster.apply("two", labels={"a": "1"})
    cluster.apply("one")
    assert cluster.content == {"labels": {"a": "1"}}
    cluster.apply("two")
    assert not cluster.content.get("labels")


def test_nested_maps_without_a_schema_are_pruned_by_owner() -> None:
    cluster = Cluster(DEDUCED)
    cluster.apply("apply-one", "v1", a={"b": None}, c={"d": None})
    cluster.apply("apply-two", "v2", a=None, c={"d": None})
    cluster.update("controller-one", "v3", a={"b": {"c": None}}, c={"d": {"e": None}})
    cluster.update("controller-two", "v2", a={"b": {"c": {"d": None}}}, c={"d": {"e": {"f": None}}})
    cluster.update("controller-one", "v3", a={"b": {"c": {"d": {"e": None}}}}, c={"d": {"e": {"f": {"g": None}}}})
    cluster.apply("apply-one", "v4")
    assert cluster.content == {"a": {}, "c": {"d": {"e": {"f": {"g": None}}}}}
    assert cluster.owned == {
        "apply-two": {"f:a": {}, "f:c": {".": {}, "f:d": {}}},
        "controller-one": {"f:c": {"f:d": {"f:e": {".": {}, "f:f": {"f:g": {}}}}}},
        "controller-two": {"f:c": {"f:d": {"f:e": {"f:f": {}}}}},
    }
