"""`ExtendedResources`: copies extended resources from a Node's capacity to its allocatable, as the kubelet does.

A client that patches `status.capacity` (a substitute for a device plug-in, or a test) adds a resource for Pods.
Removing it from the capacity removes it from allocatable.
Concurrency: a controller of the manager.
Source: kubernetes pkg/kubelet/nodestatus/setters.go `MachineInfo` (1.36).
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

import msgspec

from sampan.client import MergePatch, NotFound
from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import NODES
from sampan.informer.ref import Ref
from sampan.informer.shared_informer import SharedInformer
from sampan.operator.controller import Controller, ControllerOptions
from sampan.operator.request import Request, Result
from sampan.operator.source import KindSource
from sampan.resource.view import view_decoder

_NATIVE: Final = "kubernetes.io/"


class _Amounts(msgspec.Struct):
    capacity: dict[str, Any] = {}
    allocatable: dict[str, Any] = {}


class _Node(msgspec.Struct):
    status: _Amounts = msgspec.field(default_factory=_Amounts)


_nodes = view_decoder(_Node)


class ExtendedResources:
    """Keeps `allocatable` of some nodes equal to their capacity, for extended resources."""

    def __init__(
        self, context: ControllerContext, nodes: SharedInformer[Any], names: Collection[str], *, elected: bool
    ) -> None:
        """`nodes`: informer of Nodes; it may also contain other Nodes.

        `elected`: only the leader writes.
        """
        self._names = frozenset(names)
        self._informer = nodes
        self._nodes = context.manager.client.direct.resource(NODES)
        options = ControllerOptions(needs_leader_election=elected)
        self._controller: Controller = context.manager.new_controller("node-resources", self.reconcile, options)
        self._controller.watch(KindSource(nodes, self._requests))

    async def reconcile(self, request: Request) -> Result | None:
        """Write the difference for one Node, if there is one."""
        ref = self._informer.indexer.get(request.key)
        change = {} if ref is None else allocatable_change(ref.raw)
        if change:
            try:
                await self._nodes.status.patch(request.name, MergePatch({"status": {"allocatable": change}}))
            except NotFound:
                return None
        return None

    def _requests(self, ref: Ref[Any]) -> Iterable[Request]:
        return (Request.of_key(ref.key),) if ref.name in self._names and allocatable_change(ref.raw) else ()


def allocatable_change(raw: bytes) -> Mapping[str, Any]:
    """Return the amounts to merge into the allocatable of a Node; None removes a resource."""
    status = _nodes(raw).status
    capacity = {name: value for name, value in status.capacity.items() if is_extended(name)}
    gone = (name for name in status.allocatable if is_extended(name) and name not in capacity)
    changed = {name: value for name, value in capacity.items() if status.allocatable.get(name) != value}
    return {**changed, **dict.fromkeys(gone)}


def is_extended(resource: str) -> bool:
    """Return whether a resource is an extended one: its name has a domain that is not Kubernetes' own.

    Source: kubernetes pkg/apis/core/v1/helper/helpers.go `IsExtendedResourceName` (1.36).
    """
    return "/" in resource and _NATIVE not in resource and not resource.startswith("requests.")
