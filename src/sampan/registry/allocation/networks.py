"""Read the networks of cluster IPs from the store of an existing cluster.

Since 1.33, the ServiceCIDR `kubernetes` contains the networks. Older servers had a command-line option, and stored its
value next to the bitmaps of allocated addresses.
Source: pkg/registry/core/service/allocator/storage/storage.go (1.32),
pkg/controlplane/controller/defaultservicecidr/default_servicecidr_controller.go (1.36).
"""

from sampan.storage.encoding import decode
from sampan.storage.store import Store, Untransformable

SERVICE_CIDR_KEY = "/registry/servicecidrs/kubernetes"
RANGE_KEYS = ("/registry/ranges/serviceips", "/registry/ranges/secondaryserviceips")
"""Keys of the bitmaps, of the primary and the secondary family."""


async def stored_networks(store: Store) -> list[str]:
    """Return the networks, the primary one first; none in a new cluster.

    Raises `Untransformable` if they are stored but cannot be read.
    """
    unreadable: Untransformable | None = None
    try:
        row = await store.get(SERVICE_CIDR_KEY)
    except Untransformable as error:
        row, unreadable = None, error
    if row is not None:
        cidrs: list[str] = (decode(row.value).get("spec") or {}).get("cidrs") or []
        return cidrs
    rows = [await store.get(key) for key in RANGE_KEYS]
    networks: list[str] = [text for each in rows if each is not None and (text := decode(each.value).get("range"))]
    if unreadable is not None and not networks:
        raise unreadable
    return networks
