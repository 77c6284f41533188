"""`NodePodCidrs`: passes the pod CIDR of each Node to the allocator of its Pods' addresses.

Without a node-ipam-controller, a node waits for some time, and then chooses a CIDR that no other Node has. Two
processes may choose the same one at the same moment, so run the controller if CIDRs must be unique.
Concurrency: `run` is a task of the manager. It returns when all nodes have their pod CIDRs.
"""

from __future__ import annotations

import asyncio
import logging
import zlib
from collections.abc import Mapping
from ipaddress import IPv4Network
from typing import Any, Final, Protocol

from sampan.client import Client, ClientError, Forbidden, MergePatch
from sampan.component_base.resources import NODES
from sampan.component_base.views import NODE_VIEW
from sampan.core.pods.simulated import POD_CIDRS
from sampan.informer.ref import Deletion, Ref
from sampan.informer.shared_informer import SharedInformer
from sampan.kinds import core_v1
from sampan.node.node_object.heartbeats import HeartbeatNode
from sampan.node.node_object.pod_addresses import pod_cidr, pod_cidr_count

_RETRY_S: Final = 5.0
_UNREGISTERED_S: Final = 0.2

_log = logging.getLogger("sampan.node")


class TakesCidr(Protocol):
    """Object that needs the pod CIDR of a node."""

    @property
    def cidr(self) -> str:
        """Pod CIDR; empty if there is none yet."""
        ...

    def assign(self, cidr: str) -> None:
        """Set the pod CIDR."""
        ...


class NodePodCidrs:
    """Assigns pod CIDRs to address allocators. Every replica runs it, unless the nodes belong to the leader."""

    needs_leader_election = False

    def __init__(
        self,
        client: Client,
        addresses: Mapping[HeartbeatNode, TakesCidr],
        *,
        wait_s: float | None,
        whole: IPv4Network = POD_CIDRS,
    ) -> None:
        """`wait_s`: seconds that a node waits for its pod CIDR before it chooses one; None to wait forever.

        `whole`: range to choose from.
        """
        self._whole = whole
        self._nodes = client.resource(NODES)
        self._addresses = {member.name: given for member, given in addresses.items()}
        self._members = tuple(addresses)
        self._wait_s = wait_s

    def __str__(self) -> str:
        return "node ranges"

    def follow(self, nodes: SharedInformer[Any]) -> None:
        """Follow these Nodes."""
        nodes.add_handler(self)

    def on_add(self, obj: Ref[Any], is_in_initial_list: bool) -> None:
        """Read the pod CIDR of a new Node."""
        self._learn(obj)

    def on_update(self, old: Ref[Any], new: Ref[Any]) -> None:
        """Read the pod CIDR of a changed Node."""
        self._learn(new)

    def on_delete(self, obj: Deletion[Any]) -> None:
        """Do nothing: the agent of a deleted Node keeps its pod CIDR."""

    def _learn(self, ref: Ref[Any]) -> None:
        addresses = self._addresses.get(ref.name)
        if addresses is None:
            return
        cidr = NODE_VIEW.decode(ref.raw).spec.pod_cidr
        if cidr and cidr != addresses.cidr:
            addresses.assign(cidr)

    async def run(self) -> None:
        """Choose pod CIDRs for nodes without one."""
        if self._wait_s is None:
            return
        await asyncio.sleep(self._wait_s)
        while any(not addresses.cidr for addresses in self._addresses.values()):
            pause_s = _RETRY_S
            try:
                if not await self._take():
                    pause_s = _UNREGISTERED_S
            except ClientError as error:
                _log.warning("cannot choose pod CIDRs, retrying: %s", error)
            await asyncio.sleep(pause_s)

    async def _take(self) -> bool:
        """Choose pod CIDRs. Returns False if some nodes are not registered yet."""
        try:
            nodes: list[core_v1.Node] = [*(await self._nodes.list())]
            start = 0
        except Forbidden:
            # A node that has joined may read only itself. Nodes start at different CIDRs, so conflicts are unlikely.
            nodes = [await self._nodes.get(member.name) for member in self._members]
            start = zlib.crc32(self._members[0].name.encode()) % pod_cidr_count(self._whole)
        assigned = {node["metadata"]["name"]: (node.get("spec") or {}).get("podCIDR", "") for node in nodes}
        used = set(assigned.values())
        for member in self._members:
            if assigned.get(member.name) != "" or self._addresses[member.name].cidr:
                continue
            number = (start + member.number) % pod_cidr_count(self._whole)
            while pod_cidr(number, self._whole) in used:
                number += 1
            cidr = pod_cidr(number, self._whole)
            used.add(cidr)
            _log.info("no controller has assigned a pod CIDR to node %s, choosing %s", member.name, cidr)
            await self._nodes.patch(member.name, MergePatch({"spec": {"podCIDR": cidr, "podCIDRs": [cidr]}}))
        return all(member.name in assigned for member in self._members)
