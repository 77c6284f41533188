"""NodeRestriction: requests of the user system:node:n."""

from typing import Any

import pytest

from sampan.core.errors import StatusError
from sampan.core.gvk import GroupVersionKind, GroupVersionResource
from sampan.core.object import Object
from sampan.server.admission.chain import Attributes
from sampan.server.admission.plugins.node_restriction import NodeRestriction
from sampan.server.admission.plugins.node_restriction.plugin import forbidden_changes
from sampan.server.admission.plugins.node_restriction.pods import referenced_objects
from sampan.server.authorization.masters import MastersAuthorizer
from sampan.server.request import UserInfo
from tests.server.admission.objects import PODS, container, pod
from tests.server.cluster import Api

_ME = UserInfo("system:node:n", groups=("system:nodes", "system:authenticated"))
_OTHER = UserInfo("jane")


async def _response(
    api: Api, operation: str, resource: str, obj: Object | None = None, old: Object | None = None, **more: Any
) -> str:
    """The message of the refusal; empty when it is let in."""
    known = obj or old or {"metadata": {}}
    group = more.pop("group", "")
    attributes = Attributes(
        operation,
        GroupVersionKind(group, "v1", "X"),
        GroupVersionResource(group, "v1", resource),
        more.pop("namespace", "default"),
        more.pop("name", known["metadata"].get("name", "")),
        more.pop("subresource", ""),
        more.pop("user", _ME),
        False,
        obj,
        old,
    )
    try:
        await NodeRestriction(api.cluster.reader, MastersAuthorizer()).admit(attributes)
    except StatusError as error:
        return error.message
    return ""


async def _node(api: Api, name: str = "n") -> Any:
    return await api.create("/api/v1/nodes", {"metadata": {"name": name}})


def _mirror(node: Any, **spec: Any) -> Object:
    obj = pod(nodeName="n", **spec)
    owner = {"apiVersion": "v1", "kind": "Node", "name": "n", "uid": node["metadata"]["uid"], "controller": True}
    obj["metadata"] |= {"annotations": {"kubernetes.io/config.mirror": "x"}, "ownerReferences": [owner]}
    return obj


async def test_a_node_makes_its_mirror_pods(api: Api) -> None:
    assert await _response(api, "CREATE", "pods", _mirror(await _node(api))) == ""


async def test_users_other_than_nodes_are_not_restricted(api: Api) -> None:
    assert await _response(api, "CREATE", "pods", pod(), user=_OTHER) == ""
    assert await _response(api, "UPDATE", "nodes", {"metadata": {"name": "x"}}, user=_OTHER) == ""


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"annotations": {}}, 'pod does not have "kubernetes.io/config.mirror" annotation, node "n" can only create'),
        ({"ownerReferences": []}, 'node "n" can only create pods with an owner reference set to itself'),
        ({"ownerReferences": [{}, {}]}, 'node "n" can only create pods with a single owner reference set to itself'),
        (
            {"ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": "n"}]},
            'node "n" can only create pods with a controller owner reference set to itself',
        ),
        (
            {"ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": "n", "controller": True, "uid": "u"}]},
            "node n UID mismatch: expected u got ",
        ),
    ],
)
async def test_a_node_makes_no_other_pods(api: Api, change: Object, text: str) -> None:
    obj = _mirror(await _node(api))
    obj["metadata"] |= change
    assert (await _response(api, "CREATE", "pods", obj)).startswith(f'pods "p" is forbidden: {text}')


