"""HistoryLines of a history: one JSON object for each write, and one for the end."""

from typing import Any, Final

import msgspec

from sampan.core.time import format_milliseconds
from sampan.registry.endpoint import Endpoint
from sampan.registry.rest.recent_writes import RecentWrites, record_of
from sampan.storage.store import RowWrite
from sampan.wire import json as wire_json
from sampan.wire.json import without_deep_parts

_OBJECT: Final = b',"object":'


class _Entry(msgspec.Struct, gc=False):
    manager: str = ""
    time: str | None = None


class _Metadata(msgspec.Struct, gc=False):
    creation: str | None = msgspec.field(name="creationTimestamp", default=None)
    deletion: str | None = msgspec.field(name="deletionTimestamp", default=None)
    managed: list[_Entry] | None = msgspec.field(name="managedFields", default=None)


class _Head(msgspec.Struct, gc=False):
    metadata: _Metadata


_decode: Final = msgspec.json.Decoder(_Head).decode


class HistoryLines:
    """Encoder of writes for one endpoint."""

    def __init__(self, endpoint: Endpoint, recent: RecentWrites) -> None:
        self._endpoint = endpoint
        self._recent = recent

    def joined(self, states: list[tuple[RowWrite, bytes | str]]) -> bytes:
        """Return the lines of writes. A state is the object in the storage version, or the reason why it cannot be
        read.
        """
        return b"".join([self._line(write, state) for write, state in states])

    def _line(self, write: RowWrite, state: bytes | str) -> bytes:
        if isinstance(state, str):
            head = self._head(write, _Metadata()) | {"error": state}
            return wire_json.encode(head)[:-1] + _OBJECT + b"null}\n"
        head = self._head(write, _metadata_of(state))
        return wire_json.encode(head)[:-1] + _OBJECT + self._endpoint.value_of(state).rstrip() + b"}\n"

    def _head(self, write: RowWrite, metadata: _Metadata) -> dict[str, Any]:
        record = record_of(self._recent, write.revision)
        known = _of_object(write, metadata)
        if record is not None:
            known |= {
                "time": format_milliseconds(record.time),
                "user": record.user or None,
                "userAgent": record.user_agent or None,
                "manager": record.manager or known["manager"],
                "traceID": _trace_id(record.traceparent),
            }
        return {"type": type_of(write), "resourceVersion": str(write.revision), **known}


def type_of(write: RowWrite) -> str:
    """Return the type of a write, as in watch events."""
    if write.deleted:
        return "DELETED"
    return "ADDED" if write.revision == write.row.create_revision else "MODIFIED"


def end_line(reason: str, next_before: int) -> bytes:
    """Return the last line. `next_before` continues a page; 0: there is no further write."""
    return wire_json.encode({"type": "END", "reason": reason, "continue": str(next_before or "")}) + b"\n"


def error_line(status: dict[str, Any]) -> bytes:
    """Return the line that ends a history in place of `end_line`, after an error."""
    return wire_json.encode({"type": "ERROR", "object": status}) + b"\n"


def _of_object(write: RowWrite, metadata: _Metadata) -> dict[str, Any]:
    """Return what the object itself shows about a write. For a deletion this is only its time, if it was marked."""
    known: dict[str, Any] = dict.fromkeys(("time", "user", "userAgent", "manager", "traceID"))
    if write.deleted:
        return known | {"time": metadata.deletion}
    newest = max(metadata.managed or (), key=lambda entry: entry.time or "", default=_Entry())
    is_created = write.revision == write.row.create_revision
    return known | {"time": (is_created and metadata.creation) or newest.time, "manager": newest.manager or None}


def _metadata_of(value: bytes) -> _Metadata:
    try:
        return _decode(value).metadata
    except RecursionError:
        return _decode(without_deep_parts(value)).metadata
    except msgspec.ValidationError:  # another program stored this value, and it does not match the schema
        return _Metadata()


def _trace_id(traceparent: str) -> str | None:
    """Return the trace id of a header `traceparent`. Source: W3C Trace Context."""
    parts = traceparent.split("-")
    return parts[1] if len(parts) >= 4 and len(parts[1]) == 32 and parts[1].isalnum() else None
