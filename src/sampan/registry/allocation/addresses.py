"""`AddressClaims`: cluster IPs, each claimed by an IPAddress that is named after it.

Source: pkg/registry/core/service/ipallocator/ipallocator.go (1.36).
"""

from sampan.core.errors import Reason, StatusError
from sampan.core.object import Object
from sampan.core.time import Clock
from sampan.registry.allocation.allocators import Holder, TakenElsewhere, family_of
from sampan.registry.rest.store import ResourceStore
from sampan.registry.rules.ip_addresses import parse_ip
from sampan.registry.strategy import Context
from sampan.registry.write.own import create
from sampan.storage.encoding import decode
from sampan.storage.store import Conflict

FAMILY_LABEL = "ipaddress.kubernetes.io/ip-family"
MANAGED_BY_LABEL = "ipaddress.kubernetes.io/managed-by"
ALLOCATOR = "ipallocator.k8s.io"
_USER = "system:apiserver"


class AddressClaims:
    """Creates and deletes the IPAddress objects. A create that succeeds in the store is the claim."""

    def __init__(self, store: ResourceStore, clock: Clock) -> None:
        self.store = store
        self._clock = clock

    async def make(self, ip: str, holder: Holder) -> None:
        """Claim an address. Raises `TakenElsewhere`."""
        name = canonical(ip)
        ctx = Context(user=_USER, groups=("system:masters",), name=name)
        try:
            await create(self.store, ctx, _address(name, holder), self._clock)
        except StatusError as error:
            if error.reason is not Reason.ALREADY_EXISTS:
                raise
            raise TakenElsewhere(ip) from error

    def unreadable(self) -> set[str]:
        """Return the claimed addresses whose IPAddress cannot be decrypted or decoded.

        The Service cannot be determined, but the key of an IPAddress ends with its name, which is the address.
        """
        prefix = self.store.prefix
        return {key.removeprefix(prefix) for key in self.store.cache.unreadable if key.startswith(prefix)}

    async def drop(self, ip: str, holder: Holder) -> None:
        """Release an address, if the holder still has it. Raises `Untransformable` if its IPAddress cannot be read."""
        row = await self.store.store.get(self.store.key("", canonical(ip)))
        if row is None or parent_of(decode(row.value)) != holder:
            return
        try:
            await self.store.store.delete(row.key, row.mod_revision)
        except Conflict:
            # Another writer has just deleted or changed it. If the address is now claimed wrongly, the repair loop
            # finds it.
            return


def canonical(ip: str) -> str:
    """Return the form of an address in the name of its IPAddress."""
    parsed = parse_ip(ip)
    return ip if parsed is None else str(parsed)


def parent_of(address: Object) -> Holder | None:
    """Return the Service that an IPAddress belongs to; None if it belongs to another kind of object."""
    parent = (address.get("spec") or {}).get("parentRef") or {}
    if parent.get("group") or parent.get("resource") != "services":
        return None
    return Holder(parent.get("namespace", ""), parent.get("name", ""))


def _address(name: str, holder: Holder) -> Object:
    return {
        "kind": "IPAddress",
        "apiVersion": "networking.k8s.io/v1",
        "metadata": {"name": name, "labels": {FAMILY_LABEL: family_of(name), MANAGED_BY_LABEL: ALLOCATOR}},
        "spec": {"parentRef": {"resource": "services", "namespace": holder.namespace, "name": holder.name}},
    }
