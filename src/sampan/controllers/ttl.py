"""The TTL controller: annotates Nodes with the time for which kubelets may cache Secrets and ConfigMaps.

The time grows with the cluster. The steps overlap, so a cluster near a boundary does not switch its Nodes back and
forth. A Node gets a changed value with its next update: kubelets update their Nodes all the time.

Concurrency: the informer's handler counts Nodes; a Node is reconciled by one worker at a time.
Source: kubernetes pkg/controller/ttl/ttl_controller.go (1.36).
"""

from dataclasses import dataclass
from typing import Any, Final

from sampan.client import MergePatch, NotFound
from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import NODES
from sampan.informer.ref import Deletion, Ref
from sampan.operator.builder import Builder
from sampan.operator.request import Request, Result
from sampan.resource import meta

NAME: Final = "ttl-controller"
ANNOTATION: Final = "node.alpha.kubernetes.io/ttl"
WORKERS: Final = 5


@dataclass(frozen=True, slots=True)
class TtlBoundary:
    """Range of cluster sizes, in Nodes, and the annotation's value for it. A larger cluster is in the next step."""

    size_min: int
    size_max: float
    ttl_s: int


STEPS: Final = (
    TtlBoundary(0, 100, 0),
    TtlBoundary(90, 500, 15),
    TtlBoundary(450, 1000, 30),
    TtlBoundary(900, 2000, 60),
    TtlBoundary(1800, float("inf"), 300),
)


class ClusterSize:
    """Counts Nodes from informer events and tracks the current step."""

    def __init__(self) -> None:
        self._count = 0
        self._step = 0

    @property
    def ttl_s(self) -> int:
        """Return the value for each Node."""
        return STEPS[self._step].ttl_s

    def on_add(self, obj: Ref[Any], is_in_initial_list: bool) -> None:
        """Count a Node."""
        self._count += 1
        if self._count > STEPS[self._step].size_max:
            self._step += 1

    def on_update(self, old: Ref[Any], new: Ref[Any]) -> None:
        """Do nothing: an update does not change the number of Nodes."""

    def on_delete(self, obj: Deletion[Any]) -> None:
        """Stop counting a Node."""
        self._count -= 1
        if self._count < STEPS[self._step].size_min:
            self._step -= 1


def set_up(context: ControllerContext) -> None:
    """Register the controller with the manager."""
    TtlController(context).start()


class TtlController:
    """Writes the annotation of each Node."""

    def __init__(self, context: ControllerContext) -> None:
        self._context = context
        self._nodes = context.manager.client.resource(NODES)
        self._size = ClusterSize()
        self._registration = context.informer(NODES).add_handler(self._size)

    def start(self) -> None:
        """Register the controller with the manager."""
        builder = Builder(self._context.manager).named(NAME).for_(NODES)
        builder.with_options(max_concurrent_reconciles=WORKERS).complete(self)

    async def reconcile(self, request: Request) -> Result | None:
        """Write the annotation of one Node, if it differs. Raises `ApiError`, `TransportError`."""
        await self._registration.synced()
        node = await self._nodes.find(request)
        desired = str(self._size.ttl_s)
        if node is None or meta(node).annotations.get(ANNOTATION) == desired:
            return None
        try:
            await self._nodes.patch(request.name, MergePatch({"metadata": {"annotations": {ANNOTATION: desired}}}))
        except NotFound:
            pass
        return None
