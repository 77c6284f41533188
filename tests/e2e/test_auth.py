"""`kubectl auth whoami` and `certificate`."""

import base64
from collections.abc import Iterator

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.e2e.kubectl import Kubectl

pytestmark = pytest.mark.e2e

REQUEST = """
apiVersion: certificates.k8s.io/v1
kind: CertificateSigningRequest
metadata: {{name: {name}}}
spec:
  request: {request}
  signerName: kubernetes.io/kube-apiserver-client
  usages: [client auth]
"""


def signing_request(user: str) -> str:
    """A PKCS #10 request in PEM, as base64."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, user)])
    request = x509.CertificateSigningRequestBuilder(name).sign(key, hashes.SHA256())
    return base64.b64encode(request.public_bytes(serialization.Encoding.PEM)).decode()


@pytest.fixture
def request_name(kubectl: Kubectl, numbers: Iterator[int]) -> str:
    """A CertificateSigningRequest that waits."""
    name = f"csr-{next(numbers)}"
    kubectl("create", "-f", "-", stdin=REQUEST.format(name=name, request=signing_request(name)))
    return name


def conditions(kubectl: Kubectl, name: str) -> list[str]:
    """The types of the request's conditions."""
    return [condition["type"] for condition in kubectl.get("csr", name)["status"].get("conditions", [])]


def test_whoami(kubectl: Kubectl) -> None:
    lines = [line.split(maxsplit=1) for line in kubectl("auth", "whoami").splitlines()]
    assert lines[0] == ["ATTRIBUTE", "VALUE"]
    found = dict(lines[1:])
    assert found["Username"]
    assert "system:masters" in found["Groups"]


def test_a_request_is_pending(kubectl: Kubectl, request_name: str) -> None:
    header, row = kubectl("get", "csr", request_name).splitlines()
    assert header.split() == ["NAME", "AGE", "SIGNERNAME", "REQUESTOR", "REQUESTEDDURATION", "CONDITION"]
    assert row.split()[-1] == "Pending"
    assert conditions(kubectl, request_name) == []


def test_approve(kubectl: Kubectl, request_name: str) -> None:
    done = kubectl("certificate", "approve", request_name)
    assert done == f"certificatesigningrequest.certificates.k8s.io/{request_name} approved"
    assert conditions(kubectl, request_name) == ["Approved"]
    assert kubectl("get", "csr", request_name, "--no-headers").split()[-1] == "Approved"


def test_deny(kubectl: Kubectl, request_name: str) -> None:
    done = kubectl("certificate", "deny", request_name)
    assert done == f"certificatesigningrequest.certificates.k8s.io/{request_name} denied"
    assert conditions(kubectl, request_name) == ["Denied"]


def test_what_is_approved_cannot_be_denied(kubectl: Kubectl, request_name: str) -> None:
    kubectl("certificate", "approve", request_name)
    message = kubectl.fails("certificate", "deny", request_name)
    assert message == f'error: certificate signing request "{request_name}" is already Approved'


def test_describe_a_request(kubectl: Kubectl, request_name: str) -> None:
    words = kubectl("describe", "csr", request_name).split()
    assert words[words.index("Status:") + 1] == "Pending"
    assert words[words.index("Common") + 2] == request_name
