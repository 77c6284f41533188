"""Index of VolumeAttachments by their volume, and their Node. This module does not import gRPC."""

from collections.abc import Iterable
from typing import Any, Final

import msgspec

from sampan.informer.ref import Ref
from sampan.informer.shared_informer import SharedInformer
from sampan.operator.request import Request
from sampan.resource.view import view_decoder

VOLUME_INDEX: Final = "volume"
"""Index of VolumeAttachments by their PersistentVolume."""


class _Source(msgspec.Struct, rename="camel", gc=False):
    persistent_volume_name: str = ""


class _Spec(msgspec.Struct, rename="camel", gc=False):
    node_name: str = ""
    source: _Source = msgspec.field(default_factory=_Source)


class _Attachment(msgspec.Struct, gc=False):
    spec: _Spec


_attachment = view_decoder(_Attachment)


def index_by_volume(informer: SharedInformer[Any]) -> None:
    """Add the index to the informer of VolumeAttachments, unless it has it already."""
    if VOLUME_INDEX not in informer.indexer.index_names:
        informer.indexer.add_indexer(VOLUME_INDEX, _volume_name)


def volume_of(ref: Ref[Any]) -> Iterable[Request]:
    """Return the volume of a VolumeAttachment. Empty for an inline volume."""
    return [Request("", name) for name in _volume_name(ref)]


def node_name_of(ref: Ref[Any]) -> str:
    """Return the name of the Node of a VolumeAttachment."""
    return _attachment(ref.raw).spec.node_name


def _volume_name(ref: Ref[Any]) -> Iterable[str]:
    name = _attachment(ref.raw).spec.source.persistent_volume_name
    return (name,) if name else ()
