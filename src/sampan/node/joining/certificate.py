"""Certificates of a node, through CertificateSigningRequests: a client certificate, and a certificate for the node's
server.

Source: kubelet certificate/bootstrap/bootstrap.go `requestNodeCertificate`, certificate/kubelet.go; client-go
util/certificate/csr (1.36).
"""

from __future__ import annotations

import base64
import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from sampan.client import Client, WaitTimeout, wait_for
from sampan.component_base.resources import CERTIFICATE_SIGNING_REQUESTS
from sampan.core.tls.certificates import KeyPair
from sampan.kinds import certificates_v1
from sampan.node.joining.errors import JoinError
from sampan.resource import meta

CLIENT_SIGNER: Final = "kubernetes.io/kube-apiserver-client-kubelet"
SERVING_SIGNER: Final = "kubernetes.io/kubelet-serving"
_ORGANIZATION: Final = "system:nodes"


@dataclass(frozen=True, slots=True)
class CertificateRequest:
    """New key with its request."""

    key: ec.EllipticCurvePrivateKey
    pem: bytes


def user_of(node: str) -> str:
    """Return the user name of a node."""
    return f"system:node:{node}"


def new_request(node: str, hosts: Sequence[str] = ()) -> CertificateRequest:
    """Return a new key and a request for the node's user. `hosts`: names and addresses of the node's server."""
    key = ec.generate_private_key(ec.SECP256R1())
    attributes = [
        x509.NameAttribute(NameOID.ORGANIZATION_NAME, _ORGANIZATION),
        x509.NameAttribute(NameOID.COMMON_NAME, user_of(node)),
    ]
    builder = x509.CertificateSigningRequestBuilder().subject_name(x509.Name(attributes))
    if hosts:
        names = x509.SubjectAlternativeName([alternative_name(host) for host in hosts])
        builder = builder.add_extension(names, critical=False)
    request = builder.sign(key, hashes.SHA256())
    return CertificateRequest(key, request.public_bytes(serialization.Encoding.PEM))


def alternative_name(host: str) -> x509.DNSName | x509.IPAddress:
    """Return a name or an address as a subject alternative name."""
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


async def request_certificate(client: Client, node: str, *, timeout_s: float) -> KeyPair:
    """Return a new client certificate and its key. Raises `JoinError`, `ClientError`.

    The request is approved by a controller if the client has the permission, or by an administrator.
    """
    return await _request(client, new_request(node), CLIENT_SIGNER, "client auth", timeout_s)


async def request_serving_certificate(client: Client, node: str, hosts: Sequence[str], *, timeout_s: float) -> KeyPair:
    """Return a new certificate for the node's server, and its key. Raises `JoinError`, `ClientError`.

    The request is approved by a controller if the Node has exactly these addresses, or by an administrator.
    """
    return await _request(client, new_request(node, hosts), SERVING_SIGNER, "server auth", timeout_s)


async def _request(client: Client, request: CertificateRequest, signer: str, purpose: str, timeout_s: float) -> KeyPair:
    requests = client.resource(CERTIFICATE_SIGNING_REQUESTS)
    usages = [purpose, "digital signature"]
    spec: certificates_v1.CertificateSigningRequestSpec = {
        "request": base64.b64encode(request.pem).decode(),
        "signerName": signer,
        "usages": usages,
    }
    created = await requests.create(
        {
            "apiVersion": "certificates.k8s.io/v1",
            "kind": "CertificateSigningRequest",
            "metadata": {"generateName": "csr-"},
            "spec": spec,
        }
    )
    name = meta(created).name
    try:
        decided = await wait_for(requests, name, is_decided, timeout_s=timeout_s)
    except WaitTimeout:
        raise JoinError(
            f"CertificateSigningRequest {name} was not signed within {timeout_s:g} s: check it with `kubectl get csr "
            f"{name}`, approve it with `kubectl certificate approve {name}`; the cluster needs the "
            "certificatesigningrequest controllers"
        ) from None
    return KeyPair(_issued(decided, name), request.key)


def is_decided(csr: certificates_v1.CertificateSigningRequest | None) -> bool:
    """Return True if a request is signed, denied, failed or deleted."""
    return csr is None or bool((csr.get("status") or {}).get("certificate")) or _refusal(csr) is not None


def _refusal(
    csr: certificates_v1.CertificateSigningRequest,
) -> certificates_v1.CertificateSigningRequestCondition | None:
    conditions = (csr.get("status") or {}).get("conditions") or []
    return next((each for each in conditions if each["type"] in ("Denied", "Failed")), None)


def _issued(csr: certificates_v1.CertificateSigningRequest | None, name: str) -> x509.Certificate:
    """Return the certificate of a decided request. Raises `JoinError`."""
    if csr is None:
        raise JoinError(f"CertificateSigningRequest {name} was deleted before it was signed")
    refusal = _refusal(csr)
    if refusal is not None:
        reason = refusal.get("message") or refusal.get("reason") or "no reason given"
        raise JoinError(f"CertificateSigningRequest {name} was refused ({refusal['type']}): {reason}")
    try:
        return x509.load_pem_x509_certificate(base64.b64decode(csr["status"]["certificate"]))
    except ValueError as error:
        raise JoinError(f"CertificateSigningRequest {name} has a malformed certificate: {error}") from error
