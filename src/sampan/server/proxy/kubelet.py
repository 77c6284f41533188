"""`KubeletConnection`: the address of a Node's kubelet, and the credentials for it.

Source: kubernetes pkg/kubelet/client/kubelet_client.go, pkg/util/node GetPreferredNodeAddress (1.36).
"""

import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from sampan.core import errors
from sampan.core.errors import Reason, StatusError
from sampan.core.gvk import GroupResource
from sampan.core.object import Object
from sampan.core.settings import setting
from sampan.core.settings.kinds import CERTIFICATES_FILE, KEY_FILE, NAMES, SECONDS
from sampan.core.tls.trust import client_context, unverified_context
from sampan.http.client.dial import Way
from sampan.streams.tunnels import NodeTunnels

DEFAULT_PORT = 10250
PREFERRED_ADDRESS_TYPES = ("InternalIP", "ExternalIP", "Hostname")
"""Order of address types, as kubeadm sets it. Host names come last, because the server's machine may be unable to
resolve them.
"""
_NODES = GroupResource("", "nodes")
_HTTP_1 = ["http/1.1"]


class NodeReader(Protocol):
    """Source of Nodes."""

    def get(self, group: str, resource: str, namespace: str, name: str) -> Object | None:
        """Return an object, or None."""


@dataclass(frozen=True, slots=True)
class KubeletSettings:
    """Settings of the connections to kubelets."""

    client_certificate: Path | None = setting(
        None,
        "Client certificate for kubelets. Needs --kubelet-client-key.",
        kind=CERTIFICATES_FILE,
        default="pki/apiserver-kubelet-client.crt in --data",
    )
    client_key: Path | None = setting(None, "Key of --kubelet-client-certificate.", kind=KEY_FILE)
    certificate_authority: Path | None = setting(
        None,
        "CA certificates for the serving certificates of kubelets. Without it they are not verified.",
        kind=CERTIFICATES_FILE,
    )
    preferred_address_types: tuple[str, ...] = setting(
        PREFERRED_ADDRESS_TYPES, "Types of Node addresses to connect to, the preferred one first.", kind=NAMES
    )
    timeout_s: float = setting(5.0, "Timeout of connecting to a kubelet.", kind=SECONDS)


@dataclass(frozen=True, slots=True)
class Kubelet:
    """Address and TLS contexts of one kubelet."""

    host: str
    port: int
    tls: ssl.SSLContext
    insecure_tls: ssl.SSLContext
    """TLS context that does not verify the serving certificate."""
    way: Way | None = None
    """Tunnel of the node."""


class KubeletConnection:
    """Finds kubelets. Raises `OSError` (`ssl.SSLError`) if a file of the settings cannot be used."""

    def __init__(
        self, nodes: NodeReader, settings: KubeletSettings | None = None, tunnels: NodeTunnels | None = None
    ) -> None:
        self._nodes = nodes
        self._tunnels = tunnels or NodeTunnels()
        self.settings = settings or KubeletSettings()
        self._insecure_tls = self._context(None)
        authority = self.settings.certificate_authority
        self._tls = self._context(authority) if authority is not None else self._insecure_tls

    def of(self, node_name: str) -> Kubelet:
        """Return the kubelet of a Node. Raises `StatusError`: 404 for an unknown Node, 500 without an address."""
        node = self._nodes.get("", "nodes", "", node_name) if node_name else None
        if node is None:
            raise errors.not_found(_NODES, node_name)
        status: dict[str, Any] = node.get("status") or {}
        endpoint = (status.get("daemonEndpoints") or {}).get("kubeletEndpoint") or {}
        port = endpoint.get("Port") or DEFAULT_PORT
        address = self._address(status.get("addresses") or [])
        way = self._tunnels.to(node_name, kubelet=True)
        return Kubelet(address, port, self._tls, self._insecure_tls, way)

    def _address(self, addresses: list[dict[str, str]]) -> str:
        for desired in self.settings.preferred_address_types:
            for address in addresses:
                if address.get("type") == desired and address.get("address"):
                    return address["address"]
        known = " ".join(f"{{{address.get('type')} {address.get('address')}}}" for address in addresses)
        raise StatusError(Reason.UNKNOWN, 500, f"no preferred addresses found; known addresses: [{known}]")

    def _context(self, authority: Path | None) -> ssl.SSLContext:
        settings = self.settings
        if authority is None:
            context = unverified_context(protocols=_HTTP_1)
        else:
            context = client_context(authority.read_text("ascii", "replace"), protocols=_HTTP_1)
        if settings.client_certificate is not None:
            context.load_cert_chain(settings.client_certificate, settings.client_key)
        return context


def unverified_tls() -> ssl.SSLContext:
    """Return a context for Pods and Services. They are reached by IP address, so there is no name to verify."""
    return unverified_context(protocols=_HTTP_1)
