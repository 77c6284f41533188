"""The Service `kubernetes` with its Endpoints and EndpointSlice: the address of the API server inside the cluster.

If a client deletes one of them, or a system namespace, it is created again within seconds. Other changes are kept until
the next start, which writes the server's address, or until a server on the same store starts or stops.
Source: kubernetes pkg/controlplane/controller/{kubernetesservice,systemnamespaces},
pkg/controlplane/reconcilers/endpointsadapter.go (1.36).
"""

import asyncio
import ipaddress
import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final

from sampan.core.json.values import same
from sampan.core.object import Object
from sampan.core.time import Clock
from sampan.registry.endpoint import Endpoint
from sampan.registry.rest.metadata import fill_system_fields
from sampan.server.post_start_hooks.api_servers.addresses import RENEW_INTERVAL_S, Address, ServerAddresses
from sampan.server.post_start_hooks.bootstrap import bootstrap
from sampan.storage.encoding import decode, encode
from sampan.storage.store import Conflict, KeyExists, StoreFull

_log = logging.getLogger(__name__)

KEEP_INTERVAL_S: Final = 2.0
_NAME: Final = "kubernetes"
_NAMESPACE: Final = "default"
_PORT_NAME: Final = "https"
_SKIP_MIRROR: Final = "endpointslice.kubernetes.io/skip-mirror"
_SERVICE_NAME: Final = "kubernetes.io/service-name"

EndpointOf = Callable[[str, str, str], Endpoint | None]
"""Function that returns the endpoint of a group, version and resource."""


