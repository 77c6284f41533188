"""Number of watches that receive the event of a write.

Source: apiserver pkg/util/flowcontrol/watch_tracker.go (1.36).
"""

from typing import Final

from sampan.server.request import RequestInfo

_INDEXED: Final = {"pods": "spec.nodeName"}
"""Fields of selective watches. Such a watch receives few events and is not counted."""

_Scope = tuple[str, str, str, str]


class WatchCounts:
    """Counts open watches by resource, namespace and name."""

    def __init__(self) -> None:
        self._counts: dict[_Scope, int] = {}
        self._of_resources: dict[tuple[str, str], int] = {}

    def add(self, info: RequestInfo) -> _Scope | None:
        """Count a watch. Return the scope for `forget`, or None if the watch is not counted."""
        field = _INDEXED.get(info.resource)
        if field is not None and f"{field}=" in info.field_selector:
            return None
        scope = (info.group, info.resource, info.namespace, info.name)
        self._change(scope, 1)
        return scope

    def forget(self, scope: _Scope) -> None:
        """Remove a watch that has ended."""
        self._change(scope, -1)

    def count(self, info: RequestInfo) -> int:
        """Return the number of watches on the whole resource, on the namespace and on the object."""
        group, resource, namespace = info.group, info.resource, info.namespace
        if (group, resource) not in self._of_resources:
            return 0
        get = self._counts.get
        found = get((group, resource, "", ""), 0)
        if namespace:
            found += get((group, resource, namespace, ""), 0)
        if info.name:
            found += get((group, resource, namespace, info.name), 0)
        return found

    def _change(self, scope: _Scope, by: int) -> None:
        resource = scope[:2]
        counts, totals = self._counts, self._of_resources
        counts[scope] = counts.get(scope, 0) + by
        totals[resource] = totals.get(resource, 0) + by
        if not counts[scope]:
            del counts[scope]
        if not totals[resource]:
            del totals[resource]
