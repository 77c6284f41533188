"""`Publication`: the Service `kube-system/kube-dns` and an EndpointSlice with the addresses of a DNS server.

The Service has no selector. Each server of the cluster has a slice with its own address, so several can run. A Service
with a selector belongs to another DNS server, such as CoreDNS, and is not changed.

Concurrency: `run` applies both objects every `INTERVAL_S`. `drain` deletes the slice when the server ends.
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from sampan.client import ApiError, Client, ClientError, NotFound
from sampan.component_base.resources import ENDPOINT_SLICES, SERVICE_CIDRS, SERVICES
from sampan.kinds import core_v1, discovery_v1, meta_v1
from sampan.operator.owners.references import set_controller_reference

NAMESPACE: Final = "kube-system"
SERVICE: Final = "kube-dns"
INTERVAL_S: Final = 10.0
PORT: Final = 53
_MANAGER: Final = "sampan-dns"
_CIDR: Final = "kubernetes"
_TENTH: Final = 10
_LABELS: Final = {
    "k8s-app": SERVICE,
    "kubernetes.io/cluster-service": "true",
    "kubernetes.io/name": "KubeDNS",
}

_log = logging.getLogger("sampan.dns")


class Publication:
    """Keeps the Service and the slices of this server's addresses."""

    def __init__(
        self,
        client: Client,
        addresses: Sequence[str],
        port: Callable[[], int],
        *,
        serving: Callable[[], Awaitable[None]],
        cluster_ip: str = "",
    ) -> None:
        """`port` returns the port of the server. `serving` waits until the server is ready."""
        self._services = client.resource(SERVICES, namespace=NAMESPACE)
        self._slices = client.resource(ENDPOINT_SLICES, namespace=NAMESPACE)
        self._cidrs = client.resource(SERVICE_CIDRS)
        self._addresses = [address for address in addresses if is_reachable(address)]
        self._port = port
        self._serving = serving
        self._cluster_ip = cluster_ip
        self._reported = ""

    def __str__(self) -> str:
        return "publication of the dns server"

    async def run(self) -> None:
        """Apply the objects until cancelled. Failures are logged once, and retried."""
        await self._serving()
        if not self._addresses:
            _log.warning(
                "the DNS server is not published: loopback addresses are not reachable from Pods; set --bind to another"
            )
            return
        while True:
            try:
                await self.apply()
                self._reported = ""
            except ClientError as error:
                self._report(str(error))
            await asyncio.sleep(INTERVAL_S)

    async def drain(self) -> None:
        """Delete the slices, so that clients use other servers."""
        for address in self._addresses:
            try:
                await self._slices.delete(_slice_name(address))
            except NotFound:
                continue
            except ClientError as error:
                _log.warning("cannot remove the EndpointSlice of the DNS server: %s", error)

    async def apply(self) -> None:
        """Apply the objects once. Raises `ClientError`."""
        service = await self._service()
        if service is None:
            return
        for address in self._addresses:
            await self._slices.apply(endpoint_slice(service, address, self._port()), field_manager=_MANAGER, force=True)

    async def _service(self) -> core_v1.Service | None:
        """Return the applied Service, or None if the Service belongs to another DNS server."""
        try:
            current: core_v1.Service | None = await self._services.get(SERVICE)
        except NotFound:
            current = None
        if current is not None and (current["spec"].get("selector") or current["spec"].get("type") == "ExternalName"):
            self._report("the Service kube-system/kube-dns has a selector: it belongs to another DNS server")
            return None
        address = current["spec"].get("clusterIP", "") if current else self._cluster_ip or await self._tenth()
        try:
            return await self._services.apply(service(address), field_manager=_MANAGER, force=True)
        except ApiError as error:
            if error.code == 422 and current is None:
                self._report(f"cannot create the Service kube-dns; set another --cluster-ip: {error}")
                return None
            raise

    async def _tenth(self) -> str:
        """Return the 10th address of the Services' network; empty if the API server must choose one."""
        try:
            cidr = await self._cidrs.get(_CIDR)
        except NotFound:
            return ""
        network = ipaddress.ip_network(cidr["spec"]["cidrs"][0])
        return str(network[_TENTH]) if network.num_addresses > _TENTH + 1 else ""

    def _report(self, message: str) -> None:
        if message != self._reported:
            self._reported = message
            _log.warning("cannot publish the DNS server for Pods: %s", message)


def is_reachable(address: str) -> bool:
    """Return True if other machines and Pods can reach the address."""
    parsed = ipaddress.ip_address(address)
    return not (parsed.is_loopback or parsed.is_unspecified or parsed.is_link_local)


def service(cluster_ip: str) -> core_v1.Service:
    """Return the Service to apply."""
    ports: list[core_v1.ServicePort] = [
        {"name": name, "protocol": protocol, "port": PORT} for name, protocol in _PORTS.items()
    ]
    spec: core_v1.ServiceSpec = {"ports": ports, "ipFamilyPolicy": "PreferDualStack"}
    if cluster_ip:
        spec["clusterIP"] = cluster_ip
    metadata: meta_v1.ObjectMeta = {"name": SERVICE, "namespace": NAMESPACE, "labels": _LABELS}
    return {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec}


_PORTS: Final = {"dns": "UDP", "dns-tcp": "TCP"}


def endpoint_slice(owner: core_v1.Service, address: str, port: int) -> discovery_v1.EndpointSlice:
    """Return the EndpointSlice to apply for an address."""
    labels = {"kubernetes.io/service-name": SERVICE, "endpointslice.kubernetes.io/managed-by": _MANAGER}
    slice: discovery_v1.EndpointSlice = {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {"name": _slice_name(address), "namespace": NAMESPACE, "labels": labels},
        "addressType": "IPv6" if ":" in address else "IPv4",
        "endpoints": [{"addresses": [address], "conditions": {"ready": True}}],
        "ports": [{"name": name, "protocol": protocol, "port": port} for name, protocol in _PORTS.items()],
    }
    set_controller_reference(owner, slice)
    return slice


def _slice_name(address: str) -> str:
    dashed = ipaddress.ip_address(address).exploded.replace(".", "-").replace(":", "-")
    return f"{SERVICE}-{dashed}"
