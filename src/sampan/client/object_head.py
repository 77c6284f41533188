"""The little of an object's metadata that the client itself needs, read without decoding the rest."""

from typing import Final

import msgspec


class HeadMeta(msgspec.Struct, rename="camel"):
    """Names and versions."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""


class ObjectHead(msgspec.Struct):
    """An object, as far as its names go."""

    kind: str = ""
    metadata: HeadMeta = msgspec.field(default_factory=HeadMeta)


_decoder: Final = msgspec.json.Decoder(ObjectHead)


def object_head(body: bytes | msgspec.Raw) -> ObjectHead:
    """Read it. Raises `UNREADABLE` (`sampan.wire.json`) for what is no object."""
    return _decoder.decode(body)
