"""Tables, the form that `kubectl get` requests: column definitions, and a row of cells for each object.

Rows are built by joining bytes, so a row can be cached with its record and used for every client.
Source: apimachinery pkg/apis/meta/v1/types.go (Table), apiserver pkg/endpoints/handlers/response.go (1.36).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple, Protocol

from sampan.core.time import Clock, SystemClock, age
from sampan.wire.json import encode
from sampan.wire.partial import META_V1, partial_bytes

_SYSTEM_CLOCK: Final = SystemClock()
NO_HEADERS: Final = b"null"
"""Column definitions after the first event of a watch, because the client already has them."""


class ColumnDefinition(Protocol):
    """Definition of a column. `type` and `format` are OpenAPI's; only `-o wide` shows a priority above 0.

    A column without a name has cells but no definition, like the last one of IPAddresses in Kubernetes.
    """

    @property
    def name(self) -> str: ...
    @property
    def type(self) -> str: ...
    @property
    def format(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def priority(self) -> int: ...


def column_definitions(columns: Iterable[ColumnDefinition]) -> bytes:
    """Return `columnDefinitions` as JSON; computed once for a version and used for all its tables."""
    return encode(
        [
            {
                "name": column.name,
                "type": column.type,
                "format": column.format,
                "description": column.description,
                "priority": column.priority,
            }
            for column in columns
            if column.name
        ]
    )


Conditions = Sequence[Mapping[str, str]]


def row(cells: Sequence[Any], object_bytes: bytes | None, conditions: Conditions = ()) -> bytes:
    """Return a row: JSON scalars in column order, and the object (whole, partial, or None) as JSON."""
    extra = b',"conditions":%b' % encode(list(conditions)) if conditions else b""
    shown = b"null" if object_bytes is None else object_bytes
    return b'{"cells":%b%b,"object":%b}' % (encode(cells), extra, shown)


def row_with_metadata(
    cells: Sequence[Any], value: bytes, api_version: str = META_V1, conditions: Conditions = ()
) -> bytes:
    """Return a row with the PartialObjectMetadata of an object given as JSON, which is the default form for clients."""
    return row(cells, partial_bytes(value, api_version), conditions)


def table_bytes(
    definitions: bytes, rows: Iterable[bytes], list_metadata: Mapping[str, Any], api_version: str = META_V1
) -> bytes:
    """Return a Table built from `column_definitions`, rows and the metadata of the list (or of the one object)."""
    return b'{"kind":"Table","apiVersion":"%b","metadata":%b,"columnDefinitions":%b,"rows":[%b]}' % (
        api_version.encode(),
        encode(list_metadata),
        definitions,
        b",".join(rows),
    )


class PlainColumn(NamedTuple):
    """Column as plain data."""

    name: str
    type: str
    description: str
    format: str = ""
    priority: int = 0


_SCALE_DEFINITIONS: Final = column_definitions(
    (
        PlainColumn(
            "Name",
            "string",
            "Name must be unique within a namespace. Is required when creating resources, although some resources may "
            "allow a client to request the generation of an appropriate name automatically. Name is primarily intended "
            "for creation idempotence and configuration definition. Cannot be updated. More info: "
            "https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names",
        ),
        PlainColumn("Desired", "integer", "desired number of instances for the scaled object."),
        PlainColumn("Available", "integer", "actual number of observed instances of the scaled object."),
        PlainColumn("Age", "string", "Time since the object was created."),
    )
)


def scale_table(scale: Mapping[str, Any], clock: Clock = _SYSTEM_CLOCK) -> bytes:
    """Return the Table of one autoscaling Scale, which is computed on demand and has no columns defined elsewhere."""
    metadata = scale.get("metadata") or {}
    cells = [
        metadata.get("name", ""),
        (scale.get("spec") or {}).get("replicas", 0),
        (scale.get("status") or {}).get("replicas", 0),
        age(metadata.get("creationTimestamp"), clock.now()),
    ]
    list_metadata = {"resourceVersion": metadata["resourceVersion"]} if "resourceVersion" in metadata else {}
    return table_bytes(_SCALE_DEFINITIONS, [row_with_metadata(cells, encode(scale))], list_metadata)
