"""Attempts of the kubelet of n1 to use storage: its own, and that of others."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.server.authorization.node_storage import (
    CORE,
    DEFAULT,
    DRIVER,
    STORAGE,
    attachment,
    claim,
    csi_node,
    pod,
    two_nodes,
    volume,
)
from tests.server.cluster import Api

CLAIMS, VOLUMES, VAULT = f"{DEFAULT}/persistentvolumeclaims", f"{CORE}/persistentvolumes", f"{CORE}/namespaces/vault"
ATTACHMENTS, CSI_NODES, DRIVERS = f"{STORAGE}/volumeattachments", f"{STORAGE}/csinodes", f"{STORAGE}/csidrivers"

READABLE = [
    f"{VOLUMES}/mine",
    f"{CLAIMS}/mine",
    f"{ATTACHMENTS}/mine",
    f"{CSI_NODES}/n1",
    f"{DRIVERS}/{DRIVER}",
    DRIVERS,
    f"{DEFAULT}/secrets/inline-mine",
    f"{DEFAULT}/secrets/file-mine",
    f"{DEFAULT}/secrets?fieldSelector=metadata.name=file-mine",
    f"{VAULT}/secrets/nodestage-mine",
    f"{VAULT}/secrets/nodepublish-mine",
    f"{VAULT}/secrets/nodeexpand-mine",
]
UNREADABLE = [
    f"{VOLUMES}/theirs",
    f"{VOLUMES}/free",
    f"{VOLUMES}/none",
    f"{VOLUMES}/mine/status",
    VOLUMES,
    f"{VOLUMES}?watch=true",
    f"{VOLUMES}?fieldSelector=metadata.name=mine",
    f"{CORE}/watch/persistentvolumes/mine",
    f"{CLAIMS}/theirs",
    f"{CLAIMS}/unused",
    f"{CLAIMS}/mine/status",
    CLAIMS,
    f"{CORE}/persistentvolumeclaims",
    f"{CLAIMS}?fieldSelector=metadata.name=mine",
    f"{ATTACHMENTS}/theirs",
    ATTACHMENTS,
    f"{ATTACHMENTS}?fieldSelector=spec.nodeName=n1",
    f"{ATTACHMENTS}?fieldSelector=metadata.name=mine&watch=true",
    f"{CSI_NODES}/n2",
    CSI_NODES,
    f"{CSI_NODES}?fieldSelector=metadata.name=n1",
    f"{DEFAULT}/secrets",
    f"{DEFAULT}/secrets/inline-theirs",
    f"{DEFAULT}/secrets/file-theirs",
    f"{DEFAULT}/secrets?fieldSelector=metadata.name=file-theirs",
    f"{DEFAULT}/secrets?fieldSelector=metadata.name!=file-mine",
    f"{CORE}/secrets?fieldSelector=metadata.name=file-mine",
    f"{VAULT}/secrets/file-mine",
    f"{VAULT}/secrets/controllerpublish-mine",
    f"{VAULT}/secrets/controllerexpand-mine",
    f"{VAULT}/secrets/nodestage-theirs",
    f"{STORAGE}/storageclasses",
    f"{STORAGE}/storageclasses/fast",
    f"{STORAGE}/csistoragecapacities",
    f"{STORAGE}/volumeattributesclasses",
]


@pytest.fixture
async def views() -> AsyncIterator[tuple[Api, Api]]:
    """The administrator's and n1's view of one server. Reads share it."""
    async with two_nodes() as found:
        yield found


async def test_a_node_reads_only_storage_that_its_pods_use(views: tuple[Api, Api]) -> None:
    _, node = views
    expected = dict.fromkeys(READABLE, 200) | dict.fromkeys(UNREADABLE, 403)
    assert {target: (await node.get(target)).code for target in expected} == expected


async def test_a_node_reads_nothing_in_the_name_of_another_node(views: tuple[Api, Api]) -> None:
    _, node = views
    names = {"impersonate-user": "system:node:n2", "impersonate-group": "system:nodes"}
    assert (await node.get(f"{VOLUMES}/theirs", **names)).code == 403


async def test_rights_to_storage_end_with_the_pod(views: tuple[Api, Api]) -> None:
    admin, node = views
    await admin.delete(f"{DEFAULT}/pods/mine?gracePeriodSeconds=0")
    targets = (f"{VOLUMES}/mine", f"{CLAIMS}/mine", f"{VAULT}/secrets/nodestage-mine", f"{DEFAULT}/secrets/file-mine")
    assert [(await node.get(target)).code for target in targets] == [403] * 4
    change = {"status": {"capacity": {"storage": "9Gi"}}}
    assert (await node.patch(f"{CLAIMS}/mine/status", change)).code == 403


GROWN = {"resources": {"requests": {"storage": "9Gi"}}}
CAPACITY: Any = {"status": {"capacity": {"storage": "2Gi"}}}
MORE: Any = {"status": {"allocatedResourceStatuses": {"storage": "NodeResizeInProgress"}}}
OWNER = {"apiVersion": "v1", "kind": "Node", "name": "n1", "uid": "u"}
MIRROR = {"kubernetes.io/config.mirror": "x"}


def of(kind: str) -> Any:
    """Return the fields that apply needs."""
    return {"apiVersion": "storage.k8s.io/v1", "kind": kind}


CHANGES: dict[str, tuple[str, str, Any, int]] = {
    # Its own objects
    "the capacity of its claim": ("PATCH", f"{CLAIMS}/mine/status", CAPACITY, 200),
    "the state of an expansion": ("PATCH", f"{CLAIMS}/mine/status", MORE, 200),
    "its CSINode": ("PATCH", f"{CSI_NODES}/n1", {"metadata": {"annotations": {"a": "b"}}}, 200),
    "the end of its CSINode": ("DELETE", f"{CSI_NODES}/n1", b"", 200),
    "the volumes in use": ("PATCH", f"{CORE}/nodes/n1/status", {"status": {"volumesInUse": ["v"]}}, 200),
    # Claims
    "a new claim": ("POST", CLAIMS, claim("new"), 403),
    "the size of its claim": ("PATCH", f"{CLAIMS}/mine", {"spec": GROWN}, 403),
    "the whole claim": ("PUT", f"{CLAIMS}/mine", claim("mine", volumeName="mine", **GROWN), 403),
    "the end of its claim": ("DELETE", f"{CLAIMS}/mine", b"", 403),
    "the size through the status": ("PATCH", f"{CLAIMS}/mine/status", {"spec": GROWN, **CAPACITY}, 403),
    "the size through the whole status": ("PUT", f"{CLAIMS}/mine/status", claim("mine", volumeName="free"), 403),
    "a volume through the status": ("PATCH", f"{CLAIMS}/mine/status", {"spec": {"volumeName": "theirs"}}, 403),
    "the phase of its claim": ("PATCH", f"{CLAIMS}/mine/status", {"status": {"phase": "Lost"}}, 403),
    "access modes": ("PATCH", f"{CLAIMS}/mine/status", {"status": {"accessModes": ["ReadWriteMany"]}}, 403),
    "its attributes class": (
        "PATCH",
        f"{CLAIMS}/mine/status",
        {"status": {"currentVolumeAttributesClassName": "x"}},
        403,
    ),
    "a modification": (
        "PATCH",
        f"{CLAIMS}/mine/status",
        {"status": {"modifyVolumeStatus": {"status": "Pending", "targetVolumeAttributesClassName": "x"}}},
        403,
    ),
    "labels of its claim": ("PATCH", f"{CLAIMS}/mine/status", {"metadata": {"labels": {"a": "b"}}}, 403),
    "annotations of its claim": ("PATCH", f"{CLAIMS}/mine/status", {"metadata": {"annotations": {"a": "b"}}}, 403),
    "finalizers of its claim": ("PATCH", f"{CLAIMS}/mine/status", {"metadata": {"finalizers": ["a.b/c"]}}, 403),
    "the capacity of a foreign claim": ("PATCH", f"{CLAIMS}/theirs/status", CAPACITY, 403),
    "the capacity of an unused claim": ("PATCH", f"{CLAIMS}/unused/status", CAPACITY, 403),
    # Volumes and attachments
    "a new volume": ("POST", VOLUMES, volume("new", "mine"), 403),
    "its volume": ("PATCH", f"{VOLUMES}/mine", {"spec": {"capacity": {"storage": "9Gi"}}}, 403),
    "the claim of a volume": ("PATCH", f"{VOLUMES}/free", {"spec": {"claimRef": {"name": "mine"}}}, 403),
    "the status of its volume": ("PATCH", f"{VOLUMES}/mine/status", {"status": {"phase": "Failed"}}, 403),
    "the end of its volume": ("DELETE", f"{VOLUMES}/mine", b"", 403),
    "a new attachment": ("POST", ATTACHMENTS, attachment("new", "n1"), 403),
    "its attachment": ("PATCH", f"{ATTACHMENTS}/mine", {"metadata": {"finalizers": []}}, 403),
    "the state of its attachment": ("PATCH", f"{ATTACHMENTS}/mine/status", {"status": {"attached": True}}, 403),
    "the end of its attachment": ("DELETE", f"{ATTACHMENTS}/mine", b"", 403),
    "the end of all attachments": ("DELETE", ATTACHMENTS, b"", 403),
    # Nodes and drivers
    "a foreign CSINode": ("PATCH", f"{CSI_NODES}/n2", {"metadata": {"annotations": {"a": "b"}}}, 403),
    "the end of a foreign CSINode": ("DELETE", f"{CSI_NODES}/n2", b"", 403),
    "the end of all CSINodes": ("DELETE", f"{CSI_NODES}?fieldSelector=metadata.name=n1", b"", 403),
    "a CSINode of a new name": ("POST", CSI_NODES, csi_node("n3"), 403),
    "a CSINode with a made name": ("POST", CSI_NODES, {**csi_node(""), "metadata": {"generateName": "n"}}, 403),
    "a CSINode through PUT": ("PUT", f"{CSI_NODES}/n3", csi_node("n3"), 403),
    "a CSINode through apply": ("APPLY", f"{CSI_NODES}/n3", {**csi_node("n3"), **of("CSINode")}, 403),
    "labels through apply": (
        "APPLY",
        f"{CLAIMS}/mine/status",
        {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "mine", "labels": {"a": "b"}}},
        403,
    ),
    "the phase through a JSON patch": (
        "JSON",
        f"{CLAIMS}/mine/status",
        [{"op": "add", "path": "/status/phase", "value": "Lost"}],
        403,
    ),
    "a dry run": ("PATCH", f"{CLAIMS}/mine/status?dryRun=All", {"status": {"phase": "Lost"}}, 403),
    "the volumes of a foreign node": ("PATCH", f"{CORE}/nodes/n2/status", {"status": {"volumesInUse": []}}, 403),
    "a new driver": ("POST", DRIVERS, {"metadata": {"name": "x.example.com"}, "spec": {}}, 403),
    "the audiences of a driver": ("PATCH", f"{DRIVERS}/{DRIVER}", {"spec": {"tokenRequests": []}}, 403),
    "the end of a driver": ("DELETE", f"{DRIVERS}/{DRIVER}", b"", 403),
    "a class": ("POST", f"{STORAGE}/storageclasses", {"metadata": {"name": "x"}, "provisioner": DRIVER}, 403),
    "capacity": (
        "POST",
        f"{STORAGE}/namespaces/default/csistoragecapacities",
        {"metadata": {"name": "x"}, "storageClassName": "fast", "capacity": "9Ti", "nodeTopology": {}},
        403,
    ),
    # Secrets and Pods, which would give it further rights
    "a Secret": ("PATCH", f"{DEFAULT}/secrets/file-mine", {"stringData": {"a": "b"}}, 403),
    "a new Secret": ("POST", f"{DEFAULT}/secrets", {"metadata": {"name": "x"}}, 403),
    "a Pod with a foreign claim": ("POST", f"{DEFAULT}/pods", pod("theirs", "n1"), 403),
    "a mirror Pod with a foreign claim": (
        "POST",
        f"{DEFAULT}/pods",
        {
            "metadata": {"name": "x", "annotations": MIRROR, "ownerReferences": [{**OWNER, "controller": True}]},
            "spec": {
                "nodeName": "n1",
                "containers": [{"name": "c", "image": "i"}],
                "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "theirs"}}],
            },
        },
        403,
    ),
    "a debug container with a foreign Secret": (
        "PATCH",
        f"{DEFAULT}/pods/mine/ephemeralcontainers",
        {"spec": {"ephemeralContainers": [{"name": "d", "envFrom": [{"secretRef": {"name": "file-theirs"}}]}]}},
        403,
    ),
    "the binding of a Pod": (
        "POST",
        f"{DEFAULT}/pods/theirs/binding",
        {"metadata": {"name": "theirs"}, "target": {"kind": "Node", "name": "n1"}},
        403,
    ),
    "the node of a foreign Pod": ("PATCH", f"{DEFAULT}/pods/theirs/status", {"spec": {"nodeName": "n1"}}, 403),
}


@pytest.mark.parametrize(("method", "target", "body", "code"), CHANGES.values(), ids=CHANGES)
async def test_a_node_changes_only_what_belongs_to_it(
    views: tuple[Api, Api], method: str, target: str, body: Any, code: int
) -> None:
    admin, node = views
    plain = target.partition("?")[0]
    before = (await admin.get(plain)).body
    match method:
        case "APPLY":
            response = await node.apply(target, body, "fieldManager=kubelet&force=true")
        case "JSON":
            response = await node.patch(target, body, "json")
        case "PATCH":
            response = await node.patch(target, body)
        case _:
            response = await node.fetch(method, target, body)
    assert response.code == code, response.body
    assert code == 200 or (await admin.get(plain)).body == before


async def test_a_node_may_create_its_csi_node(views: tuple[Api, Api]) -> None:
    admin, node = views
    await admin.delete(f"{CSI_NODES}/n1")
    assert (await node.post(CSI_NODES, csi_node("n1"))).code == 201


def bound_to(name: str, uid: str = "") -> Any:
    """Reference to a Pod, for a token. The test fills in an empty uid."""
    return {"kind": "Pod", "apiVersion": "v1", "name": name, "uid": uid}


REQUESTS: dict[str, tuple[str, Any, int]] = {
    "for the API server": ("bot-mine", {"boundObjectRef": bound_to("mine")}, 403),
    "for the driver": ("bot-mine", {"boundObjectRef": bound_to("mine"), "audiences": ["bank"]}, 201),
    "for another audience": ("bot-mine", {"boundObjectRef": bound_to("mine"), "audiences": ["x"]}, 403),
    "for two audiences": ("bot-mine", {"boundObjectRef": bound_to("mine"), "audiences": ["bank", "x"]}, 403),
    "of a foreign account": ("bot-theirs", {"boundObjectRef": bound_to("theirs"), "audiences": ["bank"]}, 403),
    "of a foreign account for its Pod": ("bot-theirs", {"boundObjectRef": bound_to("mine")}, 403),
    "for a foreign Pod": ("bot-mine", {"boundObjectRef": bound_to("theirs"), "audiences": ["bank"]}, 403),
    "for an earlier Pod": ("bot-mine", {"boundObjectRef": bound_to("mine", "u"), "audiences": ["bank"]}, 403),
    "for any Pod": ("bot-mine", {"audiences": ["bank"]}, 403),
    "for a Secret": ("bot-mine", {"boundObjectRef": {**bound_to("file-mine", "u"), "kind": "Secret"}}, 403),
    "for a node": ("bot-mine", {"boundObjectRef": {**bound_to("n1", "u"), "kind": "Node"}}, 403),
}


@pytest.mark.parametrize(("account", "spec", "code"), REQUESTS.values(), ids=REQUESTS)
async def test_a_node_gets_tokens_only_for_its_pods(
    views: tuple[Api, Api], account: str, spec: dict[str, Any], code: int
) -> None:
    admin, node = views
    bound = spec.get("boundObjectRef")
    if bound and not bound["uid"]:
        uid = (await admin.get(f"{DEFAULT}/pods/{bound['name']}")).metadata["uid"]
        spec = {**spec, "boundObjectRef": {**bound, "uid": uid}}
    response = await node.post(f"{DEFAULT}/serviceaccounts/{account}/token", {"spec": spec})
    assert response.code == code, response.body
