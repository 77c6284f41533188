"""The body of a list, split into the JSON of its items; nothing of an item is decoded."""

from typing import Final

import msgspec

from sampan.client.errors import TransportError
from sampan.client.list_watch import RawList
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
    """The items of a list are copies, so that the body can be freed while some of them live on.

    Items of built-in kinds travel without `apiVersion` and `kind`; they get those that the list's own imply, as in
    client-go (apimachinery unstructured `UnstructuredList`). Splitting holds the interpreter's lock (600 MB/s), so a
    thread would not keep the loop free.
    Raises `TransportError` when the body is no list.
    """
    try:
        found = _decoder.decode(body)
    except UNREADABLE as error:
        raise TransportError(f"the server's list cannot be read: {error}", sent=True) from None
    if not found.kind or found.kind == "Status":
        raise TransportError(f"the server answered a list with {found.kind or 'something without a kind'}", sent=True)
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
    """The item with the type before its other fields; should it have its own further back, that one wins."""
    if not prefix:
        return item
    rest = item[1:]
    return prefix + (b"" if rest.lstrip().startswith(b"}") else b",") + rest
