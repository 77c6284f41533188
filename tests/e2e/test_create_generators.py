"""`kubectl create <type>`: every generator, and the object that it leaves."""

import base64
import datetime
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.e2e.conftest import Api
from tests.e2e.kubectl import Kubectl

pytestmark = pytest.mark.e2e


@pytest.fixture
def unique(numbers: Iterator[int]) -> str:
    """A name for what lives outside of namespaces."""
    return f"made-{next(numbers)}"


def test_configmap_from_literals_and_files(kubectl: Kubectl, tmp_path: Path) -> None:
    (tmp_path / "app.conf").write_text("a = 1\n")
    (tmp_path / "blob").write_bytes(b"\xff\xfe")
    (tmp_path / "env").write_text("X=1\nY=2\n")
    made = kubectl(
        "create",
        "configmap",
        "made",
        "--from-literal=k=v",
        f"--from-file={tmp_path / 'app.conf'}",
        f"--from-file=renamed={tmp_path / 'blob'}",
    )
    assert made == "configmap/made created"
    found = kubectl.get("cm", "made")
    assert found["data"] == {"k": "v", "app.conf": "a = 1\n"}
    assert found["binaryData"] == {"renamed": "//4="}
    kubectl("create", "cm", "env", f"--from-env-file={tmp_path / 'env'}")
    assert kubectl.get("cm", "env")["data"] == {"X": "1", "Y": "2"}


def test_secret_generic(kubectl: Kubectl) -> None:
    assert kubectl("create", "secret", "generic", "made", "--from-literal=password=s3cr3t") == "secret/made created"
    found = kubectl.get("secret", "made")
    assert (found["type"], found["data"]) == ("Opaque", {"password": "czNjcjN0"})


def test_secret_generic_of_a_type(kubectl: Kubectl) -> None:
    kubectl(
        "create",
        "secret",
        "generic",
        "made",
        "--type=kubernetes.io/basic-auth",
        "--from-literal=username=u",
        "--from-literal=password=p",
    )
    assert kubectl("get", "secret", "made", "--no-headers").split()[:3] == ["made", "kubernetes.io/basic-auth", "2"]


def test_secret_docker_registry(kubectl: Kubectl) -> None:
    kubectl(
        "create",
        "secret",
        "docker-registry",
        "made",
        "--docker-server=registry.example.com",
        "--docker-username=u",
        "--docker-password=p",
        "--docker-email=u@example.com",
    )
    found = kubectl.get("secret", "made")
    assert found["type"] == "kubernetes.io/dockerconfigjson"
    entry = json.loads(base64.b64decode(found["data"][".dockerconfigjson"]))["auths"]["registry.example.com"]
    assert (entry["username"], entry["password"]) == ("u", "p")


