"""What the server itself writes to a status belongs to `kube-apiserver`: there, the server is its own client."""

from sampan.core.object import Object
from sampan.core.time import Clock, timestamp
from sampan.registry.endpoint import Endpoint

_MANAGER = "kube-apiserver"


def track_status(endpoint: Endpoint, old: Object | None, new: Object, clock: Clock) -> None:
    """Note in `new` which fields of the status this write changes. `endpoint` is that of its kind."""
    endpoint.field_manager("status").update(
        old, new, manager=_MANAGER, api_version=endpoint.api_version, subresource="status", now=timestamp(clock)
    )
