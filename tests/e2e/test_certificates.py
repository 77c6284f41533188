"""CertificateSigningRequests with the loops that approve and sign them, up to the use of the certificate."""

import base64
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.cli.server import Server, running
from tests.e2e.conftest import PASSED_ON
from tests.e2e.kubectl import Kubectl

pytestmark = pytest.mark.e2e

TIMEOUT = "--timeout=30s"
LOOPS = (
    "--controllers=certificatesigningrequest-approving-controller,certificatesigningrequest-signing-controller",
    "--no-scheduler",
    "--nodes=0",
)
NODE = ("--as=system:node:seven", "--as-group=system:nodes", "--as-group=system:authenticated")
REQUEST = """
apiVersion: certificates.k8s.io/v1
kind: CertificateSigningRequest
metadata: {{name: {name}}}
spec: {{request: {request}, signerName: kubernetes.io/{signer}, usages: [digital signature, client auth]}}
"""


@pytest.fixture(scope="module")
def up(program: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with these loops and no others."""
    with running(tmp_path_factory.mktemp("csr") / "data", "--storage", "memory", *LOOPS, loops=True) as started:
        yield started


@pytest.fixture
def admin(up: Server, program: str, tmp_path: Path) -> Kubectl:
    """kubectl with all rights."""
    passed_on = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    environment = {**passed_on, "HOME": str(tmp_path), "KUBECONFIG": str(up.data / "kubeconfig"), "NO_PROXY": "*"}
    return Kubectl(program, environment, "default")


def requested(
    name: str, key: ec.EllipticCurvePrivateKey, subject: dict[x509.ObjectIdentifier, str], signer: str
) -> str:
    """Return a manifest of a CertificateSigningRequest."""
    attributes = [x509.NameAttribute(kind, value) for kind, value in subject.items()]
    request = x509.CertificateSigningRequestBuilder(x509.Name(attributes)).sign(key, hashes.SHA256())
    pem = base64.b64encode(request.public_bytes(serialization.Encoding.PEM)).decode()
    return REQUEST.format(name=name, request=pem, signer=signer)


def as_holder(kubectl: Kubectl, certificate: bytes, key: ec.EllipticCurvePrivateKey, folder: Path) -> Kubectl:
    """kubectl with a certificate in the place of the administrator's."""
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / "user.crt").write_bytes(certificate)
    (folder / "user.key").write_bytes(pem)
    lines = Path(kubectl.environment["KUBECONFIG"]).read_text().splitlines()
    retained = [line for line in lines if "client-" not in line]
    files = [f"    client-certificate: {folder / 'user.crt'}", f"    client-key: {folder / 'user.key'}"]
    (folder / "config").write_text("\n".join([*retained, *files, ""]))
    return replace(kubectl, environment={**kubectl.environment, "KUBECONFIG": str(folder / "config")})


def issued(kubectl: Kubectl, name: str) -> bytes:
    """The certificate, once it is there."""
    kubectl("wait", "--for=jsonpath={.status.certificate}", f"csr/{name}", TIMEOUT)
    return base64.b64decode(kubectl.get("csr", name)["status"]["certificate"])


def test_an_approved_request_is_signed_and_its_certificate_authenticates(admin: Kubectl, tmp_path: Path) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = {NameOID.ORGANIZATION_NAME: "ops", NameOID.COMMON_NAME: "jane"}
    admin("create", "-f", "-", stdin=requested("jane", key, subject, "kube-apiserver-client"))
    admin("certificate", "approve", "jane")
    jane = as_holder(admin, issued(admin, "jane"), key, tmp_path)
    shown = dict(line.split(maxsplit=1) for line in jane("auth", "whoami").splitlines())
    assert shown["Username"] == "jane"
    assert "ops" in shown["Groups"]


def test_a_kubelet_gets_its_certificate_if_it_may_request_it(admin: Kubectl, tmp_path: Path) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = {NameOID.ORGANIZATION_NAME: "system:nodes", NameOID.COMMON_NAME: "system:node:seven"}
    role = "--clusterrole=system:certificates.k8s.io:certificatesigningrequests:selfnodeclient"
    admin("create", "clusterrolebinding", "renewal", role, "--group=system:nodes")
    admin("create", "-f", "-", *NODE, stdin=requested("seven", key, subject, "kube-apiserver-client-kubelet"))
    certificate = x509.load_pem_x509_certificate(issued(admin, "seven"))
    assert certificate.public_key() == key.public_key()
    assert "Auto approving self kubelet client certificate" in admin("get", "csr", "seven", "-o", "yaml")
