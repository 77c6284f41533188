"""The body of a list, split into items."""

from typing import Any

import pytest

from sampan.client import TransportError
from sampan.client.watching.raw_list import split_list
from sampan.wire import json
from tests.client.scripted_transport import body, list_body
from tests.unreadable import DEEP, NO_TEXT


def test_items_are_the_bytes_that_came() -> None:
    found = split_list(list_body(body("a", 1), body("b", 2), version=7))
    assert list(found.items) == [body("a", 1), body("b", 2)]
    assert found.resource_version == "7"
    assert all(type(item) is bytes for item in found.items)


def test_a_page_reports_how_to_go_on() -> None:
    metadata: dict[str, Any] = {"continue": "token", "remainingItemCount": 3}
    found = split_list(list_body(body("a", 1), **metadata))
    assert (found.continue_token, found.remaining) == ("token", 3)


ITEMS = {
    "without": b'{"metadata":{"name":"a"}}',
    "empty": b"{}",
    "with space": b'{ "metadata":{"name":"a"}}',
    "kind last": b'{"metadata":{},"apiVersion":"v1","kind":"ConfigMap"}',
    "with": b'{"kind":"ConfigMap","apiVersion":"v1"}',
}


@pytest.mark.parametrize("item", ITEMS.values(), ids=ITEMS.keys())
def test_every_item_reports_its_type(item: bytes) -> None:
    [found] = split_list(list_body(item)).items
    assert json.decode(found) == {**json.decode(item), "apiVersion": "v1", "kind": "ConfigMap"}


def test_an_items_own_type_wins() -> None:
    [found] = split_list(list_body(b'{"metadata":{},"kind":"Secret","apiVersion":"v2"}', kind="List")).items
    assert json.decode(found)["kind"] == "Secret"


def test_a_kind_of_list_that_does_not_report_its_items_kind_leaves_them_alone() -> None:
    [found] = split_list(list_body(b'{"metadata":{}}', kind="Shirts")).items
    assert found == b'{"metadata":{}}'


def test_no_items_are_an_empty_list() -> None:
    assert split_list(b'{"kind":"ConfigMapList","metadata":{"resourceVersion":"3"},"items":null}').items == []


@pytest.mark.parametrize(
    "response",
    [
        b"",
        b"<html>",
        b"[]",
        b'{"items":[]}',
        b'{"kind":"Status"}',
        b'{"kind":"L","items":3}',
        b'{"kind":' + NO_TEXT + b"}",
        b'{"kind":"L","items":[' + DEEP + b"]}",
    ],
    ids=["empty", "HTML", "a list", "no kind", "a Status", "no items", "no text", "deep"],
)
def test_a_body_that_is_not_a_list_is_an_error(response: bytes) -> None:
    with pytest.raises(TransportError):
        split_list(response)
