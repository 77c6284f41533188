"""Tables and metadata-only forms of stored bytes, for one endpoint and one `includeObject` policy."""

from typing import Any

from sampan.registry.columns import DEFAULT_COLUMNS
from sampan.registry.definition import Column
from sampan.registry.endpoint import Endpoint
from sampan.storage.encoding import decode
from sampan.wire.table import NO_HEADERS, column_definitions, row, row_with_metadata, table_bytes


class Tabler:
    """Makes rows out of objects. The version's own columns, or Name and Age."""

    __slots__ = ("_columns", "_definitions", "_include")

    def __init__(self, endpoint: Endpoint, include_object: str) -> None:
        columns = endpoint.version.columns
        self._columns: tuple[Column, ...] = columns() if columns is not None else DEFAULT_COLUMNS
        self._definitions = column_definitions(self._columns)
        self._include = include_object

    def row(self, value: bytes) -> bytes:
        """A table row for an object given as JSON of the endpoint's version."""
        obj: Any = decode(value)
        cells = [column.cell(obj) for column in self._columns]
        if self._include == "Object":
            return row(cells, value)
        return row_with_metadata(cells, value) if self._include == "Metadata" else row(cells, None)

    def table(self, values: list[bytes], list_metadata: dict[str, Any], *, headers: bool = True) -> bytes:
        """A whole Table."""
        definitions = self._definitions if headers else NO_HEADERS
        return table_bytes(definitions, [self.row(value) for value in values], list_metadata)
