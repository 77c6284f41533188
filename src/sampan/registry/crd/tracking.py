"""What the server itself writes belongs to `kube-apiserver`: there, the server is its own client."""

from sampan.core.object import Object
from sampan.core.time import Clock, timestamp
from sampan.registry.endpoint import Endpoint

_MANAGER = "kube-apiserver"


def track_status(endpoint: Endpoint, old: Object | None, new: Object, clock: Clock) -> None:
    """Note in `new` which fields of the status this write changes. `endpoint` is that of its kind."""
    track(endpoint, old, new, clock, subresource="status")


def track(endpoint: Endpoint, old: Object | None, new: Object, clock: Clock, *, subresource: str = "") -> None:
    """The same for a write of the object itself; without `old` it is made."""
    endpoint.field_manager(subresource).update(
        old, new, manager=_MANAGER, api_version=endpoint.api_version, subresource=subresource, now=timestamp(clock)
    )
