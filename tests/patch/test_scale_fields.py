"""Spec row E25. The scenarios are those of apimachinery managedfields/scalehandler_test.go."""

from typing import Any

import pytest

from sampan.patch.managed_entries import Entry
from sampan.patch.scale_fields import Mappings, path_elements, to_parent, to_scale

APPS, OLD, SCALE = "apps/v1", "apps/v1beta1", "autoscaling/v1"
MAPPINGS: Mappings = {APPS: ("f:spec", "f:replicas"), OLD: ("f:spec", "f:count"), "apps/none": None}
REPLICAS: Any = {"f:spec": {"f:replicas": {}}}
SELECTOR: Any = {"f:spec": {"f:selector": {}}}
BOTH: Any = {"f:spec": {"f:replicas": {}, "f:selector": {}}}


def entry(manager: str, fields: Any, operation: str = "Apply", version: str = APPS, subresource: str = "") -> Entry:
    found = {
        "manager": manager,
        "operation": operation,
        "apiVersion": version,
        "fieldsType": "FieldsV1",
        "fieldsV1": fields,
    }
    return {**found, "subresource": subresource} if subresource else found


def parent(entries: list[Entry], scale: list[Entry]) -> list[Entry]:
    return to_parent(entries, scale, api_version=APPS, mappings=MAPPINGS)


def test_scale_shows_who_owns_the_replicas() -> None:
    entries = [entry("a", SELECTOR), entry("b", BOTH), entry("c", REPLICAS, subresource="scale")]
    assert to_scale(entries, MAPPINGS) == [
        entry("b", REPLICAS, version=SCALE),
        entry("c", REPLICAS, version=SCALE, subresource="scale"),
    ]


def test_replicas_of_each_version_are_found_where_it_keeps_them() -> None:
    assert to_scale([entry("a", {"f:spec": {"f:count": {}}}, version=OLD)], MAPPINGS) == [
        entry("a", REPLICAS, version=SCALE)
    ]


@pytest.mark.parametrize("version", ["apps/v10", "apps/none"])
def test_versions_without_scale_do_not_show(version: str) -> None:
    assert to_scale([entry("a", REPLICAS, version=version)], MAPPINGS) == []


@pytest.mark.parametrize("before", ["Apply", "Update"])
@pytest.mark.parametrize("after", ["Apply", "Update"])
@pytest.mark.parametrize("manager", ["test", "scale"])
def test_scale_takes_the_replicas_from_the_parents_owner(before: str, after: str, manager: str) -> None:
    result = parent([entry("test", BOTH, before)], [entry(manager, REPLICAS, after, SCALE, "scale")])
    assert len(result) == 2
    assert entry("test", SELECTOR, before) in result
    assert entry(manager, REPLICAS, after, subresource="scale") in result


def test_owner_of_replicas_alone_loses_its_entry() -> None:
    scale = entry("scale", REPLICAS, "Update", SCALE, "scale")
    assert parent([entry("test", REPLICAS)], [scale]) == [entry("scale", REPLICAS, "Update", subresource="scale")]


@pytest.mark.parametrize("operation", ["Apply", "Update"])
def test_owner_that_still_owns_the_replicas_keeps_its_entry(operation: str) -> None:
    known = [entry("test", BOTH, operation)]
    assert parent(known, to_scale(known, MAPPINGS)) == known


def test_scale_entries_that_do_not_own_the_replicas_are_left_out() -> None:
    scale = entry("scale", {"f:status": {"f:replicas": {}}}, "Update", SCALE, "scale")
    assert parent([entry("test", SELECTOR)], [scale]) == [entry("test", SELECTOR)]


def test_entries_of_unknown_versions_are_dropped() -> None:
    scale = [entry("test", REPLICAS, version=SCALE)]
    assert parent([entry("test", REPLICAS), entry("x", SELECTOR, version="apps/v10")], scale) == [
        entry("test", REPLICAS)
    ]


def test_entries_of_versions_without_scale_are_kept() -> None:
    known = entry("x", REPLICAS, version="apps/none")
    assert parent([known], []) == [known]


def test_new_entries_speak_of_the_replicas_as_their_version_does() -> None:
    scale = [entry("scale", REPLICAS, "Update", SCALE, "scale")]
    result = to_parent([], scale, api_version=OLD, mappings=MAPPINGS)
    assert result == [entry("scale", {"f:spec": {"f:count": {}}}, "Update", OLD, "scale")]


@pytest.mark.parametrize("dotted", [".spec.replicas", "spec.replicas"])
def test_dotted_paths_become_elements(dotted: str) -> None:
    assert path_elements(dotted) == ("f:spec", "f:replicas")
