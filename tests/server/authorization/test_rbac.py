"""Decisions of RBAC, and their reasons."""

from dataclasses import replace
from typing import Any

import pytest

from sampan.server.authorization.authorizer import Decision
from sampan.server.authorization.rbac.authorizer import RbacAuthorizer
from sampan.server.authorization.rbac.index import RbacIndex
from sampan.server.request import RequestInfo, UserInfo
from sampan.storage.encoding import decode as stored_object
from tests.server.authorization.caches import FakeReader, account, binding, group, role, rule, user

JANE = UserInfo("jane", groups=("devs",))
BOT = UserInfo("system:serviceaccount:east:bot")


def pods(verb: str = "get", namespace: str = "", name: str = "", subresource: str = "") -> RequestInfo:
    """A request for pods."""
    return RequestInfo("", verb, True, "", "v1", namespace, "pods", subresource, name)


def authorizer(reader: FakeReader) -> RbacAuthorizer:
    """Return a new authorizer."""
    return RbacAuthorizer(RbacIndex(reader.as_reader()))


REASONS = [
    pytest.param(
        JANE,
        "",
        binding("b", "reader", group("devs")),
        'RBAC: allowed by ClusterRoleBinding "b" of ClusterRole "reader" to Group "devs"',
        id="group",
    ),
    pytest.param(
        JANE,
        "east",
        binding("b", "reader", user("joe"), user("jane"), namespace="east"),
        'RBAC: allowed by RoleBinding "b/east" of ClusterRole "reader" to User "jane"',
        id="user in a namespace",
    ),
    pytest.param(
        BOT,
        "east",
        binding("b", "reader", account("bot"), namespace="east"),
        'RBAC: allowed by RoleBinding "b/east" of ClusterRole "reader" to ServiceAccount "bot/east"',
        id="account of the binding's namespace",
    ),
    pytest.param(
        BOT,
        "west",
        binding("b", "local", account("bot", "east"), namespace="west", kind="Role"),
        'RBAC: allowed by RoleBinding "b/west" of Role "local" to ServiceAccount "bot/east"',
        id="account of another namespace, by a Role",
    ),
]


@pytest.mark.parametrize(("subject", "namespace", "bound", "reason"), REASONS)
async def test_the_reason_names_the_binding(
    subject: UserInfo, namespace: str, bound: dict[str, Any], reason: str
) -> None:
    reader = FakeReader()
    reader.put("clusterroles", role("reader", rule("get", "core", "pods")))
    reader.put("roles", role("local", rule("get", "core", "pods"), namespace="west"))
    reader.put("rolebindings" if bound["kind"] == "RoleBinding" else "clusterrolebindings", bound)
    assert await authorizer(reader).authorize(subject, pods(namespace=namespace)) == (Decision.ALLOW, reason, "")


async def test_the_reason_names_each_missing_role_once() -> None:
    reader = FakeReader()
    reader.put("clusterrolebindings", binding("a", "gone", user("jane")), binding("b", "gone", group("devs")))
    reader.put("rolebindings", binding("c", "local", user("jane"), namespace="east", kind="Role"))
    verdict = await authorizer(reader).authorize(JANE, pods(namespace="east"))
    assert verdict.decision is Decision.NO_OPINION
    assert verdict.reason == (
        'RBAC: [clusterrole.rbac.authorization.k8s.io "gone" not found, '
        'role.rbac.authorization.k8s.io "local" not found]'
    )


async def test_resource_names_do_not_match_requests_without_a_name() -> None:
    reader = FakeReader()
    reader.put("clusterroles", role("one", rule("get create deletecollection", "core", "pods", ["a"])))
    reader.put("clusterrolebindings", binding("b", "one", user("jane")))
    rbac = authorizer(reader)
    allowed = {}
    for info in (pods("get", name="a"), pods("get", name="b"), pods("create"), pods("deletecollection")):
        allowed[info.verb, info.name] = (await rbac.authorize(JANE, info)).decision is Decision.ALLOW
    assert [key for key, may in allowed.items() if may] == [("get", "a")]


