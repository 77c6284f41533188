"""`ServerAddresses`: addresses of the servers that run on one store. The key of each address expires unless it is
renewed.

Servers on loopback have keys under a second prefix. kube-apiserver publishes all addresses under `PREFIX` as endpoints
of the Service `kubernetes`. If one is a loopback address, it publishes none, because Endpoints must not contain
loopback addresses.

The records of kube-apiservers contain no port. The port is in their identity Leases and in the Endpoints that they
publish. Each kube-apiserver publishes its own port for all servers, so a server with another port also uses the second
prefix.
Source: kubernetes pkg/controlplane/reconcilers/lease.go, pkg/controlplane/apiserver/server.go (1.36).
"""

import ipaddress
from typing import Any, Final, NamedTuple

from sampan.storage.encoding import decode, encode
from sampan.storage.store import Conflict, KeyExists, Store, prefix_end

PREFIX: Final = "/registry/masterleases/"
LOOPBACK_PREFIX: Final = "/registry/sampan/loopbackservers/"
TTL_S: Final = 15
RENEW_INTERVAL_S: Final = 10.0
_IDENTITIES: Final = "/registry/leases/kube-system/apiserver-"
_PUBLISHED: Final = "/registry/services/endpoints/default/kubernetes"
_PEER: Final = "kubernetes.io/peer-advertise-address"
_PORT: Final = 6443
"""Port to assume for a kube-apiserver that has not published its port yet."""


class Address(NamedTuple):
    """Address of a server."""

    ip: str
    port: int

    @property
    def loopback(self) -> bool:
        """Return True if the address can be reached only from the server's own machine."""
        return ipaddress.ip_address(self.ip).is_loopback


class ServerAddresses:
    """Address records of all servers. `own` is the address of this server."""

    def __init__(self, store: Store, own: Address) -> None:
        self.own = own
        self._store = store
        self._written = ""
        self._times = 0
        self._kube_apiservers: set[Address] = set()

    async def renew(self) -> None:
        """Write or renew the record of this server."""
        self._times += 1
        key = self._key
        if self.moves:
            await self.remove()
        self._written = key
        row = await self._store.get(key)
        value = encode(_record(self.own, self._times))
        try:
            if row is None:
                await self._store.create(key, value, ttl_s=TTL_S)
            else:
                await self._store.update(key, value, row.mod_revision, ttl_s=TTL_S)
        except (Conflict, KeyExists):
            return  # the record just expired, or an earlier server at this address renewed it; the next call succeeds

    async def present(self) -> list[Address]:
        """Return the sorted addresses of all servers; loopback addresses only if no other ones exist."""
        everywhere = [address for address in await self._under(PREFIX) if not address.loopback]
        return everywhere or await self._under(LOOPBACK_PREFIX)

    @property
    def other_ports(self) -> list[int]:
        """Return the ports of the kube-apiservers in the last result of `present`, except the port of this server."""
        return sorted({address.port for address in self._kube_apiservers} - {self.own.port})

    @property
    def hidden(self) -> bool:
        """Return True if this server is published only if there is no other server.

        It is True for a loopback address, and if a kube-apiserver has the same IP address or another port.
        """
        same = any(address.ip == self.own.ip for address in self._kube_apiservers)
        return self.own.loopback or same or bool(self.other_ports)

    @property
    def moves(self) -> bool:
        """Return True if the record of this server must move to another key, which the next `renew` does."""
        return self._written not in ("", self._key)

    @property
    def _key(self) -> str:
        host = f"[{self.own.ip}]" if ":" in self.own.ip else self.own.ip
        return f"{LOOPBACK_PREFIX if self.hidden else PREFIX}{host}:{self.own.port}"

    async def _under(self, prefix: str) -> list[Address]:
        found = await self._store.range(prefix, prefix_end(prefix))
        published = [pair for row in found.items if (pair := _address_of(decode(row.value)))]
        ports = await self._ports() if any(port is None for _, port in published) else {}
        if prefix == PREFIX:
            self._kube_apiservers = {Address(ip, ports.get(ip, _PORT)) for ip, port in published if port is None}
        return sorted({Address(ip, port or ports.get(ip, _PORT)) for ip, port in published})

    async def _ports(self) -> dict[str, int]:
        """Return the ports of kube-apiservers by IP: from the newest Lease of each, else from the Endpoints."""
        row = await self._store.get(_PUBLISHED)
        ports = _published(decode(row.value)) if row is not None else {}
        found = await self._store.range(_IDENTITIES, prefix_end(_IDENTITIES))
        leases = [decode(row.value) for row in found.items]
        for lease in sorted(leases, key=lambda each: str((each.get("spec") or {}).get("renewTime") or "")):
            ip, _, port = (lease["metadata"].get("annotations") or {}).get(_PEER, "").rpartition(":")
            if port.isdecimal():
                ports[ip.strip("[]")] = int(port)
        return ports

    async def remove(self) -> None:
        """Remove the record of this server."""
        row = await self._store.get(self._written) if self._written else None
        if row is not None:
            try:
                await self._store.delete(row.key, row.mod_revision)
            except Conflict:
                return  # the record has expired


def _record(address: Address, times: int) -> dict[str, Any]:
    port = {"name": "https", "port": address.port, "protocol": "TCP"}
    return {
        "kind": "Endpoints",
        "apiVersion": "v1",
        "metadata": {"generation": times},
        "subsets": [{"addresses": [{"ip": address.ip}], "ports": [port]}],
    }


def _address_of(record: dict[str, Any]) -> tuple[str, int | None] | None:
    """Return IP address and port of a record. The port is None in records of kube-apiservers."""
    for subset in record.get("subsets") or ():
        for each in subset.get("addresses") or ():
            ports = subset.get("ports")
            return each["ip"], ports[0]["port"] if ports else None
    return None


def _published(endpoints: dict[str, Any]) -> dict[str, int]:
    return {
        each["ip"]: subset["ports"][0]["port"]
        for subset in endpoints.get("subsets") or ()
        if subset.get("ports")
        for each in subset.get("addresses") or ()
    }
