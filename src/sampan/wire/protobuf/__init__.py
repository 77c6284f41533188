"""Encode built-in types as Kubernetes' protobuf, and decode them, from and to their JSON form."""

from sampan.wire.protobuf.envelope import (
    LIST_END,
    MEDIA_TYPE,
    decode,
    encode,
    encode_bare,
    encode_watch_event,
    envelope,
    list_head,
    list_items,
    supports,
)

__all__ = [
    "LIST_END",
    "MEDIA_TYPE",
    "decode",
    "encode",
    "encode_bare",
    "encode_watch_event",
    "envelope",
    "list_head",
    "list_items",
    "supports",
]
