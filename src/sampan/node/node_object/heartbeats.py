"""`Heartbeats`: registers nodes, and renews their Leases and their status.

Concurrency: one task for all nodes. A round of leases takes as long as their period, so that many nodes spread their
requests over it. At most `_CONCURRENT_MAX` requests run at the same time.
Source: kubelet pkg/kubelet/kubelet_node_status.go, component-helpers apimachinery/lease/controller.go (1.36).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol

from sampan.client import AlreadyExists, Client, ClientError, MergePatch, NotFound, StrategicMergePatch
from sampan.component_base.resources import LEASES, NODES
from sampan.core.event_loop.background import background
from sampan.core.time import Clock, format_micro_time, format_time
from sampan.kinds import coordination_v1, core_v1, meta_v1
from sampan.node.admission.node_state import NodeState
from sampan.node.garbage.images import ImageInStore, reported
from sampan.node.node_object.claim import LEASE_DURATION_S, LEASE_NAMESPACE, NodeClaim
from sampan.node.node_object.content import KubeletAddress, NodeShape, conditions, new_node, node_status
from sampan.node.pods.status import REPLACE
from sampan.resource import meta

RENEW_S: Final = 10.0
STATUS_S: Final = 300.0
_CONCURRENT_MAX: Final = 16
_RETRY_S: Final = 1.0

_log = logging.getLogger("sampan.node")


@dataclass(frozen=True, slots=True)
class HeartbeatNode:
    """Node of this process."""

    name: str
    number: int
    host_ip: str


class HealthSource(Protocol):
    """State of the software that runs a node's containers."""

    @property
    def version(self) -> str:
        """Name and version, for the node's status."""
        ...

    @property
    def handlers(self) -> Sequence[core_v1.NodeRuntimeHandler]:
        """Handlers with their features, for the node's status."""
        ...

    @property
    def problem(self) -> str:
        """Reason why the node is not ready; empty for a node that is."""
        ...

    async def changed(self) -> None:
        """Wait for a change."""
        ...


