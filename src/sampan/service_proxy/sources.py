"""`Sources`: the informers of a service proxy."""

from dataclasses import dataclass
from typing import Any, Final

from sampan.component_base.pod_networks import RUNTIME_LABEL
from sampan.core.pods.simulated import RUNTIME
from sampan.informer import Scope, SharedInformer, SharedInformerFactory
from sampan.service_proxy.views import NODE_VIEW, SERVICE_CIDR_VIEW, SERVICE_VIEW, SLICE_VIEW

_OURS: Final = "!service.kubernetes.io/service-proxy-name,!service.kubernetes.io/headless"
"""Label selector. It excludes objects of another proxy, and headless ones, whose clients choose an endpoint themselves.
"""


@dataclass(frozen=True, slots=True)
class Sources:
    """Informers of the objects on which the rules of a node depend."""

    services: SharedInformer[Any]
    slices: SharedInformer[Any]
    node: SharedInformer[Any]
    service_cidrs: SharedInformer[Any]
    simulated_nodes: SharedInformer[Any] | None
    """None for a node that has joined: it may read only its own Node."""


def sources_of(informers: SharedInformerFactory, node_name: str, *, reads_nodes: bool = True) -> Sources:
    """Return the informers. They watch only objects that this proxy handles.

    `reads_nodes`: False for the credentials of a node, which may read only its own Node.
    """
    ours = Scope(label_selector=_OURS)
    return Sources(
        informers.informer_for(SERVICE_VIEW, ours),
        informers.informer_for(SLICE_VIEW, ours),
        informers.informer_for(NODE_VIEW, Scope(field_selector=f"metadata.name={node_name}")),
        informers.informer_for(SERVICE_CIDR_VIEW),
        informers.informer_for(NODE_VIEW, Scope(label_selector=f"{RUNTIME_LABEL}={RUNTIME}")) if reads_nodes else None,
    )
