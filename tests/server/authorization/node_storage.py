"""A cluster with storage of two nodes: `mine` is used on the node n1, `theirs` on n2."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from unittest import mock

from sampan.core.object import Object
from sampan.server.admission.settings import NODE_RESTRICTION, AdmissionSettings
from sampan.server.request import UserInfo
from tests.server.authentication.accounts import accounts
from tests.server.cluster import Api
from tests.server.frame import TOKENS

CORE = "/api/v1"
DEFAULT = f"{CORE}/namespaces/default"
STORAGE = "/apis/storage.k8s.io/v1"
NODES = {"mine": "n1", "theirs": "n2"}
DRIVER = "disk.example.com"


def kubelet(name: str) -> UserInfo:
    """Return the user of a node that has joined."""
    return UserInfo(f"system:node:{name}", groups=("system:nodes",))


def claim(name: str, **spec: Any) -> Object:
    """A claim of the class `fast`."""
    fields = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
        "storageClassName": "fast",
    }
    return {"metadata": {"name": name}, "spec": {**fields, **spec}}


def volume(name: str, claim_name: str) -> Object:
    """A volume with a Secret for each call of its driver."""
    calls = ("controllerPublish", "nodeStage", "nodePublish", "controllerExpand", "nodeExpand")
    secrets = {f"{call}SecretRef": {"namespace": "vault", "name": f"{call}-{name}".lower()} for call in calls}
    reference = {"kind": "PersistentVolumeClaim", "namespace": "default", "name": claim_name}
    spec = {
        "accessModes": ["ReadWriteOnce"],
        "capacity": {"storage": "1Gi"},
        "storageClassName": "fast",
        "csi": {"driver": DRIVER, "volumeHandle": name, **secrets},
        **({"claimRef": reference} if claim_name else {}),
    }
    return {"metadata": {"name": name}, "spec": spec}


def attachment(name: str, node: str) -> Object:
    """A VolumeAttachment of the volume with the same name."""
    spec = {"attacher": DRIVER, "nodeName": node, "source": {"persistentVolumeName": name}}
    return {"metadata": {"name": name}, "spec": spec}


def csi_node(name: str) -> Object:
    """A CSINode with the driver."""
    return {"metadata": {"name": name}, "spec": {"drivers": [{"name": DRIVER, "nodeID": name}]}}


def pod(name: str, node: str) -> Object:
    """A Pod with a claim, an inline volume and a Secret that have its name."""
    volumes = [
        {"name": "claim", "persistentVolumeClaim": {"claimName": name}},
        {"name": "inline", "csi": {"driver": DRIVER, "nodePublishSecretRef": {"name": f"inline-{name}"}}},
        {"name": "secret", "secret": {"secretName": f"file-{name}"}},
    ]
    containers = [{"name": "c", "image": "i"}]
    spec = {"nodeName": node, "serviceAccountName": f"bot-{name}", "containers": containers, "volumes": volumes}
    return {"metadata": {"name": name}, "spec": spec}


async def _fill(api: Api) -> None:
    driver = {"tokenRequests": [{"audience": "bank"}], "volumeLifecycleModes": ["Persistent", "Ephemeral"]}
    await api.create(f"{STORAGE}/csidrivers", {"metadata": {"name": DRIVER}, "spec": driver})
    await api.create(f"{STORAGE}/storageclasses", {"metadata": {"name": "fast"}, "provisioner": DRIVER})
    await api.create(f"{CORE}/namespaces", {"metadata": {"name": "vault"}})
    await api.create(f"{CORE}/persistentvolumes", volume("free", ""))
    await api.create(f"{DEFAULT}/persistentvolumeclaims", claim("unused"))
    for name, node in NODES.items():
        await api.create(f"{CORE}/nodes", {"metadata": {"name": node}})
        await api.create(f"{STORAGE}/csinodes", csi_node(node))
        await api.create(f"{CORE}/persistentvolumes", volume(name, name))
        await api.create(f"{DEFAULT}/persistentvolumeclaims", claim(name, volumeName=name))
        await api.create(f"{STORAGE}/volumeattachments", attachment(name, node))
        await api.create(f"{DEFAULT}/serviceaccounts", {"metadata": {"name": f"bot-{name}"}})
        for secret in (f"inline-{name}", f"file-{name}"):
            await api.create(f"{DEFAULT}/secrets", {"metadata": {"name": secret}})
        for call in ("controllerpublish", "nodestage", "nodepublish", "controllerexpand", "nodeexpand"):
            await api.create(f"{CORE}/namespaces/vault/secrets", {"metadata": {"name": f"{call}-{name}"}})
        await api.create(f"{DEFAULT}/pods", pod(name, node))


@asynccontextmanager
async def two_nodes() -> AsyncIterator[tuple[Api, Api]]:
    """Return the administrator's and n1's view of a server with NodeRestriction, as `sampan up` runs it."""
    with mock.patch.dict(TOKENS, {"n1-token": kubelet("n1")}):
        async with accounts(admission=AdmissionSettings(enabled=frozenset({NODE_RESTRICTION}))) as found:
            await _fill(found.api)
            yield found.api, Api(found.api.server, {"authorization": "Bearer n1-token"})
