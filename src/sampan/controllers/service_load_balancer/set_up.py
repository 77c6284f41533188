"""Registration of the controllers: of addresses, and of the event at pending Services."""

from collections.abc import Iterable
from typing import Any, Final

from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import ENDPOINT_SLICES, NODES, SERVICES
from sampan.component_base.views import POD_VIEW
from sampan.controllers.service_load_balancer import hints
from sampan.controllers.service_load_balancer.balancer import (
    ALL,
    BALANCED_INDEX,
    LISTENERS,
    OWNED,
    SLICE_INDEX,
    NodeBalancer,
)
from sampan.controllers.service_load_balancer.facts import BALANCER_NODE_VIEW
from sampan.controllers.service_load_balancer.host_ports import HOST_PORT_POD_VIEW, index_host_ports
from sampan.informer.ref import Ref
from sampan.informer.store.indexer import Indexer
from sampan.operator.builder import Builder
from sampan.operator.handlers import MapFunction
from sampan.operator.request import Request

NAME: Final = "load-balancer-addresses"
SERVICE_NAME: Final = "kubernetes.io/service-name"
_OWNED: Final = OWNED.encode()
_LOCAL: Final = b'"externalTrafficPolicy":"Local"'


def set_up(context: ControllerContext) -> None:
    """Register the controllers with the manager."""
    services = context.informer(SERVICES).indexer
    if BALANCED_INDEX not in services.index_names:
        services.add_indexer(BALANCED_INDEX, _kinds)
    builder = Builder(context.manager).named(NAME).watches(SERVICES, lambda ref: (ALL,) if list(_kinds(ref)) else ())
    if context.load_balancer is None:
        hints.set_up(context)
    else:
        slices = context.informer(ENDPOINT_SLICES).indexer
        if SLICE_INDEX not in slices.index_names:
            slices.add_indexer(SLICE_INDEX, _service_of)
        index_host_ports(context)
        builder.watches(ENDPOINT_SLICES, _slice_changed(services)).watches(NODES, _node_changed(context, services))
        builder.watches(POD_VIEW, _pod_changed(context))
    builder.complete(NodeBalancer(context, context.load_balancer))


def _slice_changed(services: Indexer[Any]) -> MapFunction[Any]:
    """Return the map of EndpointSlices: those of Services with local endpoints, and of programs on nodes, matter."""

    def requests(ref: Ref[Any]) -> Iterable[Request]:
        for key in _service_of(ref):
            service = services.get(key)
            if key in LISTENERS or (service is not None and b'"LoadBalancer"' in service.raw and _LOCAL in service.raw):
                return (ALL,)
        return ()

    return requests


def _node_changed(context: ControllerContext, services: Indexer[Any]) -> MapFunction[Any]:
    """Return the map of Nodes. Most updates of a Node are heartbeats, which change nothing."""
    nodes = context.informer(NODES).indexer
    known: dict[str, object] = {}

    def requests(ref: Ref[Any]) -> Iterable[Request]:
        node = BALANCER_NODE_VIEW.decode(ref.raw)
        is_there = nodes.get(ref.name) is not None
        addresses = node.public_addresses(), node.addresses
        facts = is_there and (node.is_usable, node.is_chosen, addresses, node.used_places())
        if known.get(ref.name) == facts:
            return ()
        known[ref.name] = facts
        if not is_there:
            del known[ref.name]
        return (ALL,) if services.by_index(BALANCED_INDEX, "balanced") else ()

    return requests


def _pod_changed(context: ControllerContext) -> MapFunction[Any]:
    """Return the map of Pods: those with ports of their node matter when they get a node, and when they end."""
    pods = context.informer(POD_VIEW).indexer
    known: dict[str, object] = {}

    def requests(ref: Ref[Any]) -> Iterable[Request]:
        if b'"hostPort"' not in ref.raw:
            return ()
        key = f"{ref.namespace}/{ref.name}"
        pod = HOST_PORT_POD_VIEW.decode(ref.raw)
        facts = (pod.metadata.uid, pod.spec.node_name, pod.ports()) if pods.get(key) is not None else None
        if known.get(key) == facts:
            return ()
        known[key] = facts
        if facts is None:
            del known[key]
        return (ALL,)

    return requests


def _kinds(ref: Ref[Any]) -> Iterable[str]:
    """Index function of `BALANCED_INDEX`."""
    if b'"LoadBalancer"' in ref.raw or _OWNED in ref.raw:
        yield "balanced"
    if b'"nodePort"' in ref.raw:
        yield "node-port"


def _service_of(ref: Ref[Any]) -> Iterable[str]:
    """Index function of `SLICE_INDEX`."""
    name = ref.labels.get(SERVICE_NAME)
    return (f"{ref.namespace}/{name}",) if name else ()
