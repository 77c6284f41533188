"""Objects that ledgers, backups and restores consist of."""

from typing import Final

from sampan.core.gvk import GroupVersionResource
from sampan.resource import Object, ResourceInfo

from ledgers.ledger.v1 import LedgerSpec

CLAIMS: Final = ResourceInfo(
    GroupVersionResource("", "v1", "persistentvolumeclaims"), "PersistentVolumeClaim", namespaced=True
)
STATEFUL_SETS: Final = ResourceInfo(GroupVersionResource("apps", "v1", "statefulsets"), "StatefulSet", namespaced=True)
DEADLINE_S: Final = 3600
"""Longest time of a Job. Without its volume, for example, a Job would wait for ever."""


def claim(name: str, ledger: LedgerSpec) -> Object:
    """Return a claim of the size of a ledger."""
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": ledger.size}}}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name}, "spec": spec}


def stateful_set(name: str, ledger: LedgerSpec, volume: str) -> Object:
    """Return the application. Never two Pods at once: a StatefulSet begins the next when the last one is gone."""
    labels = {"ledgers.example.com/ledger": name}
    spec = {
        "serviceName": name,
        "selector": {"matchLabels": labels},
        "podManagementPolicy": "Parallel",  # A Pod that is not ready is replaced too.
        "template": {"metadata": {"labels": labels}, "spec": _pod(ledger, ledger.command, data=volume)},
    }
    return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": name}, "spec": spec}


def job(name: str, ledger: LedgerSpec, script: str, checksum: str = "", **volumes: str) -> Object:
    """Return a Job that runs a script once."""
    pod = _pod(ledger, ["sh", "-c", script], **volumes) | {"restartPolicy": "Never"}
    pod["containers"][0]["env"] = [{"name": "CHECKSUM", "value": checksum}]
    spec = {"backoffLimit": 0, "activeDeadlineSeconds": DEADLINE_S, "template": {"spec": pod}}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": spec}


def _pod(ledger: LedgerSpec, command: list[str] | None, **volumes: str) -> Object:
    """Return a Pod with volumes: name, which is also the path, and claim."""
    mounts = [{"name": name, "mountPath": f"/{name}"} for name in volumes]
    container = {"name": "main", "image": ledger.image, "command": command, "volumeMounts": mounts}
    claims = [{"name": name, "persistentVolumeClaim": {"claimName": each}} for name, each in volumes.items()]
    # PostgreSQL refuses files that a group can write, so their modes stay.
    user = {"runAsUser": ledger.user, "fsGroup": ledger.user, "fsGroupChangePolicy": "OnRootMismatch"}
    return {"containers": [container], "volumes": claims, "securityContext": user if ledger.user else {}}
