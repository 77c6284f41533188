"""Traffic hints on endpoints, according to a Service's `trafficDistribution`.

Source: staging k8s.io/endpointslice trafficdist/trafficdist.go (1.36).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from sampan.controllers.endpoint_slices.packing import SliceChanges, SliceUpdate, endpoints_of
from sampan.kinds import discovery_v1

_SAME_NODE: Final = "PreferSameNode"
_CLOSE: Final = ("PreferClose", "PreferSameZone", _SAME_NODE)


def set_hints(changes: SliceChanges, existing: Iterable[discovery_v1.EndpointSlice], distribution: str | None) -> None:
    """Set the hints on changed slices, and update slices with wrong hints. Without a distribution hints are removed."""
    settled = [id(each) for each in changes.delete] + [id(update.before) for update in changes.update]
    for slice in changes.create:
        _hint(slice, distribution)
    for update in changes.update:
        _hint(update.after, distribution)
    for slice in existing:
        if id(slice) not in settled:
            after: discovery_v1.EndpointSlice = {**slice, "endpoints": list(endpoints_of(slice))}
            _hint(after, distribution)
            if after["endpoints"] != endpoints_of(slice):
                changes.update.append(SliceUpdate(slice, after))


def _hint(slice: discovery_v1.EndpointSlice, distribution: str | None) -> None:
    slice["endpoints"] = [_hinted(endpoint, distribution) for endpoint in endpoints_of(slice)]


def _hinted(endpoint: discovery_v1.Endpoint, distribution: str | None) -> discovery_v1.Endpoint:
    """Return an endpoint with its hints. Endpoints that are not ready keep theirs, because they get no traffic."""
    close = distribution in _CLOSE
    if close and not (endpoint.get("conditions") or {}).get("ready"):
        return endpoint
    hints: discovery_v1.EndpointHints = {}
    if close and endpoint.get("zone"):
        hints["forZones"] = [{"name": endpoint["zone"]}]
    if distribution == _SAME_NODE and endpoint.get("nodeName"):
        hints["forNodes"] = [{"name": endpoint["nodeName"]}]
    if hints == (endpoint.get("hints") or {}):
        return endpoint
    changed = endpoint.copy()
    changed.pop("hints", None)
    if hints:
        changed["hints"] = hints
    return changed
