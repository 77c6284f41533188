"""`sampan describe` of each kind next to the real `kubectl describe` on the same server.

Both show the same facts in the same order. No controller runs, so the objects do not change between the two commands.
"""

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.objects.conftest import Run
from tests.cli.server import Server
from tests.user_environment import user_environment

KUBECTL = shutil.which("kubectl")
pytestmark = pytest.mark.skipif(KUBECTL is None, reason="kubectl is not installed")
MANIFESTS = (Path(__file__).parent / "described.yaml").read_text()
NEVER_ALIKE = ("Kube-Proxy Version:", "ConfigMapOptional:", "SecretOptionalName:", "Mounts: <none>")
"""Lines of some versions of kubectl: fields without values, and of projected volumes."""
Kubectl = Callable[..., str]


@pytest.fixture(scope="module")
def kubectl(server: Server) -> Kubectl:
    """Run kubectl; returns its output."""
    environment = user_environment(KUBECONFIG=str(server.data / "kubeconfig"))

    def run(*arguments: str, stdin: str = "") -> str:
        assert KUBECTL is not None
        command = [KUBECTL, *arguments]
        done = subprocess.run(command, env=environment, input=stdin, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture(scope="module")
def objects(kubectl: Kubectl) -> str:
    """A namespace with an object of every kind, as if controllers and kubelets had worked; returns its name."""
    namespace = "described"
    kubectl("create", "namespace", namespace)
    kubectl("apply", "-n", namespace, "-f", "-", stdin=MANIFESTS)
    kubectl("apply", "-f", "-", stdin=json.dumps(LEASE))
    kubectl("wait", "--for=condition=Established", "crd/examples.describe.example.com")
    kubectl("apply", "-n", namespace, "-f", "-", stdin=json.dumps(EXAMPLE))
    for kind, status in STATUSES.items():
        kubectl(
            "patch", "-n", namespace, *kind.split("/"), "--subresource=status", "-p", json.dumps({"status": status})
        )
    deployment = json.loads(kubectl("get", "deploy", "web", "-n", namespace, "-o", "json"))
    pod = json.loads(kubectl("get", "pod", "web", "-n", namespace, "-o", "json"))
    hashed = {"metadata": {"labels": {"app": "web", "pod-template-hash": "new"}}, "spec": {}}
    for name, template in (("new", deployment["spec"]["template"]), ("old", hashed)):
        kubectl("apply", "-n", namespace, "-f", "-", stdin=json.dumps(replica_set(name, deployment, template)))
    kubectl("apply", "-n", namespace, "-f", "-", stdin=json.dumps(owned_pod(kubectl, namespace)))
    kubectl("apply", "-n", namespace, "-f", "-", stdin=json.dumps(event(pod)))
    return namespace


def replica_set(name: str, deployment: Any, template: Any) -> Any:
    """Return a ReplicaSet of a Deployment."""
    labels = {"app": "web", "pod-template-hash": name}
    spec = template["spec"] or {"containers": [{"name": "c", "image": "old"}]}
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": f"web-{name}", "labels": labels, "ownerReferences": [owner(deployment)]},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {**template["metadata"], "labels": labels}, "spec": spec},
        },
    }


def owner(obj: Any) -> Any:
    """Return the reference to a controller."""
    fields = {name: obj["metadata"][name] for name in ("name", "uid")}
    return {"apiVersion": obj["apiVersion"], "kind": obj["kind"], "controller": True, **fields}


def owned_pod(kubectl: Kubectl, namespace: str) -> Any:
    """Return a Pod of the StatefulSet."""
    stateful_set = json.loads(kubectl("get", "sts", "db", "-n", namespace, "-o", "json"))
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "db-0", "labels": {"app": "db"}, "ownerReferences": [owner(stateful_set)]},
        "spec": {
            "containers": [{"name": "c", "image": "i"}],
            "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "claim"}}],
        },
    }


def event(pod: Any) -> Any:
    """Return an event of a Pod, seen three times."""
    metadata = pod["metadata"]
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": "e"},
        "involvedObject": {"kind": "Pod", **{name: metadata[name] for name in ("name", "namespace", "uid")}},
        "reason": "BackOff",
        "message": "Back-off restarting failed container",
        "type": "Warning",
        "count": 3,
        "firstTimestamp": "2020-01-01T00:00:00Z",
        "lastTimestamp": "2020-01-02T00:00:00Z",
        "source": {"component": "kubelet"},
    }


