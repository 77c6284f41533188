"""The controller that allocates address ranges to Nodes.

A Node's range never changes. The range of a deleted Node is allocated to another Node later. If several processes run
the controller, only the holder of the Lease is active.

Concurrency: allocation does not await, so two workers never get the same range. A handler of the informer marks the
ranges in use.
Source: kubernetes pkg/controller/nodeipam/ipam/range_allocator.go (1.36).
"""

import logging
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from sampan.client import MergePatch, NotFound
from sampan.component_base.context import ControllerContext
from sampan.component_base.pod_networks import RUNTIME_LABEL
from sampan.component_base.resources import NODES
from sampan.controllers.node_ipam.cidr_set import CidrSet
from sampan.core.pods.simulated import RUNTIME as SIMULATED
from sampan.informer.ref import Deletion, Ref
from sampan.operator.builder import Builder
from sampan.operator.request import Request, Result, RetryLater
from sampan.resource import meta
from sampan.resource.view import view_decoder

NAME: Final = "node-ipam-controller"
WORKERS: Final = 8

_log = logging.getLogger(__name__)


class NoRangeLeft(RetryLater):
    """All ranges are in use. The request is retried."""


class _Spec(msgspec.Struct, gc=False):
    cidrs: list[str] = msgspec.field(name="podCIDRs", default_factory=list)


class _NodeRanges(msgspec.Struct, gc=False):
    spec: _Spec = msgspec.field(default_factory=_Spec)


_decode = view_decoder(_NodeRanges)


def set_up(context: ControllerContext) -> None:
    """Register the controller with the manager. Raises `ValueError` for a node range larger than the cluster's."""
    NodeIpamController(context).start()


class NodeIpamController:
    """Allocates a range to each Node without one."""

    def __init__(self, context: ControllerContext) -> None:
        self._context = context
        self._nodes = context.manager.client.resource(NODES)
        self._ranges = Ranges([CidrSet(each.cidr, each.node_mask_size) for each in context.pod_ranges])
        self._registration = context.informer(NODES).add_handler(self._ranges)
        self._recorder = context.recorder("cidrAllocator")

    def start(self) -> None:
        """Register the controller with the manager."""
        builder = Builder(self._context.manager).named(NAME).for_(NODES)
        builder.with_options(max_concurrent_reconciles=WORKERS).complete(self)

    async def reconcile(self, request: Request) -> Result | None:
        """Reconcile one Node. Raises `ApiError`, `TransportError`, `NoRangeLeft`."""
        await self._registration.synced()
        node = await self._nodes.find(request)
        if node is None or meta(node).deletion_timestamp is not None or (node.get("spec") or {}).get("podCIDRs"):
            return None
        if meta(node).labels.get(RUNTIME_LABEL) == SIMULATED:
            return None  # It chooses a range that no network routes, because addresses of its Pods must not be dialled.
        cidrs = self._ranges.take(request.name)
        if not cidrs:
            note = f"Node {request.name} status is now: CIDRNotAvailable"
            self._recorder.normal(node, "CIDRNotAvailable", note)
            whole = ",".join(each.cidr for each in self._context.pod_ranges)
            raise NoRangeLeft(f"{whole} has no range left for node {request.name}")
        spec = {"podCIDR": cidrs[0], "podCIDRs": cidrs}
        try:
            # The UID guards against a new Node of the same name, which gets its own reconciliation.
            await self._nodes.patch(request.name, MergePatch({"metadata": {"uid": meta(node).uid}, "spec": spec}))
        except NotFound:
            self._ranges.give_back(request.name)
        return None


class Ranges:
    """Ranges of each Node, from informer events and from recent allocations."""

    def __init__(self, sets: Sequence[CidrSet]) -> None:
        """Create the record. `sets`: one set of ranges for each IP family."""
        self._sets = sets
        self._of: dict[str, list[str]] = {}

    def take(self, name: str) -> list[str]:
        """Return a range of each set for a Node; an empty list if a set is exhausted.

        Repeated calls for a Node return the same ranges, because an earlier write may have failed.
        """
        if name in self._of:
            return self._of[name]
        taken: list[str] = []
        for each in self._sets:
            cidr = each.allocate()
            if cidr is None:
                self._release(taken)
                return []
            taken.append(cidr)
        self._of[name] = taken
        return taken

    def on_add(self, obj: Ref[Any], is_in_initial_list: bool) -> None:
        """Record the ranges of a new Node."""
        self._set(obj)

    def on_update(self, old: Ref[Any], new: Ref[Any]) -> None:
        """Record the ranges of a changed Node."""
        self._set(new)

    def on_delete(self, obj: Deletion[Any]) -> None:
        """Release the ranges of a deleted Node."""
        self.give_back(obj.name)

    def give_back(self, name: str) -> None:
        """Release the ranges of a Node."""
        self._release(self._of.pop(name, ()))

    def _release(self, cidrs: Sequence[str]) -> None:
        for each in self._sets:
            for cidr in cidrs:
                each.release(cidr)

    def _set(self, ref: Ref[Any]) -> None:
        cidrs = _decode(ref.raw).spec.cidrs
        if not cidrs or self._of.get(ref.name) == cidrs:
            return
        self.give_back(ref.name)
        self._of[ref.name] = cidrs
        for cidr in cidrs:
            try:
                for each in self._sets:
                    each.occupy(cidr)
            except ValueError:
                _log.warning("ignoring an invalid range of node %s: %s", ref.name, cidr)
