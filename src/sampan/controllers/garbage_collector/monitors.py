"""`Monitors`: the set of watched resources.

Concurrency: each monitor is a task of the group passed to `Monitors`. It is cancelled when its resource is removed.
Source: pkg/controller/garbagecollector/graph_builder.go `syncMonitors` (1.36).
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from sampan.client import Client
from sampan.client.discovery.discover import Discovered
from sampan.client.discovery.rest_mapper import preferred
from sampan.controllers.garbage_collector.graph import Graph
from sampan.controllers.garbage_collector.monitor import Monitor
from sampan.core.gvk import GroupResource, GroupVersionResource
from sampan.informer.settings import ReflectorSettings
from sampan.resource import ResourceInfo

IGNORED: Final = frozenset({GroupResource("", "events"), GroupResource("events.k8s.io", "events")})
"""Resources that are not watched: Events are numerous, and they expire by themselves."""
DEFINING: Final = frozenset(
    {
        GroupResource("apiextensions.k8s.io", "customresourcedefinitions"),
        GroupResource("apiregistration.k8s.io", "apiservices"),
    }
)
"""Resources whose objects define other resources."""
_VERBS: Final = {"delete", "list", "watch"}


def watchable(discovered: Discovered) -> dict[GroupVersionResource, ResourceInfo]:
    """Return the resources that can be collected: those that support list, watch and delete, in their preferred
    version.
    """
    return {
        info.gvr: info
        for info in preferred(discovered)
        if info.verbs >= _VERBS and info.gvr.group_resource not in IGNORED
    }


class Monitors:
    """The monitors of all resources. `sync` starts and stops them; iteration yields them."""

    def __init__(
        self,
        client: Client,
        graph: Graph,
        on_definition: Callable[[], None],
        settings: ReflectorSettings | None = None,
    ) -> None:
        """Create the set; `on_definition` is called when an object that defines resources has changed."""
        self._client = client
        self._graph = graph
        self._settings = settings
        self._on_definition = on_definition
        self._running: dict[GroupVersionResource, tuple[Monitor, asyncio.Task[None]]] = {}

    def __iter__(self) -> Iterator[Monitor]:
        return (monitor for monitor, _ in list(self._running.values()))

    def sync(self, discovered: Discovered, tasks: asyncio.TaskGroup) -> None:
        """Start and stop monitors to match discovery. For groups whose discovery failed, existing monitors stay."""
        desired: Mapping[GroupVersionResource, ResourceInfo] = watchable(discovered)
        kept = {gvr for gvr in self._running if gvr in desired or gvr.group_version in discovered.failed}
        taken_over = {gvr.group_resource for gvr in desired}
        known: dict[GroupResource, set[str]] = {}
        for gvr in sorted(self._running.keys() - kept):
            monitor, task = self._running.pop(gvr)
            task.cancel()
            if gvr.group_resource in taken_over:
                known[gvr.group_resource] = monitor.uids
            else:
                for uid in monitor.uids:
                    self._graph.lose(uid)
        for gvr in sorted(desired.keys() - kept):
            self._start(desired[gvr], known.get(gvr.group_resource, set()), tasks)

    def _start(self, info: ResourceInfo, uids: set[str], tasks: asyncio.TaskGroup) -> None:
        on_change = self._on_definition if info.gvr.group_resource in DEFINING else _nothing
        monitor = Monitor(self._client, info, self._graph, on_change, uids, settings=self._settings)
        self._running[info.gvr] = (monitor, tasks.create_task(monitor.run(), name=f"monitor of {info.gvr}"))


def _nothing() -> None:
    """Do nothing: most resources define no other resources."""
