"""Thirty users and forty requests under the default policy and some bindings.

`matrix.txt` next to this file has a line for each request with the users that may send it. The authorizers wrote it and
people reviewed it. A change in it is a change of some user's rights.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sampan.controllers.cluster_role_aggregation import aggregated_rules
from sampan.server.authorization.authorizer import Authorizer, Decision
from sampan.server.authorization.bootstrap_policy.objects import (
    cluster_role_bindings,
    cluster_roles,
    role_bindings,
    roles,
)
from sampan.server.authorization.masters import MastersAuthorizer
from sampan.server.authorization.node.authorizer import NodeAuthorizer
from sampan.server.authorization.node.graph import NodeGraph
from sampan.server.authorization.rbac.authorizer import RbacAuthorizer
from sampan.server.authorization.rbac.index import RbacIndex
from sampan.server.authorization.union import UnionAuthorizer
from sampan.server.request import RequestInfo, UserInfo
from tests.server.authorization.caches import FakeReader, account, binding, group, paths, role, rule, user

FILE = Path(__file__).with_name("matrix.txt")
KNOWN = "system:authenticated"
ACCOUNTS = ("system:serviceaccounts", "system:serviceaccounts:{}", KNOWN)

GRANTS = [
    binding("ann", "admin", user("ann"), namespace="east"),
    binding("eve", "edit", user("eve"), namespace="east"),
    binding("vic", "view", user("vic"), namespace="east"),
    binding("everywhere-viewer", "view", user("walt")),
    binding("everywhere-editor", "edit", group("editors")),
    binding("everywhere-admin", "admin", user("adele")),
    binding("root", "cluster-admin", user("rita")),
    binding("local-root", "cluster-admin", user("ron"), namespace="east"),
    binding("bot", "view", account("bot"), namespace="east"),
    binding("foreign-bot", "edit", account("bot", "west"), namespace="east"),
    binding("all-bots", "system:monitoring", group("system:serviceaccounts:west")),
    binding("one", "one-config-map", user("otto"), namespace="east", kind="Role"),
    binding("scaler", "scaler", user("scott")),
    binding("logs", "logs", user("lola")),
    binding("paths", "paths", user("pat")),
    binding("wild", "all-of-apps", user("wilma")),
    binding("gone", "not-there", user("gus")),
    binding("impersonator", "impersonator", user("ida")),
    binding("escalator", "escalator", user("emma")),
]
OWN_ROLES = [
    role("one-config-map", rule("get update", "core", "configmaps", ["settings"]), namespace="east"),
    role("scaler", rule("get update patch", "*", "*/scale")),
    role("logs", rule("get", "core", "pods/log pods/status")),
    role("paths", paths("get", "/debug/* /metrics"), paths("*", "/x*")),
    role("all-of-apps", rule("*", "apps", "*")),
    role("impersonator", rule("impersonate", "core", "users", ["jane"])),
    role("escalator", rule("escalate bind", "rbac.authorization.k8s.io", "clusterroles")),
]
USERS = [
    UserInfo("system:anonymous", groups=("system:unauthenticated",)),
    *(
        UserInfo(name, groups=(KNOWN,))
        for name in ("jane", "ann", "eve", "vic", "walt", "adele", "rita", "ron", "otto", "scott", "lola", "pat")
    ),
    *(UserInfo(name, groups=(KNOWN,)) for name in ("wilma", "gus", "ida", "emma")),
    UserInfo("ed", groups=("editors", KNOWN)),
    UserInfo("max", groups=("system:masters", KNOWN)),
    UserInfo("mona", groups=("system:monitoring", KNOWN)),
    *(
        UserInfo(f"system:serviceaccount:{namespace}:bot", groups=tuple(each.format(namespace) for each in ACCOUNTS))
        for namespace in ("east", "west")
    ),
    *(
        UserInfo(name, groups=(KNOWN,))
        for name in ("system:kube-controller-manager", "system:kube-scheduler", "system:kube-proxy")
    ),
    *(
        UserInfo(f"system:serviceaccount:kube-system:{name}", groups=(KNOWN,))
        for name in ("deployment-controller", "generic-garbage-collector", "kube-dns")
    ),
    UserInfo("system:node:n1", groups=("system:nodes", KNOWN)),
    UserInfo("system:node:n2", groups=("system:nodes", KNOWN)),
]
REQUESTS = """
get /healthz
get /healthz/etcd
get /metrics
get /apis/apps
post /x/y
delete /
get pods in east
list pods in east
list pods
watch pods in west
create pods in east
delete pods in east
deletecollection pods in east
get pods/log in east
create pods/exec in east
get pods/status in west
create pods/binding in east
get secrets in east
list secrets in west
get configmaps named settings in east
update configmaps named settings in east
list configmaps in east
get configmaps named other in east
create deployments.apps in east
update deployments.apps/scale in west
patch replicationcontrollers/scale in east
list deployments.apps
update deployments.apps/status in east
get nodes named n1
list nodes
update nodes/status named n1
create namespaces
get namespaces named east in east
create roles.rbac.authorization.k8s.io in east
create clusterroles.rbac.authorization.k8s.io
escalate clusterroles.rbac.authorization.k8s.io
impersonate users named jane
impersonate users named rita
create selfsubjectaccessreviews.authorization.k8s.io
update leases.coordination.k8s.io named n1 in kube-node-lease
""".strip().splitlines()


def policy() -> FakeReader:
    """The default policy with its aggregated roles filled in, our bindings, and a Pod on n1."""
    reader = FakeReader()
    made: list[Any] = list(cluster_roles())
    for each in made * 3:
        if "aggregationRule" in each:
            each["rules"] = aggregated_rules(each, made)
    reader.put("clusterroles", *made, *(each for each in OWN_ROLES if each["kind"] == "ClusterRole"))
    reader.put("roles", *roles(), *(each for each in OWN_ROLES if each["kind"] == "Role"))
    everywhere = [each for each in GRANTS if each["kind"] == "ClusterRoleBinding"]
    reader.put("clusterrolebindings", *cluster_role_bindings(), *everywhere)
    reader.put("rolebindings", *role_bindings(), *(each for each in GRANTS if each["kind"] == "RoleBinding"))
    return reader


def request(text: str) -> RequestInfo:
    """`verb resource.group/subresource named NAME in NAMESPACE`, or `verb /path`."""
    verb, what, *more = text.split()
    if what.startswith("/"):
        return RequestInfo(what, verb)
    sent = dict(zip(more[::2], more[1::2], strict=True))
    resource, _, subresource = what.partition("/")
    resource, _, api_group = resource.partition(".")
    return RequestInfo(
        "", verb, True, api_group, "v1", sent.get("in", ""), resource, subresource, sent.get("named", "")
    )


async def lines(authorizer: Authorizer) -> list[str]:
    """The matrix, a line for each request."""
    found = []
    for text in REQUESTS:
        info = request(text)
        allowed = [
            subject.name for subject in USERS if (await authorizer.authorize(subject, info)).decision is Decision.ALLOW
        ]
        found.append(f"{text}: {' '.join(allowed)}".rstrip())
    return found


def expected() -> Iterator[str]:
    """The lines of the file, comments left out."""
    return (line for line in FILE.read_text().splitlines() if line and not line.startswith("#"))


def test_the_matrix_is_large() -> None:
    assert (len(USERS), len(REQUESTS)) == (30, 40)


async def test_decisions_equal_the_matrix() -> None:
    reader = policy().as_reader()
    union = UnionAuthorizer([MastersAuthorizer(), NodeAuthorizer(NodeGraph(reader)), RbacAuthorizer(RbacIndex(reader))])
    assert await lines(union) == list(expected())