class Heartbeats:
    """Registers nodes, then keeps them alive. Every replica runs it, unless the nodes belong to the leader."""

    needs_leader_election = False

    def __init__(
        self,
        client: Client,
        members: Sequence[HeartbeatNode],
        *,
        shape: NodeShape,
        clock: Clock,
        serving: Callable[[], Awaitable[KubeletAddress]] | None = None,
        claim: NodeClaim | None = None,
        health: HealthSource | None = None,
        images: Callable[[], Awaitable[Sequence[ImageInStore]]] | None = None,
        state: NodeState | None = None,
    ) -> None:
        """`serving` waits for the nodes' server and returns its address; None if the nodes have no server.

        `claim`: claim to the only node, which must be obtained first; None if no other agent can have the nodes' names.
        `health`: of the only node's runtime; None for a runtime that cannot fail. `images`: of the same runtime, for
        the status; raises `OSError`. None if the status does not list images. `state`: of the only node.
        """
        self._health = health
        self._images = images
        self._state = state
        self._nodes = client.resource(NODES)
        self._leases = client.resource(LEASES, namespace=LEASE_NAMESPACE)
        self._members = members
        self._shape = shape
        self._serving = serving
        self._server: KubeletAddress | None = None
        self._clock = clock
        self._claim = claim
        self.renewed = True
        """If False, the nodes are registered, but their leases and status are not renewed."""
        self.renew_s = RENEW_S
        """Seconds between two renewals of a lease."""
        self._uids: dict[str, str] = {}
        self._registered = asyncio.Event()

    def __str__(self) -> str:
        return "node heartbeats"

    async def registered(self) -> None:
        """Wait until all nodes are registered."""
        await self._registered.wait()

    async def run(self) -> None:
        """Register the nodes, then renew leases and status until cancelled. Raises `NodeTaken`."""
        if self._serving is not None:
            self._server = await self._serving()
        if self._claim is None:
            await self._beat()
            return
        try:
            await self._claim.obtain()
            await self._beat()
        finally:
            self._claim.release()

    async def _beat(self) -> None:
        await self._together(self._register)
        await self._together(self._renew)
        self._registered.set()
        _log.info("registered nodes", extra={"nodes": len(self._members)})
        loop = asyncio.get_running_loop()
        if not self.renewed:
            await loop.create_future()
        status_at = loop.time() + STATUS_S
        async with asyncio.TaskGroup() as tasks:
            if self._health is not None:
                tasks.create_task(self._follow(self._health.changed), name="health of the node")
            if self._state is not None:
                tasks.create_task(self._follow(self._state.changed), name="state of the node")
            while True:
                await self._round(tasks)
                if loop.time() >= status_at:
                    status_at += STATUS_S
                    await self._together(self._report_status)

    async def _follow(self, changed: Callable[[], Awaitable[None]]) -> None:
        """Write the node's status now and after each change of the runtime's health."""
        while True:
            await self._together(self._report_status)
            await changed()

    async def _round(self, tasks: asyncio.TaskGroup) -> None:
        """Renew each lease once. The renewals are spread over one period."""
        pause_s = self.renew_s / max(1, len(self._members))
        for member in self._members:
            with background():
                await asyncio.sleep(pause_s)
            tasks.create_task(self._attempt(self._renew, member), name=f"lease of {member.name}")

    async def _together(self, act: Callable[[HeartbeatNode], Awaitable[None]]) -> None:
        """Run an action for all nodes, with bounded concurrency, and retry it for each node until it succeeds."""
        slots = asyncio.Semaphore(_CONCURRENT_MAX)

        async def insist(member: HeartbeatNode) -> None:
            async with slots:
                while True:
                    if await self._attempt(act, member):
                        return
                    await asyncio.sleep(_RETRY_S)

        async with asyncio.TaskGroup() as tasks:
            for member in self._members:
                tasks.create_task(insist(member), name=f"heartbeat of {member.name}")

    async def _attempt(self, act: Callable[[HeartbeatNode], Awaitable[None]], member: HeartbeatNode) -> bool:
        try:
            await act(member)
        except ClientError as error:
            _log.warning("cannot update node %s, retrying: %s", member.name, error)
            return False
        return True

    async def _register(self, member: HeartbeatNode) -> None:
        """Create the Node. If it exists, update its labels and status."""
        now = format_time(self._clock.now())
        node = new_node(member.name, member.number, self._shape_now(), where=self._where(member), now=now)
        node["status"]["conditions"] = self._conditions(now, [])
        try:
            created = await self._nodes.create(node)
        except AlreadyExists:
            await self._correct_labels(member, node["metadata"]["labels"])
            await self._report_status(member)
        else:
            self._uids[member.name] = meta(created).uid

    async def _correct_labels(self, member: HeartbeatNode, labels: dict[str, str]) -> None:
        """Set the labels that describe the node, if they differ: another runtime may have registered it."""
        try:
            present = meta(await self._nodes.get(member.name)).labels
            stale = {name: value for name, value in labels.items() if present.get(name) != value}
            if stale:
                await self._nodes.patch(member.name, MergePatch({"metadata": {"labels": stale}}))
        except NotFound:
            return

    async def _report_status(self, member: HeartbeatNode) -> None:
        """Write the node's status. A Node that was deleted is not created again until the agent restarts."""
        try:
            node = await self._nodes.get(member.name)
        except NotFound:
            return
        self._uids[member.name] = meta(node).uid
        status = node_status(member.name, self._where(member), self._shape_now())
        now = format_time(self._clock.now())
        before = node.get("status")
        status["conditions"] = self._conditions(now, (before.get("conditions") if before else None) or [])
        if self._images is not None:
            with contextlib.suppress(OSError):
                status["images"] = reported(await self._images())
        if before and before.get("addresses"):
            status["addresses"] = [REPLACE, *status["addresses"]]
        await self._nodes.status.patch(member.name, StrategicMergePatch({"status": status}))

    def _conditions(self, now: str, before: list[core_v1.NodeCondition]) -> list[core_v1.NodeCondition]:
        """Return the conditions for the state of the runtime and of the node."""
        problems = [each.problem for each in (self._health, self._state) if each is not None and each.problem]
        problem = f"[{', '.join(problems)}]" if len(problems) > 1 else "".join(problems)
        pressures = self._state.pressures if self._state is not None else frozenset()
        network = self._state.network_problem if self._state is not None else None
        policies = self._state.policy_problem if self._state is not None else None
        return conditions(now, before, problem=problem, pressures=pressures, network=network, policies=policies)

    def _shape_now(self) -> NodeShape:
        """Return the shape of the Node with the runtime's version and handlers, once the runtime has responded."""
        health = self._health
        if health is None:
            return self._shape
        return replace(self._shape, runtime_version=health.version, runtime_handlers=health.handlers)

    def _where(self, member: HeartbeatNode) -> KubeletAddress:
        return self._server or KubeletAddress(member.host_ip)

    async def _renew(self, member: HeartbeatNode) -> None:
        """Renew the lease, or create it."""
        renewed = format_micro_time(self._clock.now())
        try:
            lease = await self._leases.patch(member.name, MergePatch({"spec": {"renewTime": renewed}}))
        except NotFound:
            await self._create_lease(member, renewed)
            return
        if self._claim is not None:
            self._claim.check(lease)
            if not meta(lease).owner_references:
                await self._own_lease(member)

    async def _create_lease(self, member: HeartbeatNode, renewed: str) -> None:
        owners = self._owners(member)
        if not owners:
            return
        metadata: meta_v1.ObjectMeta = {
            "name": member.name,
            "namespace": LEASE_NAMESPACE,
            "ownerReferences": owners,
        }
        if self._claim is not None:
            metadata["annotations"] = self._claim.annotations
        lease: coordination_v1.Lease = {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": metadata,
            "spec": {"holderIdentity": member.name, "leaseDurationSeconds": LEASE_DURATION_S, "renewTime": renewed},
        }
        try:
            await self._leases.create(lease)
        except AlreadyExists:
            return

    async def _own_lease(self, member: HeartbeatNode) -> None:
        """Write the Node as owner of the Lease, because a claim creates the Lease before the Node."""
        owners = self._owners(member)
        if owners:
            await self._leases.patch(member.name, MergePatch({"metadata": {"ownerReferences": owners}}))

    def _owners(self, member: HeartbeatNode) -> list[meta_v1.OwnerReference]:
        uid = self._uids.get(member.name)
        return [{"apiVersion": "v1", "kind": "Node", "name": member.name, "uid": uid}] if uid is not None else []