@pytest.mark.parametrize(
    ("spec", "found"),
    [
        ({}, ""),
        ({"serviceAccountName": "a"}, "serviceaccounts"),
        ({"imagePullSecrets": [{"name": "s"}]}, "secrets"),
        ({"volumes": [{"name": "v", "configMap": {"name": "c"}}]}, "configmaps"),
        ({"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]}, "persistentvolumeclaims"),
        ({"volumes": [{"name": "v", "csi": {"driver": "d"}}]}, "csidrivers (via CSI volumes)"),
        ({"containers": [container(envFrom=[{"configMapRef": {"name": "c"}}])]}, "configmaps"),
        ({"volumes": [{"name": "v", "emptyDir": {}}, {"name": "w", "hostPath": {"path": "/"}}]}, ""),
    ],
)
def test_mirror_pods_refer_to_nothing(spec: Object, found: str) -> None:
    assert referenced_objects(pod(**spec)) == found


async def test_a_node_deletes_and_evicts_its_own_pods_only(api: Api) -> None:
    for name, node in (("mine", "n"), ("theirs", "m")):
        await api.create(PODS, pod(name, nodeName=node))
    assert await _response(api, "DELETE", "pods", name="mine") == ""
    assert await _response(api, "CREATE", "pods", {"metadata": {}}, name="mine", subresource="eviction") == ""
    text = 'pods "theirs" is forbidden: node "n" can only delete pods with spec.nodeName set to itself'
    assert await _response(api, "DELETE", "pods", name="theirs") == text
    text = 'pods "theirs" is forbidden: node n can only evict pods with spec.nodeName set to itself'
    assert await _response(api, "CREATE", "pods", {"metadata": {}}, name="theirs", subresource="eviction") == text


async def test_a_node_writes_the_status_of_pods_on_it_only(api: Api) -> None:
    mine, theirs = pod(nodeName="n"), pod(nodeName="m")
    assert await _response(api, "UPDATE", "pods", mine, mine, subresource="status") == ""
    message = await _response(api, "UPDATE", "pods", theirs, theirs, subresource="status")
    assert "can only update pod status for pods with spec.nodeName set to itself" in message
    labelled = {**mine, "metadata": {"name": "p", "labels": {"a": "b"}}}
    message = await _response(api, "UPDATE", "pods", labelled, mine, subresource="status")
    assert message == 'pods "p" is forbidden: node "n" cannot update labels through pod status'


@pytest.mark.parametrize(
    ("new", "old", "text"),
    [
        ({"metadata": {"name": "m"}}, None, 'node "n" is not allowed to modify node "m"'),
        (
            {"metadata": {"name": "n", "labels": {"node-restriction.kubernetes.io/a": "b", "mine": "x"}}},
            None,
            'node "n" is not allowed to set the following labels: node-restriction.kubernetes.io/a',
        ),
        (
            {"metadata": {"name": "n"}, "spec": {"taints": []}},
            {"metadata": {"name": "n"}, "spec": {"taints": [{"key": "a"}]}},
            'node "n" is not allowed to modify taints',
        ),
        (
            {"metadata": {"name": "n"}},
            {"metadata": {"name": "n", "labels": {"foo.k8s.io/a": "b"}}},
            "is not allowed to modify labels: foo.k8s.io/a",
        ),
    ],
    ids=["another", "labels", "taints", "removed label"],
)
async def test_a_node_changes_itself_within_bounds(api: Api, new: Object, old: Object | None, text: str) -> None:
    message = await _response(api, "CREATE" if old is None else "UPDATE", "nodes", new, old)
    assert message == f'nodes "{new["metadata"]["name"]}" is forbidden: {text}'


@pytest.mark.parametrize(
    ("label", "allowed"),
    [
        ("kubernetes.io/hostname", True),
        ("topology.kubernetes.io/zone", True),
        ("kubelet.kubernetes.io/x", True),
        ("a.node.kubernetes.io/x", True),
        ("example.com/x", True),
        ("plain", True),
        ("kubernetes.io/x", False),
        ("a.k8s.io/x", False),
        ("a.node-restriction.kubernetes.io/x", False),
    ],
)
def test_which_labels_are_a_nodes_own(label: str, *, allowed: bool) -> None:
    assert forbidden_changes({label: "v"}, {}) == ([] if allowed else [label])


@pytest.mark.parametrize(
    ("resource", "group", "kwargs", "text"),
    [
        ("leases", "coordination.k8s.io", {"namespace": "kube-node-lease", "name": "n"}, ""),
        (
            "leases",
            "coordination.k8s.io",
            {"name": "n"},
            'can only access leases in the "kube-node-lease" system namespace',
        ),
        (
            "leases",
            "coordination.k8s.io",
            {"namespace": "kube-node-lease", "name": "m"},
            "can only access node lease with the same name as the requesting node",
        ),
        ("csinodes", "storage.k8s.io", {"name": "m"}, "can only access CSINode with the same name as the"),
        ("persistentvolumeclaims", "", {}, "may only update PVC status"),
    ],
)
async def test_other_objects_of_nodes(api: Api, resource: str, group: str, kwargs: dict[str, Any], text: str) -> None:
    message = await _response(api, "CREATE", resource, {"metadata": {}}, group=group, **kwargs)
    assert (text in message) if text else message == ""


async def _bound_pod(api: Api, node: str, audience: str = "") -> Any:
    sources = [{"serviceAccountToken": {"path": "t", "audience": audience}}]
    volumes = [{"name": "v", "projected": {"sources": sources}}]
    return await api.create(PODS, pod(nodeName=node, serviceAccountName="a", volumes=volumes))


@pytest.mark.parametrize(
    ("node", "audiences", "text"),
    [
        ("n", ["vault"], ""),
        ("m", ["vault"], "node requested token bound to a pod scheduled on a different node"),
        ("n", ["a", "b"], "node may only request 0 or 1 audiences"),
        (
            "n",
            ["other"],
            'audience "other" not found in pod spec volume, system:node:n is not authorized to request tokens for this '
            "audience",
        ),
    ],
)
async def test_tokens_are_for_pods_on_the_node(api: Api, node: str, audiences: list[str], text: str) -> None:
    made = await _bound_pod(api, node, "vault")
    bound = {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": made["metadata"]["uid"]}
    obj = {"metadata": {"name": "a"}, "spec": {"boundObjectRef": bound, "audiences": audiences}}
    message = await _response(api, "CREATE", "serviceaccounts", obj, subresource="token")
    assert message == (f'serviceaccounts "a" is forbidden: {text}' if text else "")


async def test_a_token_must_be_bound_to_a_pod(api: Api) -> None:
    obj = {"metadata": {"name": "a"}, "spec": {}}
    message = await _response(api, "CREATE", "serviceaccounts", obj, subresource="token")
    assert message == 'serviceaccounts "a" is forbidden: node requested token not bound to a pod'


async def test_a_pod_that_is_not_there_is_reported_by_its_kind(api: Api) -> None:
    bound = {"apiVersion": "v1", "kind": "Pod", "name": "none", "uid": "u"}
    obj = {"metadata": {"name": "a"}, "spec": {"boundObjectRef": bound}}
    assert await _response(api, "CREATE", "serviceaccounts", obj, subresource="token") == 'pod "none" not found'


@pytest.mark.parametrize("source", ["inline", "claim", "ephemeral"])
async def test_a_node_requests_tokens_for_the_audience_of_a_csi_driver(api: Api, source: str) -> None:
    driver = {"metadata": {"name": "d"}, "spec": {"tokenRequests": [{"audience": "vault"}]}}
    await api.create("/apis/storage.k8s.io/v1/csidrivers", driver)
    name = "p-v" if source == "ephemeral" else "c"
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, "volumeName": "pv"}
    await api.create("/api/v1/namespaces/default/persistentvolumeclaims", {"metadata": {"name": name}, "spec": spec})
    csi = {"driver": "d", "volumeHandle": "h"}
    volume = {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}, "csi": csi}
    await api.create("/api/v1/persistentvolumes", {"metadata": {"name": "pv"}, "spec": volume})
    sources: dict[str, Any] = {
        "inline": {"csi": {"driver": "d"}},
        "claim": {"persistentVolumeClaim": {"claimName": "c"}},
        "ephemeral": {"ephemeral": {"volumeClaimTemplate": {"spec": {**spec, "volumeName": ""}}}},
    }
    volumes = [{"name": "v", **sources[source]}]
    made = await api.create(PODS, pod(nodeName="n", serviceAccountName="a", volumes=volumes))
    bound = {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": made["metadata"]["uid"]}
    obj = {"metadata": {"name": "a"}, "spec": {"boundObjectRef": bound, "audiences": ["vault"]}}
    assert await _response(api, "CREATE", "serviceaccounts", obj, subresource="token") == ""
