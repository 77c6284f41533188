"""Protobuf form of stored objects. Messages are cached by record, so that lists and watches encode each state once.

Concurrency: used only on the server's loop. A long list is encoded in slices of a few milliseconds.
"""

import asyncio
from collections.abc import Sequence
from typing import Any

from sampan.core.event_loop.offload import LARGE_BYTES, in_thread
from sampan.registry.endpoint import Endpoint
from sampan.storage.encoding import decode
from sampan.storage.records import Record
from sampan.wire import protobuf as wire_protobuf
from sampan.wire.negotiation import MediaType
from sampan.wire.partial import partial_bytes

KEPT_BYTES_MAX = 48 << 20
KEPT_S = 15.0
"""Time for which a message is cached at least after its last use; at most it is twice as long."""
_TURN = 50

MessageKey = tuple[str, Record]


class MessageCache:
    """Cache of messages by form and record. When it is full, it is cleared.

    There are two generations. A message that is used moves to the new one, and the old one is dropped periodically.
    """

    __slots__ = ("_bytes", "_bytes_max", "_messages", "_old", "_old_bytes", "_since")

    def __init__(self, bytes_max: int = KEPT_BYTES_MAX) -> None:
        self._messages: dict[MessageKey, bytes] = {}
        self._old: dict[MessageKey, bytes] = {}
        self._bytes = self._old_bytes = 0
        self._since = 0.0
        """Loop time at which the new generation began."""
        self._bytes_max = bytes_max

    def get(self, key: MessageKey) -> bytes | None:
        """Return the message of a record."""
        found = self._messages.get(key)
        if found is None and self._old and (found := self._old.pop(key, None)) is not None:
            self._old_bytes -= _size(key, found)
            self.put(key, found)
        return found

    def put(self, key: MessageKey, message: bytes) -> None:
        """Add a message."""
        self._bytes += _size(key, message)
        if self._bytes + self._old_bytes > self._bytes_max:
            self._old, self._old_bytes = {}, 0
        if self._bytes > self._bytes_max:
            self._messages, self._bytes = {}, _size(key, message)
        self._messages[key] = message

    def forget_unused(self, now: float) -> None:
        """Drop the messages that were not used in the last `KEPT_S`, after at most twice that time."""
        if now - self._since >= KEPT_S and (self._messages or self._old):
            self._old, self._old_bytes = self._messages, self._bytes
            self._messages, self._bytes = {}, 0
            self._since = now


def _size(key: MessageKey, message: bytes) -> int:
    """Return the size of a message and of its record, which the key references."""
    return len(message) + len(key[1].value)


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
        """Return the object as the body of a response in protobuf."""
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
