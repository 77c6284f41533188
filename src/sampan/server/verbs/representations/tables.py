"""Tables of stored objects, for one endpoint and one `includeObject` policy. Rows are cached for a second.

Computing the cells of a row from the decoded object is expensive. An age may be a second old, so a cached row serves
all requests in that time.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from sampan.registry.columns import DEFAULT_COLUMNS
from sampan.registry.definition import Column
from sampan.registry.endpoint import Endpoint
from sampan.storage.encoding import decode
from sampan.storage.records import Record
from sampan.wire.partial import META_V1
from sampan.wire.table import NO_HEADERS, column_definitions, row, row_with_metadata, table_bytes

ROW_AGE_MAX_S = 1.0
_ROWS_MAX = 20_000
_ROWS_BYTES_MAX = 32 << 20

RowKey = tuple[str, str, int, str]


class RowCache:
    """Cache of rows by endpoint, key, revision and policy. When it is full, it is cleared."""

    __slots__ = ("_bytes", "_rows")

    def __init__(self) -> None:
        self._rows: dict[RowKey, tuple[float, bytes]] = {}
        self._bytes = 0
        """Size of the rows. Those that were replaced count until the next `forget_unused`."""

    def get(self, key: RowKey, now: float) -> bytes | None:
        """Return the row, unless it is too old."""
        found = self._rows.get(key)
        return found[1] if found is not None and found[0] > now else None

    def put(self, key: RowKey, now: float, made: bytes) -> None:
        """Add a row."""
        self._bytes += len(made)
        if len(self._rows) >= _ROWS_MAX or self._bytes > _ROWS_BYTES_MAX:
            self._rows.clear()
            self._bytes = len(made)
        self._rows[key] = (now + ROW_AGE_MAX_S, made)

    def forget_unused(self, now: float) -> None:
        """Drop the rows that are too old. Threads may add rows meanwhile; those may be lost."""
        if self._rows:
            self._rows = {key: found for key, found in list(self._rows.items()) if found[0] > now}
            self._bytes = sum(len(made) for _, made in list(self._rows.values()))


class Tabler:
    """Converter of objects to rows, with the columns of the version, or the default ones if the type has none."""

    __slots__ = ("_api_version", "_columns", "_conditions", "_definitions", "_endpoint", "_include", "_name")

    def __init__(self, endpoint: Endpoint, include_object: str, api_version: str = META_V1) -> None:
        columns = endpoint.version.columns
        self._endpoint = endpoint
        self._columns: tuple[Column, ...] = columns() if columns is not None else DEFAULT_COLUMNS
        self._conditions = endpoint.definition.row_conditions
        self._definitions = column_definitions(self._columns)
        self._include = include_object
        self._api_version = api_version
        form = f"{api_version} {include_object}"
        self._name = f"{form} {endpoint.api_version} {endpoint.definition.resource} {id(endpoint.version)}"

    def row(self, value: bytes) -> bytes:
        """Return the table row of an object, given as JSON in the endpoint's version."""
        obj: Any = decode(value)
        cells = [column.cell(obj) for column in self._columns]
        conditions = [*(self._conditions(obj) if self._conditions is not None else ()), *_not_observed(obj)]
        if self._include == "Metadata":
            return row_with_metadata(cells, value, self._api_version, conditions)
        return row(cells, value if self._include == "Object" else None, conditions)

    def rows(self, records: Sequence[Record], cache: RowCache, now: float) -> list[bytes]:
        """Return the rows of records in the order of the kind, from the cache if possible."""
        name, value_of, order = self._name, self._endpoint.value_of, self._endpoint.definition.row_order
        if order is not None:
            records = sorted(records, key=lambda record: order(decode(value_of(record.value))))
        result = []
        for record in records:
            key = (name, record.key, record.revision, record.uid)
            made = cache.get(key, now)
            if made is None:
                made = self.row(value_of(record.value))
                cache.put(key, now, made)
            result.append(made)
        return result

    def table_of(self, record: Record, cache: RowCache | None, now: float, *, headers: bool) -> bytes:
        """Return a Table with the row of one object, from the cache if possible."""
        value_of, definitions = self._endpoint.value_of, self._definitions if headers else NO_HEADERS
        rows = [self.row(value_of(record.value))] if cache is None else self.rows([record], cache, now)
        return table_bytes(definitions, rows, {"resourceVersion": str(record.revision)}, self._api_version)

    def table(self, values: list[bytes], list_metadata: dict[str, Any], *, headers: bool = True) -> bytes:
        """Return a whole Table."""
        definitions = self._definitions if headers else NO_HEADERS
        return table_bytes(definitions, [self.row(value) for value in values], list_metadata, self._api_version)

    @property
    def begin(self) -> bytes:
        """Return the part of a Table between its metadata and its rows."""
        return b',"columnDefinitions":%b,"rows":[' % self._definitions

    def joined_rows(self, records: Sequence[Record], cache: RowCache, now: float) -> bytes:
        """Return rows, joined with commas."""
        return b",".join(self.rows(records, cache, now))


def _not_observed(obj: Any) -> Sequence[Mapping[str, str]]:
    """Return the condition of an object whose controller has not seen its last change; empty for all others.

    Kubernetes' Tables lack it. Clients skip conditions that they do not know; the dashboard lists them as problems.
    """
    status = obj.get("status")
    observed = status.get("observedGeneration") if isinstance(status, dict) else None
    generation = obj["metadata"].get("generation")
    if not isinstance(observed, int) or not isinstance(generation, int) or observed >= generation:
        return ()
    message = f"generation {generation} was not observed; the last one is {observed}"
    return ({"type": "Observed", "status": "False", "reason": "GenerationNotObserved", "message": message},)
