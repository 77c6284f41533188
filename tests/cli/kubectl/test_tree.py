"""`kubectl sampan tree`."""

import json
from typing import Any

import pytest

from sampan.cli.kubectl.ownership import OwnedObject, Ownership
from tests.cli.kubectl.conftest import Run
from tests.e2e.conftest import Api


def _owned_by(api: Api, path: str, name: str, owner: dict[str, Any] | None = None) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": name}
    if owner is not None:
        reference = {name: owner[name] for name in ("apiVersion", "kind")}
        metadata["ownerReferences"] = [reference | {key: owner["metadata"][key] for key in ("name", "uid")}]
    return api.create(path, {"metadata": metadata})


def _rows(run: Run, *arguments: str) -> list[list[str]]:
    done = run("tree", *arguments)
    assert done.err == ""
    assert done.code == 0
    return [line.split() for line in done.lines]


def test_dependents_are_shown_below_their_owner(run: Run, api: Api, namespace: str) -> None:
    path = f"/api/v1/namespaces/{namespace}"
    root = _owned_by(api, f"{path}/configmaps", "root")
    child = _owned_by(api, f"{path}/secrets", "child", root)
    _owned_by(api, f"{path}/serviceaccounts", "grandchild", child)
    _owned_by(api, f"{path}/configmaps", "sibling", root)
    rows = _rows(run, "configmap/root", "-n", namespace)
    assert rows[0] == ["NAMESPACE", "NAME", "READY", "REASON", "CONDITIONS", "AGE"]
    assert [" ".join(row[1:-4]) for row in rows[1:]] == [
        "ConfigMap/root",
        "├─ConfigMap/sibling",
        "└─Secret/child",
        "└─ServiceAccount/grandchild",
    ]
    assert {row[0] for row in rows[1:]} == {namespace}


def test_conditions_are_shown(run: Run, api: Api, namespace: str) -> None:
    path = f"/api/v1/namespaces/{namespace}/pods"
    api.create(path, {"metadata": {"name": "web"}, "spec": {"containers": [{"name": "main", "image": "app:1"}]}})
    conditions = [
        {"type": "Ready", "status": "False", "reason": "ContainersNotReady"},
        {"type": "PodScheduled", "status": "True"},
    ]
    api.patch(f"{path}/web/status", {"status": {"conditions": conditions}})
    [row] = _rows(run, "pod", "web", "-n", namespace)[1:]
    assert row[:-1] == [namespace, "Pod/web", "False", "ContainersNotReady", "PodScheduled=True"]


def test_a_cluster_scoped_owner_has_dependents_in_all_namespaces(run: Run, api: Api, namespace: str) -> None:
    role = _owned_by(api, "/apis/rbac.authorization.k8s.io/v1/clusterroles", f"owner-{namespace}")
    _owned_by(api, f"/api/v1/namespaces/{namespace}/configmaps", "owned", role)
    rows = _rows(run, f"clusterrole/owner-{namespace}")
    assert [row[1] for row in rows[1:]] == [
        f"ClusterRole.rbac.authorization.k8s.io/owner-{namespace}",
        "└─ConfigMap/owned",
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "error: missing object: give TYPE/NAME"),
        (("pods",), "error: expected exactly one object as TYPE/NAME, got 'pods'"),
        (("pod/a", "pod/b"), "error: expected exactly one object as TYPE/NAME, got 'pod/a pod/b'"),
        (("pod/",), "error: expected TYPE/NAME, got 'pod/'"),
        (("boat/a",), 'error: the server doesn\'t have a resource type "boat"'),
        (("pod/none",), 'Error from server (NotFound): pods "none" not found'),
    ],
    ids=["nothing", "no name", "two", "half", "no such type", "no such object"],
)
def test_mistakes_are_named(run: Run, arguments: tuple[str, ...], message: str) -> None:
    done = run("tree", *arguments)
    assert (done.code, done.err.strip()) == (1, message)


