"""ABAC: policies in a file, one a line."""

import json
from typing import Any

import pytest

from sampan.server.authorization.abac import AbacAuthorizer, parse_policies
from sampan.server.authorization.authorizer import Decision
from sampan.server.request import RequestInfo, UserInfo

VERSION = {"apiVersion": "abac.authorization.kubernetes.io/v1beta1", "kind": "Policy"}
JANE = UserInfo("jane", groups=("devs", "system:authenticated"))
ANONYMOUS = UserInfo("system:anonymous", groups=("system:unauthenticated",))
PODS = {"namespace": "a", "resource": "pods", "apiGroup": ""}
OLD_PODS = '{"user": "jane", "resource": "pods"}'
EVERYTHING = {"namespace": "*", "resource": "*", "apiGroup": "*", "nonResourcePath": "*"}


def policy(**spec: Any) -> str:
    """A line of today."""
    return json.dumps({**VERSION, "spec": spec})


def pods(verb: str = "get", namespace: str = "a", group: str = "", resource: str = "pods") -> RequestInfo:
    """A request for Pods."""
    return RequestInfo("", verb, is_resource=True, group=group, version="v1", namespace=namespace, resource=resource)


@pytest.mark.parametrize(
    ("line", "user", "info", "allowed"),
    [
        pytest.param(policy(user="jane", **PODS), JANE, pods(), True, id="the user"),
        pytest.param(policy(user="joe", **PODS), JANE, pods(), False, id="another user"),
        pytest.param(policy(group="devs", **PODS), JANE, pods(), True, id="the group"),
        pytest.param(policy(user="jane", group="ops", **PODS), JANE, pods(), False, id="the user in another group"),
        pytest.param(policy(**PODS), JANE, pods(), False, id="nobody named"),
        pytest.param(policy(user="*", **PODS), JANE, pods(), True, id="all users"),
        pytest.param(policy(user="*", **PODS), ANONYMOUS, pods(), False, id="all users, without credentials"),
        pytest.param(policy(user="jane", **PODS), JANE, pods(namespace="b"), False, id="another namespace"),
        pytest.param(policy(user="jane", **PODS), JANE, pods(group="metrics.k8s.io"), False, id="another group"),
        pytest.param(policy(user="jane", **PODS), JANE, pods(resource="secrets"), False, id="another resource"),
        pytest.param(policy(user="jane", readonly=True, **PODS), JANE, pods("watch"), True, id="reading"),
        pytest.param(policy(user="jane", readonly=True, **PODS), JANE, pods("update"), False, id="writing, read only"),
        pytest.param(policy(user="jane", **EVERYTHING), JANE, pods("delete", "z"), True, id="everything"),
        pytest.param(policy(user="jane", **PODS), JANE, RequestInfo("/metrics", "get"), False, id="a path, for Pods"),
        pytest.param(
            policy(user="jane", nonResourcePath="/logs/*"), JANE, RequestInfo("/logs/x", "get"), True, id="below a path"
        ),
        pytest.param('{"user": "jane"}', JANE, RequestInfo("/x", "get"), True, id="of old: no limits"),
        pytest.param("{}", JANE, pods(), True, id="of old: everybody who is somebody"),
        pytest.param("{}", ANONYMOUS, pods(), False, id="of old: not nobody"),
        pytest.param(OLD_PODS, JANE, pods("update", "q", "apps"), True, id="of old: all groups"),
        pytest.param(OLD_PODS, JANE, RequestInfo("/x", "get"), False, id="of old: no paths"),
        pytest.param("# a remark\n\n", JANE, pods(), False, id="remarks"),
    ],
)
async def test_a_policy_allows_what_it_names(line: str, user: UserInfo, info: RequestInfo, allowed: bool) -> None:
    verdict = await AbacAuthorizer(parse_policies(line, "p")).authorize(user, info)
    assert verdict.decision is (Decision.ALLOW if allowed else Decision.NO_OPINION)
    assert verdict.reason == ("" if allowed else "No policy matched.")


def test_policies_are_listed_as_rules() -> None:
    lines = (policy(user="jane", readonly=True, **PODS), policy(group="devs", namespace="*", nonResourcePath="/x"))
    found = AbacAuthorizer(parse_policies("\n".join(lines), "p")).rules_for(JANE, "a")
    assert found.rules == (
        {"verbs": ["get", "list", "watch"], "apiGroups": [""], "resources": ["pods"]},
        {"verbs": ["*"], "nonResourceURLs": ["/x"]},
    )


@pytest.mark.parametrize(
    "line",
    [
        pytest.param("{", id="no JSON"),
        pytest.param('{"user": 5}', id="no text"),
        pytest.param('{"apiVersion": "v1", "kind": "Pod"}', id="another kind"),
    ],
)
def test_a_line_that_cannot_be_read_is_named(line: str) -> None:
    with pytest.raises(ValueError, match=r"error reading policy file p\.jsonl, line 2: "):
        parse_policies(f"# policies\n{line}", "p.jsonl")
