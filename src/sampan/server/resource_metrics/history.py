"""`History`: the last two points of nodes and containers, and the usage between them.

CPU time counts from the start of a container, so its usage is the difference of two points. A container that has
restarted counts from zero again: points before the restart are not compared with later ones. A container that started
after the last scrape has its start as the first point.

Source: metrics-server pkg/storage/{node,pod,types}.go (0.9).
"""

import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from sampan.server.resource_metrics.points import NODE, Point, PointKey

FRESH_MIN_S: Final = 10.0
"""Age from which a container's start is its first point. The average of a shorter time is mostly its start-up."""
_EPOCH: Final = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


@dataclass(frozen=True, slots=True)
class Usage:
    """Usage during a window, and its end."""

    end: dt.datetime
    window_s: float
    cpu_nanocores: int
    memory_bytes: int


Pair = tuple[Point | None, Point]
"""The point before the newest one, if there is one; and the newest one."""


class History:
    """Points of one cluster. `resolution_s`: time between two scrapes."""

    def __init__(self, resolution_s: float) -> None:
        self._resolution_s = resolution_s
        self._nodes: dict[str, Mapping[PointKey, Pair]] = {}
        self._pods: dict[tuple[str, str], dict[str, dict[str, Pair]]] = {}
        """By namespace and name of the Pod, then by the node that reported it, then by container."""

    def replace(self, scraped: Mapping[str, Mapping[PointKey, Point]]) -> None:
        """Take the points of a scrape, by node. Nodes that are missing in it are forgotten, with their Pods."""
        self._nodes = {name: self._paired(self._nodes.get(name, {}), points) for name, points in scraped.items()}
        self._pods = {}
        for node, pairs in self._nodes.items():
            for key, pair in pairs.items():
                if key != NODE:
                    self._pods.setdefault((key.namespace, key.pod), {}).setdefault(node, {})[key.container] = pair

    def clear(self) -> None:
        """Forget everything."""
        self._nodes, self._pods = {}, {}

    def nodes(self) -> list[str]:
        """Return the names of the nodes with points, in order."""
        return sorted(name for name, pairs in self._nodes.items() if NODE in pairs)

    def pods(self, namespace: str) -> list[tuple[str, str]]:
        """Return namespaces and names of the Pods with points, in order; of all namespaces for an empty one."""
        return sorted(key for key in self._pods if not namespace or key[0] == namespace)

    def of_node(self, name: str) -> Usage | None:
        """Return the usage of a node; None before it has two points."""
        pair = self._nodes.get(name, {}).get(NODE)
        return None if pair is None else _usage(pair)

    def of_pod(self, namespace: str, name: str, node: str) -> dict[str, Usage] | None:
        """Return the usage of a Pod's containers by name; None before all have two points.

        `node` is the node of the Pod: reports of other nodes are ignored.
        """
        containers = self._pods.get((namespace, name), {}).get(node)
        if not containers:
            return None
        found = {container: _usage(pair) for container, pair in sorted(containers.items())}
        complete = {container: usage for container, usage in found.items() if usage is not None}
        return complete if len(complete) == len(found) else None

    def _paired(self, known: Mapping[PointKey, Pair], points: Mapping[PointKey, Point]) -> Mapping[PointKey, Pair]:
        return {key: self._pair(known.get(key), point) for key, point in points.items()}

    def _pair(self, known: Pair | None, point: Point) -> Pair:
        before = None
        if known is not None and point.started_s <= known[1].time_s and point.cpu_s >= known[1].cpu_s:
            if point.time_s <= known[1].time_s:
                return known  # the node has not measured it again
            before = known[1]
        elif FRESH_MIN_S <= point.time_s - point.started_s < self._resolution_s + FRESH_MIN_S:
            before = replace(point, time_s=point.started_s, cpu_s=0.0)
        return before, point


def earliest(usages: Iterable[Usage]) -> Usage:
    """Return the usage whose window ended first: its time is that of the Pod."""
    return min(usages, key=lambda usage: usage.end)


def _usage(pair: Pair) -> Usage | None:
    before, last = pair
    if before is None:
        return None
    window_s = last.time_s - before.time_s
    nanocores = round((last.cpu_s - before.cpu_s) / window_s * 1e9)
    return Usage(_EPOCH + dt.timedelta(seconds=last.time_s), window_s, nanocores, last.memory_bytes)
