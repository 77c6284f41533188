"""Splits the body of a list into the JSON of its items, without decoding them."""

from typing import Final

import msgspec

from sampan.client.errors import TransportError
from sampan.client.watching.list_watch import RawList
from sampan.wire.json import UNREADABLE


class _ListMeta(msgspec.Struct, rename="camel"):
    resource_version: str = ""
    continue_: str = msgspec.field(default="", name="continue")
    remaining_item_count: int | None = None


class _List(msgspec.Struct, rename="camel"):
    kind: str = ""
    api_version: str = ""
    metadata: _ListMeta = msgspec.field(default_factory=_ListMeta)
    items: list[msgspec.Raw] | None = None


_decoder: Final = msgspec.json.Decoder(_List)
_TYPED: Final = (b'{"kind":', b'{"apiVersion":')


def split_list(body: bytes) -> RawList:
    """Return the items of a list. They are copies, so that the body can be freed while some of them are in use.

    Servers omit `apiVersion` and `kind` of items of built-in kinds. They are derived from those of the list, as in
    client-go (apimachinery unstructured `UnstructuredList`). Splitting holds the interpreter's lock (600 MB/s), so a
    thread would not keep the event loop responsive.

    Raises `TransportError` if the body is not a list.
    """
    try:
        found = _decoder.decode(body)
    except UNREADABLE as error:
        raise TransportError(f"cannot decode list: {error}", sent=True) from None
    if not found.kind or found.kind == "Status":
        raise TransportError(f"expected a list, got {found.kind or 'an object without a kind'}", sent=True)
    prefix = _type_of_items(found)
    return RawList(
        [item if (item := bytes(raw)).startswith(_TYPED) else _with_type(prefix, item) for raw in found.items or ()],
        found.metadata.resource_version,
        found.metadata.continue_,
        found.metadata.remaining_item_count,
    )


def _type_of_items(found: _List) -> bytes:
    kind = found.kind.removesuffix("List")
    if kind in ("", found.kind):
        return b""
    return msgspec.json.encode({"apiVersion": found.api_version, "kind": kind})[:-1]


def _with_type(prefix: bytes, item: bytes) -> bytes:
    """Return the item with the type inserted first. If the item contains a type later, decoders use that one."""
    if not prefix:
        return item
    rest = item[1:]
    return prefix + (b"" if rest.lstrip().startswith(b"}") else b",") + rest