REFUSED = {
    "user": (UserInfo("joe", groups=("devs",)), pods(namespace="east")),
    "groups": (UserInfo("jane"), pods(namespace="east")),
    "namespace": (JANE, pods(namespace="west")),
    "verb": (JANE, pods("list", namespace="east")),
    "API group": (JANE, replace(pods(namespace="east"), group="apps")),
    "resource": (JANE, replace(pods(namespace="east"), resource="secrets")),
    "subresource": (JANE, pods(namespace="east", subresource="exec")),
    "path": (JANE, RequestInfo("/logs", "get")),
    "verb of a path": (JANE, RequestInfo("/metrics", "post")),
}
"""Requests that differ from an allowed one in one part."""


@pytest.mark.parametrize("order", [1, -1], ids=["allowed first", "refused first"])
@pytest.mark.parametrize("part", REFUSED)
async def test_a_cached_decision_is_for_its_request_alone(part: str, order: int) -> None:
    reader = FakeReader()
    reader.put("clusterroles", role("reader", rule("get", "core", "pods")))
    reader.put("clusterroles", role("metrics", {"verbs": ["get"], "nonResourceURLs": ["/metrics"]}))
    subject = group("devs") if part == "groups" else user("jane")
    reader.put("rolebindings", binding("b", "reader", subject, namespace="east"))
    reader.put("clusterrolebindings", binding("b", "metrics", user("jane")))
    requester, refused = REFUSED[part]
    allowed = pods(namespace="east") if refused.is_resource else RequestInfo("/metrics", "get")
    rbac, found = authorizer(reader), {}
    for name, caller, info in (("allowed", JANE, allowed), ("refused", requester, refused))[::order]:
        found[name] = (await rbac.authorize(caller, info)).decision
    assert found == {"allowed": Decision.ALLOW, "refused": Decision.NO_OPINION}


async def test_a_change_applies_to_the_next_request() -> None:
    reader = FakeReader()
    rbac = authorizer(reader)
    observed = []

    async def fetch() -> None:
        observed.append((await rbac.authorize(JANE, pods())).decision is Decision.ALLOW)

    await fetch()
    reader.put("clusterrolebindings", binding("b", "reader", user("jane")))
    await fetch()
    reader.put("clusterroles", role("reader", rule("get", "core", "pods")))
    await fetch()
    reader.put("clusterroles", role("reader", rule("list", "core", "pods")))
    await fetch()
    reader.put("clusterroles", role("reader", rule("*", "*", "*")))
    await fetch()
    reader.cache("clusterrolebindings").remove("", "b")
    await fetch()
    assert observed == [False, False, True, False, True, False]


async def test_only_roles_of_the_user_are_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    decoded: list[bytes] = []

    def decode(value: bytes) -> Any:
        decoded.append(value)
        return stored_object(value)

    monkeypatch.setattr("sampan.server.authorization.rbac.binding.decode", decode)
    reader = FakeReader()
    reader.put("clusterroles", role("reader", rule("get", "core", "pods")), role("large", rule("get", "core", "pods")))
    reader.put("clusterrolebindings", binding("a", "reader", user("jane")), binding("b", "large", user("joe")))
    assert (await authorizer(reader).authorize(JANE, pods())).decision is Decision.ALLOW
    assert [stored_object(value)["metadata"]["name"] for value in decoded] == ["reader"]


async def test_each_authorizer_of_an_index_follows_all_changes() -> None:
    reader = FakeReader()
    reader.put("clusterroles", role("reader", rule("get", "core", "pods")))
    index = RbacIndex(reader.as_reader())
    authorizers = [RbacAuthorizer(index, name) for name in ("one", "two")]
    for bound, expected in ((user("joe"), Decision.NO_OPINION), (user("jane"), Decision.ALLOW)):
        reader.put("clusterrolebindings", binding("b", "reader", bound))
        found = [(await each.authorize(JANE, pods())).decision for each in authorizers]
        assert found == [expected, expected]
