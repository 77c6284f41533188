"""Field ownership of the server's writes: their manager is `kube-apiserver`."""

from sampan.core.object import Object
from sampan.core.time import Clock, timestamp
from sampan.registry.endpoint import Endpoint

_MANAGER = "kube-apiserver"


def track_status(endpoint: Endpoint, old: Object | None, new: Object, clock: Clock) -> None:
    """Record in `new` which fields of the status this write changes. `endpoint` serves the kind."""
    track(endpoint, old, new, clock, subresource="status")


def track(endpoint: Endpoint, old: Object | None, new: Object, clock: Clock, *, subresource: str = "") -> None:
    """Record which fields a write of the object changes. Without `old` the write creates it."""
    endpoint.field_manager(subresource).update(
        old, new, manager=_MANAGER, api_version=endpoint.api_version, subresource=subresource, now=timestamp(clock)
    )
