"""Encoding of watch events: one frame for each event and representation, which all watchers share.

Source: apiserver pkg/endpoints/handlers/watch.go (1.36).
"""

import asyncio
from collections.abc import Callable, Hashable
from functools import partial
from typing import Any, Final, NamedTuple

from sampan.core import errors
from sampan.registry.endpoint import Endpoint
from sampan.server.verbs.representations.messages import Messages
from sampan.server.verbs.representations.pieces import PIECE_BYTES
from sampan.server.verbs.representations.respond import include_object
from sampan.server.verbs.representations.tables import RowCache, Tabler
from sampan.server.verbs.scope import RequestScope
from sampan.storage.records import CacheEvent
from sampan.wire import json as wire_json
from sampan.wire import protobuf as wire_protobuf
from sampan.wire.negotiation import MediaType
from sampan.wire.partial import partial_bytes

_TABLE_PIECE_BYTES: Final = 32 << 10
"""Each object is decoded for its cells."""
Frame = Callable[[str, CacheEvent], bytes]


class Framer(NamedTuple):
    """Encoder of the events of one watch."""

    frame: Frame
    form: Hashable | None
    """Key of the form: watches with equal keys share frames. None: frames are not shared."""
    first: Frame | None = None
    """Encoder of the first event, if it differs: only the first Table has definitions of the columns."""
    piece_bytes: int = PIECE_BYTES
    """Size of the objects that are encoded at once: a few milliseconds."""


def error_frame(error: errors.StatusError, media: MediaType | None) -> bytes:
    """Return the last event of a watch that ends with an error."""
    return _frame("ERROR", error.to_status(), media)


def _frame(kind: str, obj: dict[str, Any], media: MediaType | None) -> bytes:
    if media is not None and media.format == "protobuf":
        return wire_protobuf.encode_watch_event(kind, wire_protobuf.encode(obj))
    return wire_json.encode({"type": kind, "object": obj}) + b"\n"


def framer(scope: RequestScope, media: MediaType | None) -> Framer:
    """Return the encoder for this watch. Frames are cached with the event, for all watches of the same form."""
    endpoint = scope.endpoint
    if media is not None and media.format == "protobuf":
        return _message_framer(Messages(endpoint, media, scope.shared.messages))
    if media is not None and media.transform == "Table":
        tabler = Tabler(endpoint, include_object(scope.request), media.api_version)
        return _table_framer(tabler, scope.shared.rows)
    if media is not None and media.transform.startswith("PartialObjectMetadata"):
        meta_version = media.api_version
        return _shared(("partial", meta_version), lambda event: partial_bytes(event.record.value, meta_version))
    if endpoint.is_stored_version:
        return _shared("", lambda event: event.record.value)
    return _shared(endpoint.api_version, lambda event: endpoint.value_of(event.record.value))


def _shared(form: Hashable, render: Callable[[CacheEvent], bytes]) -> Framer:
    def frame(kind: str, event: CacheEvent) -> bytes:
        key = (kind, form)
        found = event.frames.get(key)
        if found is None:
            found = event.frames[key] = _event(kind, render(event))
        return found

    return Framer(frame, form)


def _event(kind: str, obj: bytes) -> bytes:
    return b'{"type":"%b","object":%b}\n' % (kind.encode(), obj)


def _message_framer(messages: Messages) -> Framer:
    form = ("protobuf", messages.api_version, messages.kind)

    def frame(kind: str, event: CacheEvent) -> bytes:
        key = (kind, form)
        found = event.frames.get(key)
        if found is None:
            enveloped = messages.enveloped(event.record)
            found = event.frames[key] = wire_protobuf.encode_watch_event(kind, enveloped)
        return found

    return Framer(frame, form)


def _table_framer(tabler: Tabler, rows: RowCache) -> Framer:
    """Watches share rows for a second, not frames: these have ages of objects."""
    time = asyncio.get_running_loop().time

    def frame(kind: str, event: CacheEvent, *, headers: bool = False) -> bytes:
        # A deselected object has the revision of the change that deselected it, but its state before.
        cache = rows if kind != "DELETED" else None
        return _event(kind, tabler.table_of(event.record, cache, time(), headers=headers))

    return Framer(frame, None, partial(frame, headers=True), _TABLE_PIECE_BYTES)


def bookmarker(endpoint: Endpoint, media: MediaType | None) -> Callable[[int, bool], bytes]:
    """Return the encoder of bookmarks: objects with only their type and a resourceVersion."""
    kind, api_version = endpoint.definition.kind, endpoint.api_version
    if media is not None and media.transform == "Table":
        kind, api_version = "Table", media.api_version
    elif media is not None and media.transform:
        kind, api_version = "PartialObjectMetadata", media.api_version

    def bookmark(revision: int, initial_end: bool) -> bytes:
        metadata: dict[str, object] = {"resourceVersion": str(revision)}
        if initial_end:
            metadata["annotations"] = {"k8s.io/initial-events-end": "true"}
        obj: dict[str, object] = {"kind": kind, "apiVersion": api_version, "metadata": metadata}
        if kind == "Table":
            partial = {"kind": "PartialObjectMetadata", "apiVersion": api_version, "metadata": metadata}
            obj["metadata"] = {"resourceVersion": str(revision)}
            obj |= {"columnDefinitions": None, "rows": [{"cells": [], "object": partial}]}
        return _frame("BOOKMARK", obj, media)

    return bookmark
