"""Indexes of VolumeAttachments, and the maps from changed objects to the volumes that they concern."""

from collections.abc import Callable, Iterable
from typing import Any, Final

import msgspec

from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, VOLUME_ATTACHMENTS
from sampan.component_base.views import POD_VIEW
from sampan.controllers.volumes.volume_protection import CLAIM_INDEX, claims_of
from sampan.csi.attachments import index_by_volume, node_name_of, volume_of
from sampan.informer.ref import Ref
from sampan.operator.request import Request
from sampan.resource.view import view_decoder

NODE_INDEX: Final = "node"
"""Index of VolumeAttachments by their Node."""

Requests = Callable[[Ref[Any]], Iterable[Request]]


class _ClaimSpec(msgspec.Struct, rename="camel", gc=False):
    volume_name: str = ""


class _Claim(msgspec.Struct, gc=False):
    spec: _ClaimSpec


_claim = view_decoder(_Claim)


def add_indexes(context: ControllerContext) -> None:
    """Add the indexes that the controller needs to the shared informers."""
    index_by_volume(context.informer(VOLUME_ATTACHMENTS))
    for kind, name, function in (
        (VOLUME_ATTACHMENTS, NODE_INDEX, _node_of_attachment),
        (POD_VIEW, CLAIM_INDEX, claims_of),
    ):
        indexer = context.informer(kind).indexer
        if name not in indexer.index_names:
            indexer.add_indexer(name, function)


def _node_of_attachment(ref: Ref[Any]) -> Iterable[str]:
    return (node_name_of(ref),)


def node_of_attachment(ref: Ref[Any]) -> Iterable[Request]:
    """Return the Node of a VolumeAttachment."""
    return (Request("", node_name_of(ref)),)


def volume_of_claim(ref: Ref[Any]) -> Iterable[Request]:
    """Return the volume of a claim; nothing if it has none."""
    name = _claim(ref.raw).spec.volume_name if b'"volumeName"' in ref.raw else ""
    return (Request("", name),) if name else ()


def volumes_of_pods(context: ControllerContext) -> Requests:
    """Return a function that maps a Pod to the volumes of its claims."""
    claims = context.informer(PERSISTENT_VOLUME_CLAIMS).indexer

    def requests(ref: Ref[Any]) -> Iterable[Request]:
        found = [claims.get(key) for key in claims_of(ref)] if b'"nodeName"' in ref.raw else []
        return [request for claim in found if claim is not None for request in volume_of_claim(claim)]

    return requests


def volumes_on_nodes(context: ControllerContext) -> Requests:
    """Return a function that maps a Node to the volumes that are attached to it."""
    attachments = context.informer(VOLUME_ATTACHMENTS).indexer

    def requests(ref: Ref[Any]) -> Iterable[Request]:
        found = attachments.by_index(NODE_INDEX, ref.name)
        return [request for attachment in found for request in volume_of(attachment)]

    return requests


def volumes_of_drivers(context: ControllerContext) -> Requests:
    """Return a function that maps a CSIDriver to the volumes of the driver."""
    volumes = context.informer(PERSISTENT_VOLUMES).indexer

    def requests(ref: Ref[Any]) -> Iterable[Request]:
        name = f'"{ref.name}"'.encode()
        return [Request("", volume.name) for volume in volumes.refs() if name in volume.raw]

    return requests


def nodes_with_attachments(context: ControllerContext) -> Requests:
    """Return a function that maps a Node to itself if it has VolumeAttachments or its status lists attached volumes."""
    attachments = context.informer(VOLUME_ATTACHMENTS).indexer

    def requests(ref: Ref[Any]) -> Iterable[Request]:
        concerned = b'"volumesAttached"' in ref.raw or attachments.index_keys(NODE_INDEX, ref.name)
        return (Request("", ref.name),) if concerned else ()

    return requests
