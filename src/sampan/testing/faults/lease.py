"""Lost leases: another candidate takes the Lease of a leader, and gives it back.

other = cluster.client(actor="another candidate")
await take_lease(other, "default", "operator")
await cluster.advance(seconds=30)      # the operator must not write now
await give_lease(other, "default", "operator")
"""

from typing import Final

from sampan.client import Client, MergePatch
from sampan.core.clock import utc_now
from sampan.core.gvk import GroupVersionResource
from sampan.resource import ResourceInfo

LEASES: Final = ResourceInfo(GroupVersionResource("coordination.k8s.io", "v1", "leases"), "Lease", namespaced=True)
OTHER: Final = "another-candidate"


async def take_lease(client: Client, namespace: str, name: str, *, seconds: int = 3600) -> None:
    """Make another candidate the holder for some time. Raises `NotFound` if nothing has made the Lease yet."""
    now = utc_now().strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    spec = {"holderIdentity": OTHER, "acquireTime": now, "renewTime": now, "leaseDurationSeconds": seconds}
    await client.resource(LEASES, namespace=namespace).patch(name, MergePatch({"spec": spec}))


async def give_lease(client: Client, namespace: str, name: str) -> None:
    """Release the Lease: the next candidate gets it at once."""
    patch = MergePatch({"spec": {"holderIdentity": "", "leaseDurationSeconds": 1}})
    await client.resource(LEASES, namespace=namespace).patch(name, patch)
