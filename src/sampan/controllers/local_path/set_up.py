"""Registration of the controllers: of claims, volumes, Nodes, and the StorageClass if it is enabled."""

from collections.abc import Iterable
from typing import Any, Final

from sampan.component_base.context import ControllerContext
from sampan.component_base.local_path import CLASS, PROVISIONER, TO_DELETE
from sampan.component_base.resources import NODES, PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, STORAGE_CLASSES
from sampan.controllers.local_path.deletion import NODE_INDEX, NodeLists, VolumeDeleter, nodes_of_volume
from sampan.controllers.local_path.provisioning import ClaimProvisioner
from sampan.controllers.local_path.storage_class import ONLY, DefaultClass
from sampan.informer.ref import Ref
from sampan.operator.builder import Builder
from sampan.operator.request import Request
from sampan.operator.source import ChannelSource

NAME: Final = "local-path-controller"
_PROVISIONER: Final = PROVISIONER.encode()
_TO_DELETE: Final = TO_DELETE.encode()


def set_up(context: ControllerContext) -> None:
    """Register the controllers with the manager. They have nothing to do without a class of their provisioner."""
    volumes = context.informer(PERSISTENT_VOLUMES).indexer
    if NODE_INDEX not in volumes.index_names:
        volumes.add_indexer(NODE_INDEX, nodes_of_volume)

    def volumes_on(node: Ref[Any]) -> Iterable[Request]:
        return [Request("", ref.name) for ref in volumes.by_index(NODE_INDEX, node.name) if _is_ending(ref)]

    def nodes_with_volumes(node: Ref[Any]) -> Iterable[Request]:
        # Also a Node without such volumes, because its annotation may be left.
        is_concerned = _TO_DELETE in node.raw or any(map(_is_ending, volumes.by_index(NODE_INDEX, node.name)))
        return (Request("", node.name),) if is_concerned else ()

    (
        Builder(context.manager)
        .named(NAME)
        .watches(PERSISTENT_VOLUME_CLAIMS, _claims)
        .watches(STORAGE_CLASSES, lambda ref: _waiting_claims(context) if _PROVISIONER in ref.raw else ())
        .complete(ClaimProvisioner(context))
    )
    (
        Builder(context.manager)
        .named("local-path-volumes")
        .watches(PERSISTENT_VOLUMES, lambda ref: (Request("", ref.name),) if nodes_of_volume(ref) else ())
        .watches(NODES, volumes_on)
        .complete(VolumeDeleter(context))
    )
    (
        Builder(context.manager)
        .named("local-path-nodes")
        .watches(PERSISTENT_VOLUMES, lambda ref: [Request("", name) for name in nodes_of_volume(ref)])
        .watches(NODES, nodes_with_volumes)
        .complete(NodeLists(context))
    )
    if context.local_path_class:
        _keep_class(context)


def _keep_class(context: ControllerContext) -> None:
    start: ChannelSource[Request] = ChannelSource(lambda request: (request,))
    (
        Builder(context.manager)
        .named("local-path-class")
        .watches(STORAGE_CLASSES, lambda ref: (ONLY,) if ref.name == CLASS else ())
        .watches_source(start)
        .complete(DefaultClass(context))
    )
    start.put_nowait(ONLY)


def _claims(ref: Ref[Any]) -> Iterable[Request]:
    return (Request.of_key(ref.key),) if _PROVISIONER in ref.raw and b'"volumeName"' not in ref.raw else ()


def _waiting_claims(context: ControllerContext) -> Iterable[Request]:
    return [each for ref in context.informer(PERSISTENT_VOLUME_CLAIMS).indexer.refs() for each in _claims(ref)]


def _is_ending(volume: Ref[Any]) -> bool:
    return b'"deletionTimestamp"' in volume.raw
