"""Objects that a Ledger consists of."""

from typing import Final

from sampan.core.gvk import GroupVersionResource
from sampan.resource import Object, ResourceInfo

from upgrades.ledger.v1 import Ledger
from upgrades.plan import Run

PODS: Final = ResourceInfo(GroupVersionResource("", "v1", "pods"), "Pod", namespaced=True)
CLAIMS: Final = ResourceInfo(
    GroupVersionResource("", "v1", "persistentvolumeclaims"), "PersistentVolumeClaim", namespaced=True
)
SERVICES: Final = ResourceInfo(GroupVersionResource("", "v1", "services"), "Service", namespaced=True)
STATEFUL_SETS: Final = ResourceInfo(GroupVersionResource("apps", "v1", "statefulsets"), "StatefulSet", namespaced=True)
LEDGER: Final = "upgrades.example.com/ledger"
VERSION: Final = "upgrades.example.com/version"
STABLE_S: Final = 3
"""Time for which a new version must be ready: one that ends at once is ready for a moment."""
PROBE_S: Final = 10
"""Time of a probe, which starts a program: on a busy machine, the second that Kubernetes grants is not enough."""
COPY: Final = """
import glob, os, sqlite3
old, new, spare = (f"/data/{os.environ[each]}" for each in ("OLD", "NEW", "KEPT"))
for each in {*glob.glob("/data/*.db")} - {old, new, spare}:
    os.remove(each)  # Of earlier attempts.
copy = sqlite3.connect(new)
sqlite3.connect(f"file:{old}?mode=rw", uri=True, timeout=60).backup(copy)
copy.executescript(os.environ["SQL"])
assert copy.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
"""
"""Copies a file, which it replaces if it exists, and changes the copy. It may run again after any failure."""


def claim(name: str, ledger: Ledger) -> Object:
    """Return the claim of the volume."""
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": ledger.spec.size}}}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name}, "spec": spec}


def service(ledger: Ledger, version: int) -> Object:
    """Return the Service. Clients reach the version that is committed, and no other."""
    selector = {LEDGER: ledger.metadata.name, VERSION: str(version)}
    spec = {"selector": selector, "ports": [{"port": ledger.spec.port}]}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": ledger.metadata.name}, "spec": spec}


def stateful_set(ledger: Ledger, run: Run) -> Object:
    """Return the application."""
    name = {LEDGER: ledger.metadata.name}
    pod = _pod(ledger, ledger.spec.command, run.version, LEDGER_FILE=f"/data/{run.file}")
    if ledger.spec.probe:
        often = {"periodSeconds": 1, "timeoutSeconds": PROBE_S}
        pod["containers"][0]["readinessProbe"] = {"exec": {"command": ledger.spec.probe}, **often}
    spec = {
        "serviceName": ledger.metadata.name,
        "replicas": run.replicas,
        "minReadySeconds": STABLE_S,
        "podManagementPolicy": "Parallel",  # A Pod that is not ready is replaced too.
        "selector": {"matchLabels": name},
        "template": {"metadata": {"labels": {**name, VERSION: str(run.version)}}, "spec": pod},
    }
    return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": ledger.metadata.name}, "spec": spec}


def copy_job(name: str, ledger: Ledger, version: int, **environment: str) -> Object:
    """Return a Job that copies a file of the volume. Its environment has the files OLD, NEW and KEPT, and SQL."""
    script = f"exec 2> /dev/termination-log; exec python3 -c '{COPY}'"
    pod = _pod(ledger, ["sh", "-c", script], version, **environment) | {"restartPolicy": "Never"}
    spec = {"backoffLimit": 0, "activeDeadlineSeconds": 3600, "template": {"spec": pod}}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": spec}


def _pod(ledger: Ledger, command: list[str] | None, version: int, **environment: str) -> Object:
    variables = {"SCHEMA_VERSION": str(version), **environment}
    container = {
        "name": "main",
        "image": ledger.spec.image.replace("{version}", str(version)),
        "command": command,
        "env": [{"name": key, "value": value} for key, value in variables.items()],
        "volumeMounts": [{"name": "data", "mountPath": "/data"}],
    }
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": f"ledger-{ledger.metadata.name}"}}
    return {"containers": [container], "volumes": [volume]}