def certificate_files(folder: Path) -> tuple[Path, Path]:
    """A self-signed certificate and its key, as PEM files."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "web")])
    start = datetime.datetime.now(datetime.UTC)
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    certificate = (
        builder.not_valid_before(start).not_valid_after(start + datetime.timedelta(days=1)).sign(key, hashes.SHA256())
    )
    (folder / "tls.crt").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    )
    (folder / "tls.key").write_bytes(private)
    return folder / "tls.crt", folder / "tls.key"


def test_secret_tls(kubectl: Kubectl, tmp_path: Path) -> None:
    certificate, key = certificate_files(tmp_path)
    assert kubectl("create", "secret", "tls", "made", f"--cert={certificate}", f"--key={key}") == "secret/made created"
    found = kubectl.get("secret", "made")
    assert found["type"] == "kubernetes.io/tls"
    assert {name: base64.b64decode(value) for name, value in found["data"].items()} == {
        "tls.crt": certificate.read_bytes(),
        "tls.key": key.read_bytes(),
    }


def test_deployment(kubectl: Kubectl) -> None:
    done = kubectl("create", "deployment", "made", "--image=nginx:1.27", "--replicas=3", "--port=80")
    assert done == "deployment.apps/made created"
    spec = kubectl.get("deployment", "made")["spec"]
    assert (spec["replicas"], spec["selector"]) == (3, {"matchLabels": {"app": "made"}})
    (container,) = spec["template"]["spec"]["containers"]
    assert (container["name"], container["image"]) == ("nginx", "nginx:1.27")
    assert container["ports"] == [{"containerPort": 80, "protocol": "TCP"}]


def test_deployment_with_a_command(kubectl: Kubectl) -> None:
    kubectl("create", "deploy", "made", "--image=busybox", "--", "sleep", "1d")
    (container,) = kubectl.get("deploy", "made")["spec"]["template"]["spec"]["containers"]
    assert container["command"] == ["sleep", "1d"]


def test_job(kubectl: Kubectl) -> None:
    assert kubectl("create", "job", "made", "--image=busybox", "--", "date") == "job.batch/made created"
    found = kubectl.get("job", "made")
    uid = found["metadata"]["uid"]
    assert found["spec"]["selector"] == {"matchLabels": {"batch.kubernetes.io/controller-uid": uid}}
    assert found["spec"]["template"]["spec"]["restartPolicy"] == "Never"
    assert kubectl("get", "job", "made", "--no-headers").split()[:3] == ["made", "Running", "0/1"]


def test_cronjob_and_a_job_from_it(kubectl: Kubectl) -> None:
    done = kubectl("create", "cronjob", "made", "--image=busybox", "--schedule=*/5 * * * *", "--", "date")
    assert done == "cronjob.batch/made created"
    spec = kubectl.get("cj", "made")["spec"]
    assert (spec["schedule"], spec["concurrencyPolicy"], spec["suspend"]) == ("*/5 * * * *", "Allow", False)
    assert kubectl("create", "job", "now", "--from=cronjob/made") == "job.batch/now created"
    metadata = kubectl.get("job", "now")["metadata"]
    assert metadata["annotations"] == {"cronjob.kubernetes.io/instantiate": "manual"}
    assert [owner["kind"] for owner in metadata["ownerReferences"]] == ["CronJob"]


def test_ingress(kubectl: Kubectl) -> None:
    done = kubectl(
        "create",
        "ingress",
        "made",
        "--class=nginx",
        "--rule=example.com/shop*=web:80,tls=cert",
        "--default-backend=other:http",
        "--annotation=a=b",
    )
    assert done == "ingress.networking.k8s.io/made created"
    found = kubectl.get("ingress", "made")
    spec = found["spec"]
    assert found["metadata"]["annotations"] == {"a": "b"}
    assert spec["ingressClassName"] == "nginx"
    assert spec["defaultBackend"] == {"service": {"name": "other", "port": {"name": "http"}}}
    assert spec["tls"] == [{"hosts": ["example.com"], "secretName": "cert"}]
    backend = {"service": {"name": "web", "port": {"number": 80}}}
    assert spec["rules"] == [
        {"host": "example.com", "http": {"paths": [{"path": "/shop", "pathType": "Prefix", "backend": backend}]}}
    ]
    assert kubectl("get", "ingress", "made", "--no-headers").split()[:4] == ["made", "nginx", "example.com", "80,"]


def test_namespace(kubectl: Kubectl, unique: str) -> None:
    assert kubectl("create", "namespace", unique) == f"namespace/{unique} created"
    found = kubectl.get("ns", unique)
    assert found["metadata"]["labels"] == {"kubernetes.io/metadata.name": unique}
    assert (found["spec"], found["status"]) == ({"finalizers": ["kubernetes"]}, {"phase": "Active"})


def test_poddisruptionbudget(kubectl: Kubectl) -> None:
    done = kubectl("create", "poddisruptionbudget", "made", "--selector=app=web", "--max-unavailable=20%")
    assert done == "poddisruptionbudget.policy/made created"
    spec = kubectl.get("pdb", "made")["spec"]
    assert spec == {"maxUnavailable": "20%", "selector": {"matchLabels": {"app": "web"}}}
    assert kubectl("get", "pdb", "made", "--no-headers").split()[:4] == ["made", "N/A", "20%", "0"]


def test_priorityclass(kubectl: Kubectl, unique: str) -> None:
    done = kubectl("create", "priorityclass", unique, "--value=1000", "--description=high", "--preemption-policy=Never")
    assert done == f"priorityclass.scheduling.k8s.io/{unique} created"
    found = kubectl.get("pc", unique)
    assert (found["value"], found["description"], found["preemptionPolicy"]) == (1000, "high", "Never")


def test_quota(kubectl: Kubectl) -> None:
    done = kubectl("create", "quota", "made", "--hard=cpu=1,memory=1G,pods=2", "--scopes=NotTerminating")
    assert done == "resourcequota/made created"
    spec = kubectl.get("quota", "made")["spec"]
    assert spec == {"hard": {"cpu": "1", "memory": "1G", "pods": "2"}, "scopes": ["NotTerminating"]}


def test_role_and_rolebinding(kubectl: Kubectl, namespace: str) -> None:
    done = kubectl(
        "create", "role", "made", "--verb=get,list", "--resource=pods,deployments.apps/status", "--resource-name=web"
    )
    assert done == "role.rbac.authorization.k8s.io/made created"
    assert kubectl.get("role", "made")["rules"] == [
        {"apiGroups": [""], "resources": ["pods"], "resourceNames": ["web"], "verbs": ["get", "list"]},
        {
            "apiGroups": ["apps"],
            "resources": ["deployments/status"],
            "resourceNames": ["web"],
            "verbs": ["get", "list"],
        },
    ]
    done = kubectl("create", "rolebinding", "made", "--role=made", "--user=eve", f"--serviceaccount={namespace}:robot")
    assert done == "rolebinding.rbac.authorization.k8s.io/made created"
    found = kubectl.get("rolebinding", "made")
    assert found["roleRef"] == {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "made"}
    assert found["subjects"] == [
        {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "eve"},
        {"kind": "ServiceAccount", "name": "robot", "namespace": namespace},
    ]


def test_clusterrole_and_clusterrolebinding(kubectl: Kubectl, unique: str) -> None:
    done = kubectl("create", "clusterrole", unique, "--verb=get", "--resource=nodes", "--non-resource-url=/metrics")
    assert done == f"clusterrole.rbac.authorization.k8s.io/{unique} created"
    assert kubectl.get("clusterrole", unique)["rules"] == [
        {"apiGroups": [""], "resources": ["nodes"], "verbs": ["get"]},
        {"nonResourceURLs": ["/metrics"], "verbs": ["get"]},
    ]
    done = kubectl("create", "clusterrolebinding", unique, f"--clusterrole={unique}", "--group=admins")
    assert done == f"clusterrolebinding.rbac.authorization.k8s.io/{unique} created"
    assert [subject["name"] for subject in kubectl.get("clusterrolebinding", unique)["subjects"]] == ["admins"]


def test_clusterrole_of_aggregated_rules(kubectl: Kubectl, unique: str) -> None:
    kubectl("create", "clusterrole", unique, "--aggregation-rule=rbac.example.com/aggregate=yes")
    selectors = kubectl.get("clusterrole", unique)["aggregationRule"]["clusterRoleSelectors"]
    assert selectors == [{"matchLabels": {"rbac.example.com/aggregate": "yes"}}]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        pytest.param(["clusterip", "made", "--tcp=5678:8080"], {"type": "ClusterIP"}, id="clusterip"),
        pytest.param(
            ["clusterip", "made", "--clusterip=None"], {"type": "ClusterIP", "clusterIP": "None"}, id="headless"
        ),
        pytest.param(["nodeport", "made", "--tcp=5678:8080"], {"type": "NodePort"}, id="nodeport"),
        pytest.param(["loadbalancer", "made", "--tcp=5678:8080"], {"type": "LoadBalancer"}, id="loadbalancer"),
        pytest.param(
            ["externalname", "made", "--external-name=example.com"],
            {"type": "ExternalName", "externalName": "example.com"},
            id="externalname",
        ),
    ],
)
def test_services(kubectl: Kubectl, arguments: list[str], expected: dict[str, Any]) -> None:
    assert kubectl("create", "service", *arguments) == "service/made created"
    spec = kubectl.get("service", "made")["spec"]
    assert {name: spec.get(name) for name in expected} == expected
    assert spec["selector"] == {"app": "made"}
    assert ("clusterIP" in spec) == (spec["type"] != "ExternalName")
    has_node_port = [30000 <= port.get("nodePort", 0) <= 32767 for port in spec.get("ports", ())]
    count = sum(argument.startswith("--tcp=") for argument in arguments)
    assert has_node_port == [spec["type"] in ("NodePort", "LoadBalancer")] * count


def test_a_node_port_can_be_chosen_once(kubectl: Kubectl) -> None:
    kubectl("create", "service", "nodeport", "first", "--tcp=80", "--node-port=30123")
    assert kubectl.get("svc", "first")["spec"]["ports"][0]["nodePort"] == 30123
    message = kubectl.fails("create", "service", "nodeport", "second", "--tcp=80", "--node-port=30123")
    assert "provided port is already allocated" in message
    kubectl("delete", "svc", "first")


def test_serviceaccount(kubectl: Kubectl) -> None:
    assert kubectl("create", "serviceaccount", "made") == "serviceaccount/made created"
    assert kubectl.names("sa/made") == ["serviceaccount/made"]


def test_dry_run_of_a_generator_on_the_server(kubectl: Kubectl) -> None:
    made = json.loads(kubectl("create", "deploy", "made", "--image=x", "--dry-run=server", "-o", "json"))
    assert made["spec"]["revisionHistoryLimit"] == 10
    assert kubectl.names("deploy") == []


def test_dry_run_of_the_client_writes_a_manifest(kubectl: Kubectl) -> None:
    manifest = kubectl("create", "deploy", "made", "--image=x", "--dry-run=client", "-o", "yaml")
    assert kubectl.apply(manifest) == "deployment.apps/made created"


def test_a_generated_object_that_exists_is_an_error(kubectl: Kubectl) -> None:
    kubectl("create", "cm", "made")
    assert (
        kubectl.fails("create", "cm", "made") == 'error: failed to create configmap: configmaps "made" already exists'
    )


def test_an_invalid_generated_object_is_refused(kubectl: Kubectl, api: Api) -> None:
    message = kubectl.fails("create", "cm", "Not_Valid")
    assert message.startswith('error: failed to create configmap: ConfigMap "Not_Valid" is invalid: metadata.name: ')
