"""`NodeRanges`: where the addresses of nodes' Pods come from: what their Nodes say, as a controller has told them.

Where nobody tells, a node takes a range for itself after a while: one that no Node has. Two processes that do so at the
same moment may take the same; where ranges matter a node-ipam-controller works.
Concurrency: `run` is a task of the manager's; it ends by itself when all nodes have their ranges.
"""

import asyncio
import logging
from collections.abc import Mapping
from typing import Any, Final

from sampan.client import Client, ClientError, MergePatch
from sampan.informer.ref import Deletion, Ref
from sampan.informer.shared_informer import SharedInformer
from sampan.loops.resources import NODES
from sampan.loops.views import NODE_VIEW
from sampan.node.addresses import PodAddresses, pod_cidr
from sampan.node.heartbeats import Member
from sampan.resource import Object

_RETRY_S: Final = 5.0

_log = logging.getLogger("sampan.node")


class NodeRanges:
    """Tells the addresses of each node its range. Every replica runs it, if its nodes are its own."""

    needs_leader_election = False

    def __init__(self, client: Client, addresses: Mapping[Member, PodAddresses], *, wait_s: float | None) -> None:
        """`wait_s`: how long a node waits for its range before it takes one; None: for ever."""
        self._nodes = client.resource(NODES)
        self._addresses = {member.name: given for member, given in addresses.items()}
        self._members = tuple(addresses)
        self._wait_s = wait_s

    def __str__(self) -> str:
        return "node ranges"

    def follow(self, nodes: SharedInformer[Any]) -> None:
        """Learn from these Nodes."""
        nodes.add_handler(self)

    def on_add(self, obj: Ref[Any], is_in_initial_list: bool) -> None:
        """A Node is there."""
        self._learn(obj)

    def on_update(self, old: Ref[Any], new: Ref[Any]) -> None:
        """A Node has changed."""
        self._learn(new)

    def on_delete(self, obj: Deletion[Any]) -> None:
        """A Node is gone; its agent goes on as it was."""

    def _learn(self, ref: Ref[Any]) -> None:
        addresses = self._addresses.get(ref.name)
        if addresses is None:
            return
        cidr = NODE_VIEW.decode(ref.raw).spec.pod_cidr
        if cidr and cidr != addresses.cidr:
            addresses.assign(cidr)

    async def run(self) -> None:
        """Take ranges for nodes that got none."""
        if self._wait_s is None:
            return
        await asyncio.sleep(self._wait_s)
        while any(not addresses.cidr for addresses in self._addresses.values()):
            try:
                await self._take()
            except ClientError as error:
                _log.warning("no ranges for nodes: %s", error)
            await asyncio.sleep(_RETRY_S)

    async def _take(self) -> None:
        nodes: list[Object] = [*(await self._nodes.list())]
        said = {node["metadata"]["name"]: node.get("spec", {}).get("podCIDR", "") for node in nodes}
        used = set(said.values())
        for member in self._members:
            if said.get(member.name) != "" or self._addresses[member.name].cidr:
                continue
            number = member.number
            while pod_cidr(number) in used:
                number += 1
            cidr = pod_cidr(number)
            used.add(cidr)
            _log.info("nobody gives node %s a range: it takes %s", member.name, cidr)
            await self._nodes.patch(member.name, MergePatch({"spec": {"podCIDR": cidr, "podCIDRs": [cidr]}}))
