"""Tests of ControllerRevisions: data, names and numbers."""

from typing import Any

import pytest

from sampan.controllers.workloads.history import (
    data_of,
    has_data,
    in_order,
    number_of,
    revision_hash,
    surplus,
    template_of,
)
from sampan.resource import meta
from sampan.wire import json

TEMPLATE: Any = {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
ANOTHER: Any = {**TEMPLATE, "spec": {}}


def test_a_revision_returns_its_template() -> None:
    revision: Any = {"data": data_of(TEMPLATE)}
    assert revision["data"]["spec"]["template"]["$patch"] == "replace"
    assert template_of(revision) == TEMPLATE


def test_the_order_of_keys_does_not_matter() -> None:
    turned: Any = {"spec": TEMPLATE["spec"], "metadata": TEMPLATE["metadata"]}
    assert has_data({"data": data_of(turned)}, data_of(TEMPLATE))
    assert revision_hash(data_of(turned), 0) == revision_hash(data_of(TEMPLATE), 0)


def test_keys_are_ordered_as_in_go_maps() -> None:
    template: Any = {
        "spec": {"containers": [{"name": "c", "image": "i"}]},
        "metadata": {"labels": {"b": "1", "a": "2"}},
    }
    assert json.encode(data_of(template)) == (
        b'{"spec":{"template":{"$patch":"replace","metadata":{"labels":{"a":"2","b":"1"}},'
        b'"spec":{"containers":[{"image":"i","name":"c"}]}}}}'
    )


@pytest.mark.parametrize(
    ("number", "expected"), [(1 << 53, 1 << 53), ((1 << 53) + 1, 1 << 53), (-(1 << 53) - 1, -(1 << 53)), (True, True)]
)
def test_numbers_are_rounded_to_float64(number: int, expected: int) -> None:
    template: Any = {"spec": {"terminationGracePeriodSeconds": number}}
    spec = data_of(template)["spec"]["template"]["spec"]
    assert repr(spec["terminationGracePeriodSeconds"]) == repr(expected)


def test_a_null_creation_timestamp_equals_an_absent_one() -> None:
    older: Any = {**TEMPLATE, "metadata": {**TEMPLATE["metadata"], "creationTimestamp": None}}
    assert has_data({"data": data_of(older)}, data_of(TEMPLATE))


@pytest.mark.parametrize("data", [None, {}, data_of(ANOTHER)], ids=["none", "empty", "another"])
def test_different_data_do_not_match(data: Any) -> None:
    assert not has_data({"data": data}, data_of(TEMPLATE))


@pytest.mark.parametrize(
    ("image", "collisions", "expected"),
    [("i", 0, "7967547469"), ("i", 1, "7967547468"), ("a&b<c>", 0, "68db84df4f")],
    ids=str,
)
def test_hashes_equal_those_of_kube_controller_manager(image: str, collisions: int, expected: str) -> None:
    template: Any = {**TEMPLATE, "spec": {"containers": [{"name": "c", "image": image}]}}
    assert revision_hash(data_of(template), collisions) == expected


def revision(name: str, number: int, created: str = "2026-01-01T00:00:00Z") -> Any:
    """A revision without data."""
    return {"metadata": {"name": name, "creationTimestamp": created}, "revision": number}


def test_revisions_are_ordered_by_number_then_age_then_name() -> None:
    first, second = revision("z", 1), revision("y", 2, "2025-01-01T00:00:00Z")
    third, fourth = revision("a", 2), revision("b", 2)
    assert [meta(each).name for each in in_order([fourth, third, second, first])] == ["z", "y", "a", "b"]
    without_number: Any = {}
    assert number_of(without_number) == 0


@pytest.mark.parametrize(("limit", "count"), [(0, 3), (1, 2), (3, 0), (5, 0), (-1, 0), (None, 0)], ids=str)
def test_the_oldest_are_surplus(limit: int | None, count: int) -> None:
    old = [revision("a", 1), revision("b", 2), revision("c", 3)]
    assert list(surplus(old, limit)) == old[:count]