class KubernetesService:
    """Creates the Service `kubernetes` and its endpoints, and keeps them correct. Without an `address`, no endpoints
    are published.

    `servers` has the addresses of all servers on the store; None if this is the only server.
    """

    def __init__(
        self,
        endpoint_of: EndpointOf,
        clock: Clock,
        *,
        port: int,
        address: str = "",
        servers: ServerAddresses | None = None,
    ) -> None:
        self._endpoint_of = endpoint_of
        self._clock = clock
        self._port = port
        self._servers = servers
        self._known = [Address(address, port)] if address else []
        self._renew_at = 0.0
        self._other_ports: list[int] = []
        self._published = False
        self._ended = False

    async def begin(self) -> None:
        """Create missing objects and publish the server's address. Raises `StatusError`, `StoreUnavailable`.

        A full store does not prevent the start: reads still work, and `keep` publishes the address later.
        """
        try:
            await self._look()
            if self._leaves_it_to_others():
                await self._withdraw(set())
            await self._remake()
            await self._publish()
        except StoreFull as error:
            _log.warning("cannot publish the Service kubernetes; retrying later", extra={"error": str(error)})

    async def end(self) -> None:
        """Remove this server's address. If it is the only server, nothing changes."""
        self._ended = True
        if self._servers is not None:
            await self._servers.remove()
            self._known = await self._servers.present() or self._known
            await self._publish()

    async def keep(self) -> None:
        """Create deleted objects again, until cancelled or until `end` is called. The only server on a store waits for
        a change before each check.
        """
        touched = self._touched()
        while not self._ended:
            if self._servers is None and self._published:
                await touched.wait()
            await asyncio.sleep(KEEP_INTERVAL_S)
            touched.clear()
            try:
                before = self._known
                changed = await self._look()
                if changed and self._leaves_it_to_others():
                    await self._withdraw({address.port for address in before if address.loopback})
                await self._remake()
                if changed or not self._published:
                    await self._publish()
            except Exception as error:
                _log.warning("cannot keep the Service kubernetes; retrying", extra={"error": str(error)})

    def _touched(self) -> asyncio.Event:
        """Return an event that is set by each change of a Namespace, Service, Endpoints or EndpointSlice."""
        touched = asyncio.Event()
        endpoints = (self._endpoint("", kind) for kind in ("namespaces", "services", "endpoints"))
        for endpoint in (*endpoints, self._endpoint("discovery.k8s.io", "endpointslices")):
            endpoint.store.cache.listeners.append(touched.set)
        return touched

    async def _look(self) -> bool:
        """Renew this server's address record, and read the records of all servers. Return True if the addresses have
        changed.
        """
        if self._servers is None or self._ended:
            return False
        now = asyncio.get_running_loop().time()
        present = await self._servers.present()
        if now >= self._renew_at or self._servers.moves:
            await self._servers.renew()
            self._renew_at = now + RENEW_INTERVAL_S
            present = await self._servers.present()
        before, self._known = self._known, present or self._known
        self._compare_ports(self._servers)
        return before != self._known

    def _compare_ports(self, servers: ServerAddresses) -> None:
        others, before = servers.other_ports, self._other_ports
        self._other_ports = others
        if others and others != before and not servers.own.loopback:
            _log.warning(
                "the Service kubernetes does not reach this server: a kube-apiserver has published another port for "
                "all servers; give both the same port (docs/etcd.md)",
                extra={"port": servers.own.port, "other": others[0]},
            )

    async def _publish(self) -> None:
        for endpoint, desired in self._addresses():
            await self._correct(endpoint, desired)
        self._published = True

    async def _remake(self) -> None:
        namespaces, services = self._endpoint("", "namespaces"), self._endpoint("", "services")
        for endpoint in (namespaces, services):
            endpoint.store.cache.poll_events()
        await bootstrap(namespaces, services, clock=self._clock, port=self._port)
        for endpoint, desired in self._addresses():
            endpoint.store.cache.poll_events()
            if endpoint.store.cache.get(endpoint.store.key(_NAMESPACE, _NAME)) is None:
                await self._create(endpoint, desired)

    async def _create(self, endpoint: Endpoint, desired: Mapping[str, Any]) -> None:
        """Write directly to the store, because validation refuses loopback addresses. A server for a single machine has
        one.
        """
        metadata: Object = {"name": _NAME, "namespace": _NAMESPACE, "labels": dict(desired["labels"])}
        fill_system_fields(metadata, self._clock)
        head = {"kind": endpoint.definition.kind, "apiVersion": endpoint.api_version, "metadata": metadata}
        try:
            key = endpoint.store.key(_NAMESPACE, _NAME)
            await endpoint.store.store.create(key, encode({**head, **desired["content"]}))
        except KeyExists:
            pass  # Another server created it first.

    async def _correct(self, endpoint: Endpoint, desired: Mapping[str, Any]) -> None:
        store = endpoint.store
        row = await store.store.get(store.key(_NAMESPACE, _NAME))
        if row is None:
            return
        present: Object = decode(row.value)
        metadata = present["metadata"]
        labels = {**(metadata.get("labels") or {}), **desired["labels"]}
        updated = {**present, **desired["content"], "metadata": {**metadata, "labels": labels}}
        if same(updated, present):
            return
        try:
            await store.store.update(row.key, encode(updated), row.mod_revision)
        except Conflict:
            pass  # Another server writes it at the same time; the next start corrects it.

    async def _withdraw(self, ports: set[int]) -> None:
        """Delete the Endpoints if they contain a port that no reachable server has. The reachable servers then publish
        their own ports.

        kube-apiserver keeps the ports in existing Endpoints, also those of a server that has stopped. `ports` are ports
        of servers on loopback. They do not count as ports of reachable servers, nor does the port of this server unless
        it is on loopback.
        """
        endpoint = self._endpoint("", "endpoints")
        row = await endpoint.store.store.get(endpoint.store.key(_NAMESPACE, _NAME))
        if row is None:
            return
        subsets = decode(row.value).get("subsets") or ()
        own = set() if self._servers is None or self._servers.own.loopback else {self._port}
        theirs = {address.port for address in self._known} - ports - own
        if any(port["port"] not in theirs for subset in subsets for port in subset.get("ports") or ()):
            with suppress(Conflict):  # on a conflict, another server has just written the object
                await endpoint.store.store.delete(row.key, row.mod_revision)

    def _addresses(self) -> tuple[tuple[Endpoint, Mapping[str, Any]], ...]:
        """Return the addresses of all servers, as Endpoints and as an EndpointSlice. The slice contains only addresses
        with the IP family and the port of the first one.

        A server on loopback returns nothing if other servers can be reached. The same applies if its port differs from
        that of the kube-apiservers.
        """
        if not self._known or self._leaves_it_to_others():
            return ()
        ports = sorted({address.port for address in self._known})
        subsets = [
            {"addresses": [{"ip": ip} for ip, other in self._known if other == port], "ports": [_port(port)]}
            for port in ports
        ]
        endpoints = {"labels": {_SKIP_MIRROR: "true"}, "content": {"subsets": subsets}}
        first = self._known[0]
        alike = [ip for ip, port in self._known if port == first.port and _family(ip) == _family(first.ip)]
        each = [{"addresses": [ip], "conditions": {"ready": True}} for ip in alike]
        content = {"addressType": _family(first.ip), "endpoints": each, "ports": [_port(first.port)]}
        slices = {"labels": {_SERVICE_NAME: _NAME}, "content": content}
        return (
            (self._endpoint("", "endpoints"), endpoints),
            (self._endpoint("discovery.k8s.io", "endpointslices"), slices),
        )

    def _leaves_it_to_others(self) -> bool:
        return self._servers is not None and self._servers.hidden and self._servers.own not in self._known

    def _endpoint(self, group: str, resource: str) -> Endpoint:
        endpoint = self._endpoint_of(group, "v1", resource)
        assert endpoint is not None
        return endpoint


def _port(number: int) -> dict[str, Any]:
    return {"name": _PORT_NAME, "port": number, "protocol": "TCP"}


def _family(ip: str) -> str:
    return f"IPv{ipaddress.ip_address(ip).version}"