def _node(uid: str, *owners: str) -> OwnedObject:
    return OwnedObject(uid=uid, kind="K", name=uid, namespace="", created=None, owners=owners)


def test_a_circle_of_owners_ends() -> None:
    tree = Ownership()
    root = _node("a", "b")
    tree.add([root, _node("b", "a")])
    assert [(branch.owned.uid, branch.cycle) for branch in tree.below(root)] == [
        ("a", False),
        ("b", False),
        ("a", True),
    ]


def test_an_object_that_is_listed_twice_is_shown_once() -> None:
    tree = Ownership()
    tree.add([_node("b", "a", "a")])
    tree.add([_node("b", "a")])
    assert [branch.owned.uid for branch in tree.below(_node("a"))] == ["a", "b"]


def test_an_object_of_two_owners_is_below_both() -> None:
    tree = Ownership()
    tree.add([_node("b", "a"), _node("c", "a"), _node("d", "b", "c")])
    assert [branch.owned.uid for branch in tree.below(_node("a"))] == ["a", "b", "d", "c", "d"]


def test_an_object_with_several_owners_is_expanded_once() -> None:
    levels = 40
    nodes = [_node("0a"), _node("0b", "0a")]
    nodes += [_node(f"{level}{side}", f"{level - 1}a", f"{level - 1}b") for level in range(1, levels) for side in "ab"]
    tree = Ownership()
    tree.add(nodes)
    branches = list(tree.below(nodes[0]))
    assert len(branches) < 4 * levels
    assert {branch.owned.uid for branch in branches} == {node.uid for node in nodes}
    assert any(branch.again for branch in branches)


def test_owners_may_be_thousands_deep() -> None:
    tree = Ownership()
    tree.add([_node(str(depth), str(depth - 1)) for depth in range(1, 3000)])
    assert len(list(tree.below(_node("0")))) == 3000


def test_the_tree_is_given_to_programs_too(run: Run, api: Api, namespace: str) -> None:
    path = f"/api/v1/namespaces/{namespace}"
    root = _owned_by(api, f"{path}/configmaps", "root")
    _owned_by(api, f"{path}/secrets", "child", root)
    tree = json.loads(run("tree", "configmap/root", "-n", namespace, "-o", "json").out)
    assert [(each["kind"], each["name"], each.get("owner")) for each in tree["items"]] == [
        ("ConfigMap", "root", None),
        ("Secret", "child", root["metadata"]["uid"]),
    ]


def test_another_user_may_be_called_as(run: Run, namespace: str) -> None:
    done = run("tree", "configmap/root", "-n", namespace, "--as", "jane", "--as-group", "people")
    assert done.err.startswith('Error from server (Forbidden): configmaps "root" is forbidden: User "jane" cannot get')
    done = run("tree", "configmap/root", "--as-group", "people")
    assert done.err.splitlines()[0] == "error: --as-uid and --as-group need --as"


def test_resources_that_cannot_be_listed_are_reported_in_a_line(run: Run, api: Api, namespace: str) -> None:
    _owned_by(api, f"/api/v1/namespaces/{namespace}/configmaps", "root")
    group = "rbac.authorization.k8s.io"
    rbac, named = f"/apis/{group}/v1/namespaces/{namespace}", {"metadata": {"name": "viewer"}}
    rules = [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list"]}]
    api.create(f"{rbac}/roles", {**named, "rules": rules})
    subjects = [{"apiGroup": group, "kind": "User", "name": "viewer"}]
    role = {"apiGroup": group, "kind": "Role", "name": "viewer"}
    api.create(f"{rbac}/rolebindings", {**named, "roleRef": role, "subjects": subjects})
    done = run("tree", "configmap/root", "-n", namespace, "--as", "viewer")
    assert (done.code, len(done.lines)) == (1, 2)
    [line] = done.err.splitlines()
    assert line.startswith("Warning: not looked through, for you may not list them: ")
    assert " secrets" in line
