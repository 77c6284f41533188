"""Tables of the server: columns, rows, and the metadata of each object."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sampan.cli.objects.table import cell_text
from sampan.resource import Object, ResourceInfo

ACCEPT = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"


@dataclass(frozen=True, slots=True)
class ShownColumns:
    """Columns to show besides the server's."""

    wide: bool = False
    namespace: bool = False
    labels: bool = False
    label_columns: tuple[str, ...] = ()
    prefix: str = ""
    """Prefix of names: `pod/`."""


def columns(document: Object, shown: ShownColumns) -> list[str]:
    """Return the header."""
    names = [each["name"].upper() for each in _definitions(document, shown)]
    if shown.namespace:
        names.insert(0, "NAMESPACE")
    names += [key.rpartition("/")[2].upper() for key in shown.label_columns]
    return [*names, "LABELS"] if shown.labels else names


def rows(document: Object, shown: ShownColumns) -> Iterator[list[str]]:
    """Yield the texts of the cells of each row, with those of namespace and labels if they are shown."""
    desired = [index for index, _ in _indexed(document, shown)]
    for row in document.get("rows") or []:
        metadata = (row.get("object") or {}).get("metadata") or {}
        labels = metadata.get("labels") or {}
        cells = [cell_text(row["cells"][index]) for index in desired]
        if shown.prefix and cells:
            cells[0] = shown.prefix + cells[0]
        if shown.namespace:
            cells.insert(0, metadata.get("namespace", ""))
        cells += [labels.get(key, "") for key in shown.label_columns]
        if shown.labels:
            cells.append(",".join(f"{key}={value}" for key, value in sorted(labels.items())) or "<none>")
        yield cells


def as_table(document: Object, info: ResourceInfo) -> Object:
    """Return a table of names and ages for a server that sends objects instead (an old aggregated API)."""
    if document.get("kind") == "Table":
        return document
    items: Sequence[Object] = document.get("items", [document])
    return {
        "columnDefinitions": [{"name": "Name", "priority": 0}, {"name": "Created At", "priority": 0}],
        "metadata": document.get("metadata") or {},
        "rows": [
            {"cells": [item["metadata"]["name"], item["metadata"].get("creationTimestamp")], "object": item}
            for item in items
        ],
    }


def _definitions(document: Object, shown: ShownColumns) -> list[Any]:
    return [definition for _, definition in _indexed(document, shown)]


def _indexed(document: Object, shown: ShownColumns) -> Iterator[tuple[int, Any]]:
    for index, definition in enumerate(document.get("columnDefinitions") or []):
        if shown.wide or not definition.get("priority"):
            yield index, definition
