"""Tables and partial metadata."""

import datetime as dt
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampan.wire.json import encode
from sampan.wire.partial import partial_bytes
from sampan.wire.table import (
    NO_HEADERS,
    PlainColumn,
    column_definitions,
    row,
    row_with_metadata,
    scale_table,
    table_bytes,
)

COLUMNS = (PlainColumn("Name", "string", "the name", "name"), PlainColumn("Node", "string", "where", priority=1))
CONFIG_MAP = encode(
    {
        "kind": "ConfigMap",
        "apiVersion": "v1",
        "metadata": {"name": "a", "labels": {"x": "y"}},
        "data": {"metadata": "no"},
    }
)


def test_columns_are_defined_with_all_their_fields() -> None:
    assert orjson.loads(column_definitions(COLUMNS)) == [
        {"name": "Name", "type": "string", "format": "name", "description": "the name", "priority": 0},
        {"name": "Node", "type": "string", "format": "", "description": "where", "priority": 1},
    ]


def test_a_column_without_a_name_has_no_definition() -> None:
    assert column_definitions((*COLUMNS, PlainColumn("", "string", ""))) == column_definitions(COLUMNS)


def test_table_has_columns_rows_and_list_metadata() -> None:
    rows = [row_with_metadata(["a", None], CONFIG_MAP), row(["b", 5], CONFIG_MAP), row(["c", True], None)]
    table = orjson.loads(table_bytes(column_definitions(COLUMNS), rows, {"resourceVersion": "7", "continue": "t"}))
    partial = {
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": {"name": "a", "labels": {"x": "y"}},
    }
    assert table == {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": {"resourceVersion": "7", "continue": "t"},
        "columnDefinitions": orjson.loads(column_definitions(COLUMNS)),
        "rows": [
            {"cells": ["a", None], "object": partial},
            {"cells": ["b", 5], "object": orjson.loads(CONFIG_MAP)},
            {"cells": ["c", True], "object": None},
        ],
    }


def test_later_events_of_a_watch_have_no_columns() -> None:
    assert orjson.loads(table_bytes(NO_HEADERS, [], {}))["columnDefinitions"] is None


def test_v1beta1_tables_have_their_api_version() -> None:
    table = orjson.loads(table_bytes(b"[]", [row_with_metadata([], CONFIG_MAP, BETA)], {}, BETA))
    assert (table["apiVersion"], table["rows"][0]["object"]["apiVersion"]) == (BETA, BETA)


BETA = "meta.k8s.io/v1beta1"


@pytest.mark.parametrize(
    ("value", "metadata"),
    [
        (b'{"metadata":{"name":"a"},"spec":{"metadata":{}}}', {"name": "a"}),
        (
            b'{"spec":{"metadata":{"name":"b"}},"metadata":{"name":"a","labels":{"k":"{\\"}"}}}',
            {"name": "a", "labels": {"k": '{"}'}},
        ),
        (b'{"kind":"X"}', {}),
    ],
)
def test_metadata_is_extracted_from_the_bytes(value: bytes, metadata: dict[str, Any]) -> None:
    assert orjson.loads(partial_bytes(value))["metadata"] == metadata


@given(
    st.dictionaries(
        st.sampled_from(["kind", "spec", "metadata", "data"]),
        st.recursive(
            st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
            lambda inner: st.dictionaries(st.sampled_from(["metadata", "a", '"']), inner, max_size=3),
            max_leaves=6,
        ),
        max_size=4,
    )
)
def test_extraction_agrees_with_full_decoding(value: dict[str, Any]) -> None:
    assert orjson.loads(partial_bytes(encode(value)))["metadata"] == value.get("metadata", {})


@pytest.mark.parametrize("version", ["meta.k8s.io/v1", "meta.k8s.io/v1beta1"])
def test_partial_object_has_the_requested_api_version(version: str) -> None:
    found = orjson.loads(partial_bytes(CONFIG_MAP, version))
    assert (found["kind"], found["apiVersion"]) == ("PartialObjectMetadata", version)


class StoppedClock:
    def now(self) -> dt.datetime:
        return dt.datetime(2020, 1, 1, 0, 5, tzinfo=dt.UTC)


def test_scale_has_a_table() -> None:
    scale = {
        "kind": "Scale",
        "metadata": {"name": "web", "creationTimestamp": "2020-01-01T00:00:00Z", "resourceVersion": "9"},
        "spec": {"replicas": 3},
        "status": {"replicas": 2},
    }
    table = orjson.loads(scale_table(scale, StoppedClock()))
    assert table["rows"][0]["cells"] == ["web", 3, 2, "5m"]
    assert table["metadata"] == {"resourceVersion": "9"}
    assert [column["name"] for column in table["columnDefinitions"]] == ["Name", "Desired", "Available", "Age"]
