"""The approver of serving certificates: approves requests of nodes for their own names and addresses.

Kubernetes leaves the approval to administrators, because the node itself reports its addresses. This controller
approves a request only if all of these conditions are met:

- the node itself requests it, and may create `certificatesigningrequests/selfnodeserver`;
- the only DNS name is the node's name, and the API server does not use that name;
- each address is an address of this Node only, not of another Node, the API server, a Service or the loopback network.

So an attacker with a stolen node certificate cannot get a serving certificate of the API server or of another node.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from typing import Final
from urllib.parse import urlsplit

import yaml
from cryptography import x509

from sampan.client import NotFound
from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import (
    CERTIFICATE_SIGNING_REQUESTS,
    CONFIG_MAPS,
    ENDPOINT_SLICES,
    NODES,
    SERVICE_CIDRS,
)
from sampan.controllers.certificate_signing.approval import Approval, NotRecognized
from sampan.controllers.certificate_signing.rules import (
    KUBELET_SERVING,
    NODE_PREFIX,
    alternative_names,
    common_name,
    fault,
    has,
    is_issued,
    request_of,
)
from sampan.core.tokens.bootstrap import CLUSTER_INFO, CLUSTER_INFO_NAMESPACE, KUBECONFIG_KEY
from sampan.kinds import certificates_v1, core_v1
from sampan.operator.builder import Builder
from sampan.operator.request import Request, Result

NAME: Final = "kubelet-serving-approving-controller"
PERMISSION: Final = "selfnodeserver"
_API_SERVER: Final = "kubernetes"
_ADDRESS_TYPES: Final = ("InternalIP", "ExternalIP")

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def set_up(context: ControllerContext) -> None:
    """Register the controller with the manager."""
    (Builder(context.manager).named(NAME).for_(CERTIFICATE_SIGNING_REQUESTS).complete(ServingApprover(context)))


class ServingApprover:
    """Approves requests of nodes for serving certificates."""

    def __init__(self, context: ControllerContext) -> None:
        client = context.manager.client
        self._requests = client.resource(CERTIFICATE_SIGNING_REQUESTS)
        self._direct = client.direct
        self._api_server = context.api_server
        self._approval = Approval(context)

    async def reconcile(self, request: Request) -> Result | None:
        """Reconcile one request. Raises `NotRecognized`, `ApiError`, `TransportError`."""
        csr = await self._requests.find(request)
        if csr is None or csr["spec"].get("signerName") != KUBELET_SERVING:
            return None
        if is_issued(csr) or has(csr, "Approved") or has(csr, "Denied"):
            return None
        reason = await self._refusal(csr)
        if reason:
            raise NotRecognized(
                f'csr "{request.name}" is not approved automatically: {reason}; check it, and approve it with '
                f"`kubectl certificate approve {request.name}`"
            )
        await self._approval.approve(csr, "Auto approving serving certificate for the name and addresses of the Node.")
        return None

    async def _refusal(self, csr: certificates_v1.CertificateSigningRequest) -> str:
        """Return the reason why a request is not approved, or an empty string if it is approved."""
        try:
            desired = request_of(csr)
        except ValueError as error:
            return f"it is malformed: {error}"
        found = fault(csr, desired)
        if found:
            return found
        if csr["spec"].get("username") != common_name(desired):
            return "another user requests it than the node that it is for"
        if not await self._approval.may(csr, PERMISSION):
            return f"the node may not create certificatesigningrequests/{PERMISSION}"
        name = common_name(desired).removeprefix(NODE_PREFIX)
        nodes: list[core_v1.Node] = [*(await self._direct.resource(NODES).list())]
        return refusal(name, alternative_names(desired), nodes, await self._api_server_hosts(), await self._services())

    async def _api_server_hosts(self) -> list[str]:
        """Return names and addresses of the API server.

        They are those that the control loops and `cluster-info` use, and those in the EndpointSlices of the API server.
        """
        found = [urlsplit(self._api_server).hostname or ""]
        try:
            info = await self._direct.resource(CONFIG_MAPS, namespace=CLUSTER_INFO_NAMESPACE).get(CLUSTER_INFO)
            kubeconfig = yaml.safe_load(info["data"][KUBECONFIG_KEY])
            found += [urlsplit(each["cluster"]["server"]).hostname or "" for each in kubeconfig["clusters"]]
        except NotFound:
            pass
        slices = await self._direct.resource(ENDPOINT_SLICES, namespace="default").list()
        for each in slices:
            if (each["metadata"].get("labels") or {}).get("kubernetes.io/service-name") == _API_SERVER:
                found += [address for endpoint in each.get("endpoints") or () for address in endpoint["addresses"]]
        return found

    async def _services(self) -> list[str]:
        """Return the networks of cluster IPs."""
        found = await self._direct.resource(SERVICE_CIDRS).list()
        return [cidr for each in found for cidr in (each.get("spec") or {}).get("cidrs") or ()]


def refusal(
    name: str,
    names: Iterable[x509.GeneralName],
    nodes: Iterable[core_v1.Node],
    api_server: Iterable[str],
    services: Iterable[str],
) -> str:
    """Return the reason why a node must not get a certificate for these names, or an empty string if it may.

    `api_server`: names and addresses of the API server. `services`: networks of cluster IPs.
    """
    owners: dict[Address, set[str]] = {}
    for node in nodes:
        for address in addresses_of(node):
            owners.setdefault(address, set()).add(node["metadata"]["name"])
    reserved = {host.lower() for host in api_server}
    networks = [ipaddress.ip_network(cidr) for cidr in services]
    for each in names:
        found = (
            _name_refusal(name, str(each.value), reserved)
            if isinstance(each, x509.DNSName)
            else _address_refusal(name, each, owners, reserved, networks)
        )
        if found:
            return found
    return ""


def _name_refusal(name: str, desired: str, reserved: set[str]) -> str:
    if desired != name:
        return f"the DNS name {desired} is not the node's name {name}"
    words = desired.split(".")
    if desired in reserved or words[0] in (_API_SERVER, "localhost") or "svc" in words:
        return f"the DNS name {desired} may be one of the API server or of a Service"
    return ""


def _address_refusal(
    name: str,
    desired: x509.GeneralName,
    owners: dict[Address, set[str]],
    reserved: set[str],
    services: Iterable[ipaddress.IPv4Network | ipaddress.IPv6Network],
) -> str:
    if not isinstance(desired, x509.IPAddress):
        return "only DNS names and addresses are approved"
    address = ipaddress.ip_address(str(desired.value))
    found = owners.get(address, set())
    if name not in found:
        return f"the Node {name} does not have the address {address}"
    if found != {name}:
        return f"more than one Node has the address {address}"
    if str(address) in reserved or address.is_loopback or address.is_unspecified or address.is_multicast:
        return f"the address {address} may be one of the API server"
    if any(address in network for network in services):
        return f"the address {address} is in the range of cluster IPs"
    return ""


def addresses_of(node: core_v1.Node) -> list[Address]:
    """Return the addresses of a Node that are IP addresses."""
    found = []
    status = node.get("status")
    for each in (status.get("addresses") if status else None) or ():
        if each.get("type") in _ADDRESS_TYPES:
            try:
                found.append(ipaddress.ip_address(each["address"]))
            except ValueError:
                continue
    return found
