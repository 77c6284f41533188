"""Volumes and load balancers of nodes that have joined a cluster, with the rights of such nodes."""

import json
import shutil
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from tests.e2e.cri.image import APP
from tests.e2e.cri.small_cluster import SmallCluster, small_cluster
from tests.machines import missing, wait_for

pytestmark = pytest.mark.e2e
NAMES = ("one", "two")
VOLUMES = "/var/lib/sampan/local-volumes"
RESTRICTED = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}, "runAsNonRoot": True}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallCluster]:
    """Run the cluster, with addresses of both IP families."""
    lacking = missing() or ("" if shutil.which("kubectl") else "kubectl is not on PATH")
    if lacking:
        pytest.skip(f"containerd: {lacking}")
    root = tmp_path_factory.mktemp("bundled")
    with small_cluster(root, NAMES, "--local-path=true", "--load-balancer=true", dual_stack=True) as found:
        wait_for(lambda: found.kubectl.run("get", "sa", "default").returncode == 0, "the service account")
        yield found
        found.kubectl("delete", "pods", "--all", "--timeout=50s")


def obj(kind: str, name: str, spec: Mapping[str, Any], **metadata: Any) -> dict[str, Any]:
    """Return an object of the core group."""
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name, **metadata}, "spec": spec}


def apply(cluster: SmallCluster, *objects: Mapping[str, Any]) -> None:
    """Apply objects."""
    cluster.kubectl.apply(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))


def claim(name: str, mode: str = "ReadWriteOnce") -> dict[str, Any]:
    """Return a claim that names no class."""
    return obj("PersistentVolumeClaim", name, {"accessModes": [mode], "resources": {"requests": {"storage": "1Gi"}}})


def writer(name: str, node: str) -> dict[str, Any]:
    """Return a restricted Pod on a node, which writes a line to the volume of the claim with its name."""
    container = {
        "name": "main",
        "image": APP,
        "command": ["sh", "-c", "echo line >> /data/file; exec sleep 1000000"],
        "securityContext": RESTRICTED,
        "volumeMounts": [{"name": "data", "mountPath": "/data"}],
    }
    spec = {
        "nodeSelector": {"kubernetes.io/hostname": node},
        "securityContext": {"runAsUser": 1234, "seccompProfile": {"type": "RuntimeDefault"}},
        "terminationGracePeriodSeconds": 1,
        "containers": [container],
        "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": name}}],
    }
    return obj("Pod", name, spec)


def start(cluster: SmallCluster, name: str, node: str) -> str:
    """Run a Pod with its claim, and return the name of the volume."""
    apply(cluster, claim(name), writer(name, node))
    cluster.kubectl("wait", "--for=condition=Ready", f"pod/{name}", "--timeout=60s")
    return str(cluster.kubectl.get("pvc", name)["spec"]["volumeName"])


def directories(cluster: SmallCluster, node: str) -> list[str]:
    """Return the volumes on the disk of a node."""
    return cluster.machine(node).run("sh", "-c", f"ls {VOLUMES} 2>/dev/null || true").split()


def is_gone(cluster: SmallCluster, volume: str) -> bool:
    """Return True if a PersistentVolume does not exist."""
    return "NotFound" in cluster.kubectl.run("get", "pv", volume).stderr


def test_a_volume_outlives_its_pod_and_disappears_with_its_claim(cluster: SmallCluster) -> None:
    kubectl = cluster.kubectl
    volume = start(cluster, "data", "two")
    kubectl("delete", "pod", "data", "--timeout=50s")
    apply(cluster, writer("data", "two"))
    kubectl("wait", "--for=condition=Ready", "pod/data", "--timeout=60s")
    assert kubectl("exec", "data", "--", "cat", "/data/file").split() == ["line", "line"]
    uid = kubectl.get("pv", volume)["metadata"]["uid"]
    assert (directories(cluster, "one"), directories(cluster, "two")) == ([], [uid])
    kubectl("delete", "pod,pvc", "data", "--timeout=50s")
    wait_for(lambda: is_gone(cluster, volume), "the end of the volume", 60)
    assert directories(cluster, "two") == []


