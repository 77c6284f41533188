"""`kubectl auth` and `certificate`."""

import base64
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

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


def as_bearer(kubectl: Kubectl, token: str, folder: Path) -> Kubectl:
    """kubectl with a token and nothing else."""
    config = folder / "kubeconfig"
    lines = Path(kubectl.environment["KUBECONFIG"]).read_text().splitlines()
    retained = [line for line in lines if "client-" not in line]
    config.write_text("\n".join([*retained, f"    token: {token}", ""]))
    return replace(kubectl, environment={**kubectl.environment, "KUBECONFIG": str(config)})


def test_a_token_of_a_service_account(kubectl: Kubectl, tmp_path: Path) -> None:
    kubectl("create", "serviceaccount", "robot")
    token = kubectl("create", "token", "robot", "--duration=15m")
    lines = as_bearer(kubectl, token, tmp_path)("auth", "whoami").splitlines()
    assert lines[1].split() == ["Username", f"system:serviceaccount:{kubectl.namespace}:robot"]


def test_a_token_that_is_bound_to_a_secret_ends_with_it(kubectl: Kubectl, tmp_path: Path) -> None:
    kubectl("create", "serviceaccount", "robot")
    kubectl("create", "secret", "generic", "s")
    token = kubectl("create", "token", "robot", "--bound-object-kind=Secret", "--bound-object-name=s")
    kubectl("delete", "secret", "s")
    message = as_bearer(kubectl, token, tmp_path).fails("auth", "whoami")
    assert message == "error: You must be logged in to the server (Unauthorized)"


def test_a_token_that_is_too_short_is_refused(kubectl: Kubectl) -> None:
    kubectl("create", "serviceaccount", "robot")
    message = kubectl.fails("create", "token", "robot", "--duration=1m")
    assert "may not specify a duration less than 10 minutes" in message


def test_whoami_as_another_user(kubectl: Kubectl) -> None:
    shown = kubectl("auth", "whoami", "--as=jane", "--as-group=dev", "--as-group=CN=ops,O=acme", "-o", "json")
    assert json.loads(shown)["status"]["userInfo"] == {
        "username": "jane",
        "groups": ["dev", "CN=ops,O=acme", "system:authenticated"],
    }


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


def test_an_approved_request_cannot_be_denied(kubectl: Kubectl, request_name: str) -> None:
    kubectl("certificate", "approve", request_name)
    message = kubectl.fails("certificate", "deny", request_name)
    assert message == f'error: certificate signing request "{request_name}" is already Approved'


def test_describe_a_request(kubectl: Kubectl, request_name: str) -> None:
    words = kubectl("describe", "csr", request_name).split()
    assert words[words.index("Status:") + 1] == "Pending"
    assert words[words.index("Common") + 2] == request_name


CLERK = """
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: clerk}
rules:
- {apiGroups: [""], resources: [configmaps], verbs: [get, list]}
- {apiGroups: [""], resources: [pods/log], resourceNames: [web], verbs: [get]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: clerks}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: clerk}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: carl}]
"""


@pytest.fixture
def clerk(kubectl: Kubectl) -> Kubectl:
    """kubectl in a namespace in which carl is a clerk."""
    kubectl("apply", "-f", "-", stdin=CLERK)
    return kubectl


CAN_I = [
    pytest.param(("get", "configmaps"), "yes", id="what the role gives"),
    pytest.param(("delete", "configmaps"), "no", id="another verb"),
    pytest.param(("get", "pods/web", "--subresource=log"), "yes", id="subresource of a name"),
    pytest.param(("get", "pods/db", "--subresource=log"), "no", id="subresource of another name"),
    pytest.param(("get", "configmaps", "--all-namespaces"), "no", id="everywhere"),
    pytest.param(("get", "/healthz"), "yes", id="public path"),
    pytest.param(("get", "/metrics"), "no", id="path of the few"),
]


@pytest.mark.parametrize(("question", "response"), CAN_I)
def test_can_i(clerk: Kubectl, question: tuple[str, ...], response: str) -> None:
    done = clerk.run("auth", "can-i", *question, "--as=carl")
    assert (done.stdout.strip(), done.returncode) == (response, 0 if response == "yes" else 1), done.stderr


def test_the_administrator_can_do_everything(kubectl: Kubectl) -> None:
    assert kubectl("auth", "can-i", "*", "*") == "yes"


def test_can_i_list(clerk: Kubectl) -> None:
    lines = clerk("auth", "can-i", "--list", "--as=carl").splitlines()
    assert lines[0].split() == ["Resources", "Non-Resource", "URLs", "Resource", "Names", "Verbs"]
    rows = [" ".join(line.split()) for line in lines[1:]]
    assert "configmaps [] [] [get list]" in rows
    assert "pods/log [] [web] [get]" in rows
    assert "[/version/] [] [get]" in rows


def test_a_right_outside_the_role_is_forbidden(clerk: Kubectl) -> None:
    assert clerk("get", "configmaps", "--as=carl", "-o", "name") == ""
    message = clerk.fails("get", "secrets", "--as=carl")
    expected = 'secrets is forbidden: User "carl" cannot list resource "secrets" in API group "" in the namespace'
    assert f'Error from server (Forbidden): {expected} "{clerk.namespace}"' == message


def test_reconcile(clerk: Kubectl) -> None:
    more = CLERK.replace("verbs: [get, list]", "verbs: [get, watch]").replace("name: carl", "name: cora")
    for name in ("clerk", "clerks"):  # this command needs an explicit namespace
        more = more.replace(f"metadata: {{name: {name}}}", f"metadata: {{name: {name}, namespace: {clerk.namespace}}}")
    done = clerk("auth", "reconcile", "-f", "-", stdin=more)
    assert "role.rbac.authorization.k8s.io/clerk reconciled" in done
    assert clerk.run("auth", "can-i", "watch", "configmaps", "--as=cora").stdout.strip() == "yes"
    assert clerk.run("auth", "can-i", "list", "configmaps", "--as=carl").stdout.strip() == "yes"


def test_create_role_and_bindings(kubectl: Kubectl) -> None:
    kubectl("create", "role", "reader", "--verb=get", "--resource=pods")
    kubectl("create", "rolebinding", "readers", "--role=reader", "--user=rob")
    assert kubectl.run("auth", "can-i", "get", "pods", "--as=rob").stdout.strip() == "yes"
    assert kubectl.run("auth", "can-i", "get", "pods", "--as=ron").stdout.strip() == "no"
