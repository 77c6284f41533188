"""Rules of the built-in signers for requests, as pure functions.

Source: kubernetes pkg/apis/certificates/helpers.go; pkg/controller/certificates/signer/signer.go (1.36).
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Collection, Mapping
from typing import Final

from cryptography import x509
from cryptography.x509.oid import NameOID

from sampan.controllers.status import find_status_condition
from sampan.kinds import certificates_v1

API_CLIENT: Final = "kubernetes.io/kube-apiserver-client"
KUBELET_CLIENT: Final = "kubernetes.io/kube-apiserver-client-kubelet"
KUBELET_SERVING: Final = "kubernetes.io/kubelet-serving"
LEGACY_UNKNOWN: Final = "kubernetes.io/legacy-unknown"
NODES_GROUP: Final = "system:nodes"
NODE_PREFIX: Final = "system:node:"
_SIGNING: Final = {"digital signature", "key encipherment"}


def request_of(csr: certificates_v1.CertificateSigningRequest) -> x509.CertificateSigningRequest:
    """Decode the PKCS#10 request. Raises `ValueError`."""
    return x509.load_pem_x509_csr(base64.b64decode(csr["spec"]["request"]))


def has(csr: certificates_v1.CertificateSigningRequest, condition: str) -> bool:
    """Return True if the request has a condition (`Approved`, `Denied`, `Failed`)."""
    return find_status_condition(csr.get("status") or {}, condition) is not None


def is_issued(csr: certificates_v1.CertificateSigningRequest) -> bool:
    """Return True if the certificate has been issued."""
    return bool((csr.get("status") or {}).get("certificate"))


def fault(csr: certificates_v1.CertificateSigningRequest, request: x509.CertificateSigningRequest) -> str:
    """Return the reason why the request's signer refuses it; empty if the signer accepts it."""
    return SIGNERS[csr["spec"]["signerName"]](request, set(csr["spec"].get("usages") or ()))


def common_name(request: x509.CertificateSigningRequest) -> str:
    """Return the common name of the subject."""
    found = request.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    return str(found[0].value) if found else ""


def alternative_names(request: x509.CertificateSigningRequest) -> list[x509.GeneralName]:
    """Return the subject alternative names of the request."""
    try:
        return list(request.extensions.get_extension_for_class(x509.SubjectAlternativeName).value)
    except x509.ExtensionNotFound:
        return []


def _api_client_fault(_request: x509.CertificateSigningRequest, usages: Collection[str]) -> str:
    if "client auth" not in usages or not set(usages) <= {*_SIGNING, "client auth"}:
        return "usages did not match {digital signature, key encipherment, client auth}"
    return ""


def _kubelet_client_fault(request: x509.CertificateSigningRequest, usages: Collection[str]) -> str:
    if alternative_names(request):
        return "subject alternative names are not allowed"
    return _node_fault(request, usages, "client auth")


def _kubelet_serving_fault(request: x509.CertificateSigningRequest, usages: Collection[str]) -> str:
    names = alternative_names(request)
    if not names:
        return "DNS or IP subjectAltName is required"
    if not all(isinstance(name, x509.DNSName | x509.IPAddress) for name in names):
        return "only DNS and IP subjectAltNames are allowed"
    return _node_fault(request, usages, "server auth")


def _node_fault(request: x509.CertificateSigningRequest, usages: Collection[str], purpose: str) -> str:
    organizations = [name.value for name in request.subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)]
    if organizations != [NODES_GROUP]:
        return f"subject organization is not {NODES_GROUP}"
    if not common_name(request).startswith(NODE_PREFIX):
        return f"subject common name does not begin with {NODE_PREFIX}"
    if set(usages) not in ({"digital signature", purpose}, {*_SIGNING, purpose}):
        return f"usages did not match {{digital signature, {purpose}}}"
    return ""


def _no_fault(_request: x509.CertificateSigningRequest, _usages: Collection[str]) -> str:
    return ""


SIGNERS: Final[Mapping[str, Callable[[x509.CertificateSigningRequest, Collection[str]], str]]] = {
    API_CLIENT: _api_client_fault,
    KUBELET_CLIENT: _kubelet_client_fault,
    KUBELET_SERVING: _kubelet_serving_fault,
    LEGACY_UNKNOWN: _no_fault,
}
"""Checks of the built-in signers, by signer name."""
