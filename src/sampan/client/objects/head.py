"""Names and versions in an object's metadata, read without decoding the other fields."""

from typing import Final

import msgspec


class HeadMeta(msgspec.Struct, rename="camel"):
    """Names and versions."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""


class ObjectHead(msgspec.Struct):
    """Object reduced to type and names."""

    kind: str = ""
    metadata: HeadMeta = msgspec.field(default_factory=HeadMeta)


_decoder: Final = msgspec.json.Decoder(ObjectHead)


def object_head(body: bytes | msgspec.Raw) -> ObjectHead:
    """Return the head of an object. Raises `UNREADABLE` (`sampan.wire.json`) for malformed JSON."""
    return _decoder.decode(body)