def test_a_volume_of_a_node_that_is_away_is_deleted_when_the_node_is_back(cluster: SmallCluster) -> None:
    kubectl = cluster.kubectl
    volume = start(cluster, "later", "two")
    kubectl("delete", "pod", "later", "--timeout=50s")
    cluster.kill_agent("two")
    kubectl("delete", "pvc", "later", "--timeout=50s")
    wait_for(lambda: "deletionTimestamp" in kubectl.get("pv", volume)["metadata"], "the deletion of the volume", 60)
    assert len(directories(cluster, "two")) == 1
    cluster.start_agent("two")
    wait_for(lambda: is_gone(cluster, volume), "the end of the volume", 90)
    assert directories(cluster, "two") == []


def test_a_claim_for_many_writers_stays_pending_with_the_reason(cluster: SmallCluster) -> None:
    kubectl = cluster.kubectl
    apply(cluster, claim("shared", "ReadWriteMany"), writer("shared", "one"))
    events = "get", "events", "--field-selector", "reason=ProvisioningFailed", "-o", "name"
    wait_for(lambda: kubectl.run(*events).stdout, "the event", 60)
    assert kubectl.get("pvc", "shared")["status"]["phase"] == "Pending"
    kubectl("delete", "pod,pvc", "shared", "--timeout=50s")


def balanced(cluster: SmallCluster) -> list[str]:
    """Return the addresses of the Service, as clients write them."""
    ingress = cluster.kubectl.get("service", "web")["status"]["loadBalancer"].get("ingress", [])
    return [f"[{each['ip']}]" if ":" in each["ip"] else each["ip"] for each in ingress]


def responds(cluster: SmallCluster, address: str) -> bool:
    """Return True if a machine that is no node gets a response from an address."""
    url = f"http://{address}/"
    return "from two" in cluster.server.run("sh", "-c", f"timeout 5 busybox wget -qO- '{url}' || true")


def test_all_nodes_serve_a_service_and_with_the_policy_local_those_with_its_pods(cluster: SmallCluster) -> None:
    kubectl = cluster.kubectl
    command = "mkdir /w; echo from two > /w/index.html; exec httpd -f -p '[::]:8080' -h /w"
    container = {"name": "main", "image": APP, "command": ["sh", "-c", command]}
    pod = {"nodeName": "two", "terminationGracePeriodSeconds": 1, "containers": [container]}
    service = {"type": "LoadBalancer", "selector": {"app": "web"}, "ipFamilyPolicy": "RequireDualStack"}
    ports = [{"port": 80, "targetPort": 8080}]
    apply(cluster, obj("Pod", "web", pod, labels={"app": "web"}), obj("Service", "web", {**service, "ports": ports}))
    kubectl("wait", "--for=condition=Ready", "pod/web", "--timeout=60s")
    wait_for(lambda: len(balanced(cluster)) == 4, "two addresses of each node", 60)
    assert {cluster.address(name) for name in NAMES} < set(balanced(cluster))
    wait_for(lambda: all(responds(cluster, each) for each in balanced(cluster)), "responses from all addresses", 90)
    # From a Pod to itself, through the other node's address.
    request = f"printf 'GET / HTTP/1.0\\r\\n\\r\\n' | nc -w 5 {cluster.address('one')} 80"
    wait_for(lambda: "from two" in kubectl.run("exec", "web", "--", "sh", "-c", request).stdout, "the hairpin", 60)
    kubectl("patch", "service", "web", "-p", json.dumps({"spec": {"externalTrafficPolicy": "Local"}}))
    wait_for(lambda: len(balanced(cluster)) == 2, "only the addresses of the node with the Pod", 60)
    assert cluster.address("two") in balanced(cluster)
    wait_for(lambda: all(responds(cluster, each) for each in balanced(cluster)), "responses from all addresses", 90)
    kubectl("delete", "service", "web", "--timeout=50s")
