"""Rights of kubelets."""

from typing import Any

import pytest

from sampan.server.authorization.authorizer import Decision
from sampan.server.authorization.node.authorizer import NodeAuthorizer
from sampan.server.authorization.node.graph import NodeGraph
from sampan.server.request import RequestInfo, UserInfo
from tests.server.authorization.caches import FakeReader

NODE = UserInfo("system:node:n1", groups=("system:nodes",))
OTHER = UserInfo("system:node:n2", groups=("system:nodes",))


def pod(name: str, node: str = "n1", uid: str = "1", **more: Any) -> dict[str, Any]:
    """A Pod with a reference of every kind."""
    volumes = [
        {"name": "a", "secret": {"secretName": "s-volume"}},
        {"name": "b", "configMap": {"name": "c-volume"}},
        {"name": "c", "projected": {"sources": [{"secret": {"name": "s-projected"}}]}},
        {"name": "d", "persistentVolumeClaim": {"claimName": "claim"}},
        {"name": "e", "ephemeral": {"volumeClaimTemplate": {}}},
        {"name": "f", "csi": {"driver": "x", "nodePublishSecretRef": {"name": "s-csi"}}},
    ]
    env = [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "s-env", "key": "k"}}}]
    container = {"name": "main", "env": env, "envFrom": [{"configMapRef": {"name": "c-from"}}]}
    return {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {"name": name, "namespace": "east", "uid": uid, **more.get("metadata", {})},
        "spec": {
            "nodeName": node,
            "serviceAccountName": "bot",
            "imagePullSecrets": [{"name": "s-pull"}],
            "containers": [container],
            "volumes": volumes,
            "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "t"}],
        },
        "status": {"resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": "gpu-made"}]},
    }


def volume(name: str, claim: str) -> dict[str, Any]:
    """A bound PersistentVolume with secrets."""
    csi = {
        "driver": "x",
        "nodeStageSecretRef": {"namespace": "vault", "name": "s-stage"},
        "controllerPublishSecretRef": {"namespace": "vault", "name": "s-controller"},
    }
    spec = {"claimRef": {"namespace": "east", "name": claim}, "csi": csi}
    return {"kind": "PersistentVolume", "apiVersion": "v1", "metadata": {"name": name, "uid": "1"}, "spec": spec}


def directory(name: str, node: str) -> dict[str, Any]:
    """Return a PersistentVolume that is a directory of a node. No Pod uses its claim."""
    source = {"driver": "local-path.sampan.dev", "volumeAttributes": {"sampan.dev/node": node}}
    made = volume(name, "gone")
    return {**made, "spec": {**made["spec"], "csi": source}}


def attachment(name: str, node: str) -> dict[str, Any]:
    """A VolumeAttachment."""
    return {
        "kind": "VolumeAttachment",
        "apiVersion": "storage.k8s.io/v1",
        "metadata": {"name": name, "uid": "1"},
        "spec": {"nodeName": node},
    }


def filled() -> FakeReader:
    """A cluster with one Pod on n1, one on no node yet, a volume and an attachment."""
    reader = FakeReader()
    reader.put("pods", pod("web"), pod("waiting", ""))
    reader.put("persistentvolumes", volume("pv", "claim"), volume("free", "other"))
    reader.put("persistentvolumes", directory("directory", "n1"), directory("elsewhere", "n2"))
    reader.put("volumeattachments", attachment("mine", "n1"), attachment("theirs", "n2"))
    return reader


async def may(reader: FakeReader, user: UserInfo, info: RequestInfo) -> bool:
    """Return True if the Node authorizer allows a request."""
    authorizer = NodeAuthorizer(NodeGraph(reader.as_reader()))
    return (await authorizer.authorize(user, info)).decision is Decision.ALLOW


def request(text: str) -> RequestInfo:
    """`verb resource.group/subresource namespace/name selector`, what is missing left out with a dash."""
    verb, what, where, *selector = text.split()
    resource, _, subresource = what.partition("/")
    resource, _, group = resource.partition(".")
    namespace, _, name = where.rpartition("/")
    fields = selector[0] if selector else ""
    name = "" if name == "-" else name
    return RequestInfo("", verb, True, group, "v1", namespace, resource, subresource, name, field_selector=fields)


