"""Registration of both controllers: of volumes, and of the lists of attached volumes in the status of Nodes."""

from typing import Final

from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import (
    CSI_DRIVERS,
    NODES,
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    VOLUME_ATTACHMENTS,
)
from sampan.component_base.views import POD_VIEW
from sampan.controllers.attach_detach.attached_volumes import AttachedVolumes
from sampan.controllers.attach_detach.controller import AttachDetach
from sampan.controllers.attach_detach.indexes import (
    add_indexes,
    node_of_attachment,
    nodes_with_attachments,
    volume_of_claim,
    volumes_of_drivers,
    volumes_of_pods,
    volumes_on_nodes,
)
from sampan.csi.attachments import volume_of
from sampan.operator.builder import Builder

NAME: Final = "persistentvolume-attach-detach-controller"
WORKERS: Final = 4


def set_up(context: ControllerContext) -> None:
    """Register both controllers with the manager."""
    add_indexes(context)
    attached = AttachedVolumes(context)
    (
        Builder(context.manager)
        .named(NAME)
        .for_(PERSISTENT_VOLUMES)
        .watches(VOLUME_ATTACHMENTS, volume_of)
        .watches(PERSISTENT_VOLUME_CLAIMS, volume_of_claim)
        .watches(POD_VIEW, volumes_of_pods(context))
        .watches(NODES, volumes_on_nodes(context))
        .watches(CSI_DRIVERS, volumes_of_drivers(context))
        .with_options(max_concurrent_reconciles=WORKERS)
        .complete(AttachDetach(context, attached))
    )
    (
        Builder(context.manager)
        .named("attached-volumes-controller")
        .watches(VOLUME_ATTACHMENTS, node_of_attachment)
        .watches(NODES, nodes_with_attachments(context))
        .complete(attached)
    )
