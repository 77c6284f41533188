"""Protobuf form of stored objects. Messages are cached by record, so that lists and watches encode each state once.

Concurrency: used only on the server's loop. A long list is encoded in slices of a few milliseconds.
"""

import asyncio
from collections.abc import Sequence
from typing import Any

from sampan.core.offload import LARGE_BYTES, in_thread
from sampan.registry.endpoint import Endpoint
from sampan.storage.encoding import decode
from sampan.storage.records import Record
from sampan.wire import protobuf as wire_protobuf
from sampan.wire.negotiation import MediaType
from sampan.wire.partial import partial_bytes

KEPT_BYTES_MAX = 48 << 20
_TURN = 50

MessageKey = tuple[str, Record]


class MessageCache:
    """Cache of messages by form and record. When it is full, it is cleared."""

    __slots__ = ("_bytes", "_kept_bytes_max", "_messages")

    def __init__(self, kept_bytes_max: int = KEPT_BYTES_MAX) -> None:
        self._messages: dict[MessageKey, bytes] = {}
        self._bytes = 0
        self._kept_bytes_max = kept_bytes_max

    def get(self, key: MessageKey) -> bytes | None:
        """Return the message of a record."""
        return self._messages.get(key)

    def put(self, key: MessageKey, message: bytes) -> None:
        """Add a message. Its key references the record, so the size of the record counts too."""
        self._bytes += len(message) + len(key[1].value)
        if self._bytes > self._kept_bytes_max:
            self._messages.clear()
            self._bytes = len(message) + len(key[1].value)
        self._messages[key] = message


class Messages:
    """Encoder of an endpoint's records, either whole or (PartialObjectMetadata) their metadata only."""

    __slots__ = ("_cache", "_endpoint", "_form", "api_version", "kind", "list_kind", "partial")

    def __init__(self, endpoint: Endpoint, media: MediaType, cache: MessageCache) -> None:
        self._endpoint = endpoint
        self._cache = cache
        self.partial = bool(media.transform)
        self.kind, self.list_kind, self.api_version = endpoint.definition.kind, endpoint.list_kind, endpoint.api_version
        if self.partial:
            self.kind, self.api_version = "PartialObjectMetadata", media.api_version
            self.list_kind = "PartialObjectMetadataList"
        self._form = f"{self.api_version} {self.kind}"

    def message(self, record: Record) -> bytes:
        """Return the message of a record, without an envelope."""
        key = (self._form, record)
        found = self._cache.get(key)
        if found is None:
            value = (
                partial_bytes(record.value, self.api_version) if self.partial else self._endpoint.value_of(record.value)
            )
            found = wire_protobuf.encode_bare(self.api_version, self.kind, decode(value))
            self._cache.put(key, found)
        return found

    def enveloped(self, record: Record) -> bytes:
        """Return the message of a record in its envelope."""
        return wire_protobuf.envelope(self.api_version, self.kind, self.message(record))

    async def items(self, records: Sequence[Record]) -> bytes:
        """Return the members of a list and the end of the envelope. Yield to other tasks in a long list."""
        messages: list[bytes] = []
        for start in range(0, len(records), _TURN):
            if start:
                await asyncio.sleep(0)
            for record in records[start : start + _TURN]:
                large = len(record.value) >= LARGE_BYTES
                messages.append(await in_thread(self.message, record) if large else self.message(record))
        return wire_protobuf.list_items(self.api_version, self.list_kind, messages) + wire_protobuf.LIST_END

    def list_head(self, metadata: dict[str, Any], items: bytes) -> bytes:
        """Return the bytes before `items`."""
        size_bytes = len(items) - len(wire_protobuf.LIST_END)
        return wire_protobuf.list_head(self.api_version, self.list_kind, metadata, size_bytes)
