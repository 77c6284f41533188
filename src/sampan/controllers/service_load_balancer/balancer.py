"""`NodeBalancer`: publishes addresses of nodes, or of a pool, in the status of Services of type LoadBalancer.

The Service proxy of each node serves published addresses. One request stands for all Services, because a Service
can take an address that another one leaves.

Concurrency: a controller with one worker.
Source: cloud-provider controllers/service/controller.go `syncLoadBalancerIfNeeded` (1.36).
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sampan.client import Conflict, MergePatch, NotFound
from sampan.component_base.context import ControllerContext
from sampan.component_base.load_balancer import LoadBalancerOptions
from sampan.component_base.resources import ENDPOINT_SLICES, SERVICES
from sampan.controllers.service_load_balancer.assignment import AddressPort, Assigner, Assignment
from sampan.controllers.service_load_balancer.facts import (
    BALANCER_NODE_VIEW,
    PORTS_OF_NODES,
    addresses_of,
    answering,
    balanced,
    is_balanced,
    neighbours_of,
    node_ports_of,
    nodes_of_slices,
    on_whole_nodes,
    places_of_slices,
)
from sampan.controllers.service_load_balancer.host_ports import (
    HOST_PORT_INDEX,
    HOST_PORT_POD_VIEW,
    Disputes,
    host_ports_of,
)
from sampan.core.event_loop.time_slices import TimeSlices
from sampan.kinds import core_v1
from sampan.operator.request import Request, Result
from sampan.resource import meta

ALL: Final = Request("", "services")
COMPONENT: Final = "service-controller"
CLEANUP: Final = "service.kubernetes.io/load-balancer-cleanup"
"""Finalizer of Services with a load balancer."""
OWNED: Final = "sampan.dev/load-balancer"
"""Annotation of the Services whose addresses this controller publishes. Other ones are left to their controller."""
BALANCED_INDEX: Final = "load-balancer"
"""Index of Services: `balanced` for those that have, had or want addresses; `node-port` for those with NodePorts."""
SLICE_INDEX: Final = "load-balancer-service"
"""Index of EndpointSlices by their Service."""
SERVERS: Final = "default/kubernetes"
LISTENERS: Final = {SERVERS: "API server", "kube-system/kube-dns": "DNS server"}
"""Services whose endpoints may listen at addresses of nodes."""


SETTLED_S: Final = 1.0
"""Age of a problem that gets an event. The caches of Nodes and Services may be of different times until then."""


@dataclass(slots=True)
class _Problem:
    """Reason why a Service has no address."""

    text: str
    since: float
    is_reported: bool = False


class NodeBalancer:
    """Keeps the status of all Services. Without options, it gives back what it had published."""

    def __init__(self, context: ControllerContext, options: LoadBalancerOptions | None) -> None:
        client = context.manager.client
        self._options = options
        self._services = client.resource(SERVICES, namespace="")
        self._slices = client.resource(ENDPOINT_SLICES, namespace="")
        self._nodes = client.resource(BALANCER_NODE_VIEW)
        self._pods = client.resource(HOST_PORT_POD_VIEW, namespace="")
        self._recorder = context.recorder(COMPONENT)
        self._disputes = Disputes(self._recorder)
        self._problems: dict[str, _Problem] = {}
        """Problem of each Service without addresses, by UID."""

    async def reconcile(self, request: Request) -> Result | None:
        """Publish the addresses of all Services. Raises the first error after it has tried all of them."""
        services = await self._services.by_index(BALANCED_INDEX, "balanced")
        served = [each for each in services if self._options is not None and is_balanced(each)]
        assignments = await self._assign(served) if self._options is not None else {}
        uids = {meta(each).uid for each in served}
        self._problems = {uid: each for uid, each in self._problems.items() if uid in uids}
        errors: list[Exception] = []
        for service in services:
            assignment = assignments.get(_key(service))
            try:
                if assignment is not None:
                    await self._publish(service, assignment)
                elif OWNED in meta(service).annotations:
                    await self._release(service)
            except (Conflict, NotFound):
                continue  # The event of that change queues the request again.
            except Exception as error:
                errors.append(error)
        if errors:
            raise errors[0]
        return Result(SETTLED_S) if any(not each.is_reported for each in self._problems.values()) else None

    async def _assign(self, services: Sequence[core_v1.Service]) -> Mapping[str, Assignment]:
        assert self._options is not None
        nodes = await self._nodes.list()
        reserved: dict[AddressPort, str] = {}
        for node in nodes:
            reserved |= node.used_places()
        for key, name in LISTENERS.items():
            places = places_of_slices(await self._slices.by_index(SLICE_INDEX, key), name)
            reserved |= on_whole_nodes(places | (neighbours_of(places) if key == SERVERS else {}), nodes)
        ports = dict(PORTS_OF_NODES)
        for service in await self._services.by_index(BALANCED_INDEX, "node-port"):
            ports |= node_ports_of(service)
        facts = []
        for service in services:
            is_local = service["spec"].get("externalTrafficPolicy") == "Local"
            pieces = await self._slices.by_index(SLICE_INDEX, _key(service)) if is_local else ()
            facts.append(balanced(service, nodes_of_slices(pieces)))
        pods = host_ports_of(await self._pods.by_index(HOST_PORT_INDEX, HOST_PORT_INDEX), nodes)
        users = {place: f"hostPort of Pod {pod.key}" for place, pod in pods.items()}
        assigner = Assigner(answering(nodes), self._options.pool, reserved, ports, users)
        slices, found = TimeSlices(), {}
        for key, assignment in assigner.steps(facts):
            found[key] = assignment
            await slices.give_way()
        of_node_ports = {place: ports[place.port] for place in pods if place.port in ports}
        self._disputes.report(pods, of_node_ports | assigner.disputed)
        return found

    async def _publish(self, service: core_v1.Service, assignment: Assignment) -> None:
        metadata = meta(service)
        if CLEANUP not in metadata.finalizers or OWNED not in metadata.annotations:
            finalizers = [*(each for each in metadata.finalizers if each != CLEANUP), CLEANUP]
            service = await self._patch(service, finalizers, "true")
        if addresses_of(service) != assignment.addresses:
            ingress: list[core_v1.LoadBalancerIngress] = [
                {"ip": address, "ipMode": "VIP"} for address in assignment.addresses
            ]
            had_addresses = bool(addresses_of(service))
            await self._write_status(service, ingress)
            if ingress and had_addresses:
                self._recorder.normal(service, "UpdatedLoadBalancer", "Updated load balancer with new hosts")
            elif ingress:
                self._recorder.normal(service, "EnsuredLoadBalancer", "Ensured load balancer")
        self._report(service, assignment.problem)

    def _report(self, service: core_v1.Service, problem: str) -> None:
        """Record an event for a problem that stays."""
        uid, now = meta(service).uid, asyncio.get_running_loop().time()
        if not problem:
            self._problems.pop(uid, None)
            return
        known = self._problems.get(uid)
        if known is None or known.text != problem:
            self._problems[uid] = _Problem(problem, now)
        elif not known.is_reported and now >= known.since + SETTLED_S:
            self._recorder.warning(service, "SyncLoadBalancerFailed", f"Error syncing load balancer: {problem}")
            known.is_reported = True

    async def _release(self, service: core_v1.Service) -> None:
        """Remove the addresses of a Service that is none of this controller any more, then its finalizer."""
        if addresses_of(service):
            await self._write_status(service, None)
            self._recorder.normal(service, "DeletedLoadBalancer", "Deleted load balancer")
        await self._patch(service, [each for each in meta(service).finalizers if each != CLEANUP], None)

    async def _patch(self, service: core_v1.Service, finalizers: list[str], owned: str | None) -> core_v1.Service:
        metadata = meta(service)
        change: dict[str, Any] = {
            "uid": metadata.uid,
            "resourceVersion": metadata.resource_version,
            "finalizers": finalizers or None,
            "annotations": {OWNED: owned},
        }
        client = self._services.in_namespace(metadata.namespace)
        return await client.patch(metadata.name, MergePatch({"metadata": change}))

    async def _write_status(self, service: core_v1.Service, ingress: list[core_v1.LoadBalancerIngress] | None) -> None:
        metadata = meta(service)
        change = {"metadata": {"uid": metadata.uid}, "status": {"loadBalancer": {"ingress": ingress}}}
        client = self._services.in_namespace(metadata.namespace)
        await client.status.patch(metadata.name, MergePatch(change))


def _key(service: core_v1.Service) -> str:
    return f"{meta(service).namespace}/{meta(service).name}"