LEASE = {
    "apiVersion": "coordination.k8s.io/v1",
    "kind": "Lease",
    "metadata": {"name": "described", "namespace": "kube-node-lease"},
    "spec": {"holderIdentity": "described", "renewTime": "2026-01-01T00:00:00.000000Z"},
}
EXAMPLE = {
    "apiVersion": "describe.example.com/v1",
    "kind": "Example",
    "metadata": {"name": "one", "labels": {"a": "b"}, "annotations": {"c": "d"}},
    "spec": {
        "replicas": 3,
        "enabled": True,
        "text": "two\nlines",
        "parts": [{"name": "x", "values": ["1.1.1.1", "2.2.2.2"]}, {"name": "y"}],
        "nothing": [],
    },
    "status": {"observedGeneration": 1, "conditions": [{"type": "Ready", "status": "True"}]},
}
TRUE = {"status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z", "reason": "Reason", "message": "a message"}
STATUSES: dict[str, Any] = {
    "pod/web": {
        "phase": "Running",
        "hostIP": "10.0.0.1",
        "podIP": "10.1.0.1",
        "podIPs": [{"ip": "10.1.0.1"}],
        "startTime": "2026-01-01T00:00:00Z",
        "conditions": [{"type": "Ready", **TRUE}, {"type": "example.com/gate", **TRUE}],
        "containerStatuses": [
            {
                "name": "c",
                "image": "img:2",
                "imageID": "sha256:x",
                "containerID": "containerd://1",
                "ready": True,
                "restartCount": 4,
                "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}},
                "lastState": {
                    "terminated": {
                        "exitCode": 137,
                        "reason": "OOMKilled",
                        "startedAt": "2026-01-01T00:00:00Z",
                        "finishedAt": "2026-01-01T00:01:00Z",
                    }
                },
            },
            {
                "name": "d",
                "image": "img:3",
                "imageID": "",
                "ready": False,
                "restartCount": 0,
                "state": {"waiting": {"reason": "ImagePullBackOff", "message": "no"}},
            },
        ],
    },
    "deployment/web": {
        "replicas": 3,
        "updatedReplicas": 2,
        "readyReplicas": 1,
        "availableReplicas": 1,
        "unavailableReplicas": 2,
        "conditions": [{"type": "Available", **TRUE}, {"type": "Progressing", **TRUE}],
    },
    "node/described": {
        "capacity": {"cpu": "4", "memory": "8Gi", "ephemeral-storage": "9Gi", "pods": "10", "example.com/gpu": "2"},
        "allocatable": {"cpu": "3", "memory": "7Gi", "ephemeral-storage": "8Gi", "pods": "9", "example.com/gpu": "2"},
        "addresses": [{"type": "InternalIP", "address": "10.0.0.1"}, {"type": "Hostname", "address": "described"}],
        "conditions": [{"type": "Ready", "lastHeartbeatTime": "2026-01-01T00:00:00Z", **TRUE}],
        "nodeInfo": {
            "machineID": "m",
            "systemUUID": "s",
            "bootID": "b",
            "kernelVersion": "6.1",
            "osImage": "Linux",
            "operatingSystem": "linux",
            "architecture": "amd64",
            "containerRuntimeVersion": "containerd://2",
            "kubeletVersion": "v1.36.0",
            "kubeProxyVersion": "",
        },
    },
    "job/job": {"active": 1, "ready": 1, "startTime": "2026-01-01T00:00:00Z"},
    "daemonset/agent": {
        "desiredNumberScheduled": 3,
        "currentNumberScheduled": 2,
        "numberAvailable": 1,
        "numberMisscheduled": 0,
        "numberReady": 1,
        "updatedNumberScheduled": 2,
    },
    "persistentvolumeclaim/claim": {
        "phase": "Bound",
        "accessModes": ["ReadWriteOnce"],
        "capacity": {"storage": "1Gi"},
        "conditions": [{"type": "Resizing", "lastProbeTime": "2026-01-01T00:00:00Z", **TRUE}],
    },
    "persistentvolume/described": {"phase": "Bound"},
    "quota/quota": {"hard": {"pods": "10"}, "used": {"pods": "2"}},
}  # fmt: skip


def facts(text: str) -> list[str]:
    """Return the lines without alignment, rules, ages, and what differs between the versions of kubectl."""
    text = text.replace("#success=", "successThreshold=").replace("#failure=", "failureThreshold=")
    lines = (" ".join(line.split()) for line in text.splitlines())
    return [
        re.sub(r"\b(\d+[smhdy])+\b", "AGE", line)
        for line in lines
        if line.strip("- ") and not line.startswith(NEVER_ALIKE)
    ]


def missing(theirs: list[str], ours: list[str]) -> list[str]:
    """Return those lines that are not in the other text after the lines before them."""
    rest = iter(ours)
    return [line for line in theirs if line not in rest]


@pytest.mark.parametrize(
    "target",
    [
        "pod/web",
        "pod/db-0",
        "deployment/web",
        "replicaset/web-new",
        "replicaset/web-old",
        "statefulset/db",
        "daemonset/agent",
        "job/job",
        "cronjob/cron",
        "service/web",
        "service/balanced",
        "service/headless",
        "service/elsewhere",
        "node/described",
        "persistentvolume/described",
        "persistentvolumeclaim/claim",
        "configmap/conf",
        "secret/sec",
        "serviceaccount/robot",
        "namespace/described",
        "example/one",
    ],
)
def test_the_description_has_the_facts_of_kubectl_in_their_order(
    run: Run, kubectl: Kubectl, objects: str, target: str
) -> None:
    arguments = ("describe", *target.split("/"), "-n", objects)
    theirs, ours = kubectl(*arguments), run(*arguments)
    assert ours.code == 0, ours.err
    assert missing(facts(theirs), facts(ours.out)) == []