ALLOWED = [
    "get secrets east/s-volume",
    "watch secrets east/s-env",
    "list secrets east/s-pull",
    "get secrets east/s-projected",
    "get secrets east/s-csi",
    "get secrets vault/s-stage",
    "get configmaps east/c-volume",
    "get configmaps east/c-from",
    "get persistentvolumeclaims east/claim",
    "get persistentvolumeclaims east/web-e",
    "patch persistentvolumeclaims/status east/claim",
    "get persistentvolumes /pv",
    "get persistentvolumes /directory",
    "get resourceclaims.resource.k8s.io east/gpu-made",
    "get volumeattachments.storage.k8s.io /mine",
    "get serviceaccounts east/bot",
    "create serviceaccounts/token east/bot",
    "get pods east/web",
    "list pods /- spec.nodeName=n1",
    "create pods east/-",
    "delete pods east/web",
    "patch pods/status east/web",
    "create pods/eviction east/web",
    "get nodes /n1",
    "watch nodes /n1",
    "create nodes /-",
    "patch nodes/status /n1",
    "update leases.coordination.k8s.io kube-node-lease/n1",
    "create leases.coordination.k8s.io kube-node-lease/-",
    "get csinodes.storage.k8s.io /n1",
    "list resourceslices.resource.k8s.io /- spec.nodeName=n1",
    "create events east/-",
    "list services /-",
    "watch csidrivers.storage.k8s.io /-",
    "create subjectaccessreviews.authorization.k8s.io /-",
    "create certificatesigningrequests.certificates.k8s.io /-",
]
DENIED = [
    "get persistentvolumes /elsewhere",
    "list persistentvolumes /-",
    "watch persistentvolumes /directory",
    "patch persistentvolumes /directory",
    "get secrets east/other",
    "get secrets west/s-volume",
    "list secrets east/-",
    "update secrets east/s-volume",
    "get secrets vault/s-controller",
    "get configmaps east/s-volume",
    "list persistentvolumeclaims east/-",
    "get persistentvolumes /free",
    "get volumeattachments.storage.k8s.io /theirs",
    "create serviceaccounts/token east/other",
    "create serviceaccounts east/-",
    "get pods east/waiting",
    "list pods /-",
    "list pods /- spec.nodeName=n2",
    "list pods /- spec.nodeName!=n1",
    "patch pods east/web",
    "create pods/exec east/web",
    "get nodes /n2",
    "list nodes /-",
    "delete nodes /n1",
    "update leases.coordination.k8s.io kube-node-lease/n2",
    "update leases.coordination.k8s.io kube-system/n1",
    "list leases.coordination.k8s.io kube-node-lease/-",
    "get csinodes.storage.k8s.io /n2",
    "list resourceslices.resource.k8s.io /-",
    "delete deployments.apps east/web",
    "get clusterroles.rbac.authorization.k8s.io /admin",
]


@pytest.mark.parametrize("text", ALLOWED)
async def test_a_node_may(text: str) -> None:
    assert await may(filled(), NODE, request(text))


@pytest.mark.parametrize("text", DENIED)
async def test_a_node_may_not(text: str) -> None:
    assert not await may(filled(), NODE, request(text))


@pytest.mark.parametrize("text", ALLOWED[:17])
async def test_another_node_may_not(text: str) -> None:
    assert not await may(filled(), OTHER, request(text))


async def test_only_members_of_the_group_are_nodes() -> None:
    assert not await may(filled(), UserInfo("system:node:n1"), request("get nodes /n1"))
    assert not await may(filled(), UserInfo("n1", groups=("system:nodes",)), request("get nodes /n1"))


async def test_rights_end_with_the_pod() -> None:
    reader = filled()
    authorizer = NodeAuthorizer(NodeGraph(reader.as_reader()))
    observed = []

    async def fetch() -> None:
        for user in (NODE, OTHER):
            verdict = await authorizer.authorize(user, request("get secrets east/s-volume"))
            observed.append(verdict.decision is Decision.ALLOW)

    await fetch()
    reader.put("pods", pod("second", "n2"))
    await fetch()
    reader.put("pods", pod("web", "n2", uid="2"))
    await fetch()
    reader.cache("pods").remove("east", "web")
    reader.cache("pods").remove("east", "second")
    await fetch()
    assert observed == [True, False, True, True, False, True, False, False]


async def test_a_debug_container_adds_its_secrets() -> None:
    reader = filled()
    authorizer = NodeAuthorizer(NodeGraph(reader.as_reader()))
    late = request("get secrets east/s-late")
    assert (await authorizer.authorize(NODE, late)).decision is Decision.NO_OPINION
    changed = pod("web")
    changed["spec"]["ephemeralContainers"] = [{"name": "debug", "envFrom": [{"secretRef": {"name": "s-late"}}]}]
    reader.put("pods", changed)
    assert (await authorizer.authorize(NODE, late)).decision is Decision.ALLOW


async def test_a_mirror_pod_adds_no_rights() -> None:
    reader = FakeReader()
    reader.put("pods", pod("static", metadata={"annotations": {"kubernetes.io/config.mirror": "x"}}))
    assert not await may(reader, NODE, request("get secrets east/s-volume"))
    assert await may(reader, NODE, request("get pods east/static"))
