"""Validation of audit policies, and their decisions."""

from typing import Any

import pytest

from sampan.server.audit.evaluator import PolicyEvaluator
from sampan.server.audit.policy import parse_policy
from sampan.server.request import RequestInfo, UserInfo
from tests.server.audit.recorder import policy_text

POD = RequestInfo("/", "get", True, "", "v1", "default", "pods", name="web")
POD_LOG = RequestInfo("/", "get", True, "", "v1", "default", "pods", "log", "web")
NODE = RequestInfo("/", "list", True, "", "v1", "", "nodes")
SCALE = RequestInfo("/", "update", True, "apps", "v1", "default", "deployments", "scale", "web")
HEALTH = RequestInfo("/healthz/ping", "get")
JANE = UserInfo("jane", groups=("devs", "ops"))

MATCHES = {
    "no field at all": ({}, POD, True),
    "user": ({"users": ["jane"]}, POD, True),
    "another user": ({"users": ["joe"]}, POD, False),
    "one of the groups": ({"userGroups": ["ops", "qa"]}, POD, True),
    "no group": ({"userGroups": ["qa"]}, POD, False),
    "verb": ({"verbs": ["get"]}, POD, True),
    "another verb": ({"verbs": ["list"]}, POD, False),
    "namespace": ({"namespaces": ["default"]}, POD, True),
    "no namespace": ({"namespaces": [""]}, NODE, True),
    "another namespace": ({"namespaces": ["kube-system"]}, POD, False),
    "namespaces are of resources": ({"namespaces": [""]}, HEALTH, False),
    "resource": ({"resources": [{"resources": ["pods"]}]}, POD, True),
    "a resource is not its subresource": ({"resources": [{"resources": ["pods"]}]}, POD_LOG, False),
    "subresource": ({"resources": [{"resources": ["pods/log"]}]}, POD_LOG, True),
    "all subresources": ({"resources": [{"resources": ["pods/*"]}]}, POD_LOG, True),
    "all subresources and the resource": ({"resources": [{"resources": ["pods/*"]}]}, POD, True),
    "a subresource of all": ({"resources": [{"group": "apps", "resources": ["*/scale"]}]}, SCALE, True),
    "a subresource of all, without one": ({"resources": [{"resources": ["*/log"]}]}, POD, False),
    "all resources": ({"resources": [{"resources": ["*"]}]}, POD_LOG, True),
    "all of a group": ({"resources": [{"group": "apps"}]}, SCALE, True),
    "all of another group": ({"resources": [{"group": "batch"}]}, SCALE, False),
    "any group": ({"resources": [{"group": "*", "resources": ["deployments/scale"]}]}, SCALE, True),
    "name": ({"resources": [{"resources": ["pods"], "resourceNames": ["web"]}]}, POD, True),
    "another name": ({"resources": [{"resources": ["pods"], "resourceNames": ["db"]}]}, POD, False),
    "path": ({"nonResourceURLs": ["/healthz/ping"]}, HEALTH, True),
    "prefix": ({"nonResourceURLs": ["/healthz*"]}, HEALTH, True),
    "any path": ({"nonResourceURLs": ["*"]}, HEALTH, True),
    "another path": ({"nonResourceURLs": ["/healthz"]}, HEALTH, False),
    "paths are not of resources": ({"nonResourceURLs": ["*"]}, POD, False),
}


@pytest.mark.parametrize(("rule", "info", "matches"), MATCHES.values(), ids=MATCHES)
def test_a_rule_matches_what_all_its_fields_match(rule: dict[str, Any], info: RequestInfo, matches: bool) -> None:
    evaluator = PolicyEvaluator(parse_policy(policy_text({"level": "Metadata", **rule})))
    assert evaluator.evaluate(JANE, info).level == ("Metadata" if matches else "None")
    assert evaluator.evaluate(JANE, info).level == ("Metadata" if matches else "None")


def test_an_unauthenticated_request_matches_no_rule_for_users() -> None:
    rules = ({"level": "Request", "users": ["jane"]}, {"level": "Metadata", "userGroups": ["devs"]})
    assert PolicyEvaluator(parse_policy(policy_text(*rules))).evaluate(None, POD).level == "None"


def test_the_first_rule_that_matches_applies() -> None:
    rules = ({"level": "None", "verbs": ["get"]}, {"level": "Request"})
    evaluator = PolicyEvaluator(parse_policy(policy_text(*rules)))
    assert (evaluator.evaluate(JANE, POD).level, evaluator.evaluate(JANE, NODE).level) == ("None", "Request")


def test_stages_are_left_out_by_the_policy_and_by_the_rule() -> None:
    rule = {"level": "Request", "omitStages": ["Panic"]}
    evaluator = PolicyEvaluator(parse_policy(policy_text(rule, omitStages=["RequestReceived"])))
    assert evaluator.evaluate(JANE, POD).omit_stages == {"RequestReceived", "Panic"}


@pytest.mark.parametrize(("own", "omitted"), [(None, True), (False, False), (True, True)])
def test_a_rule_overrides_the_policy_for_managed_fields(own: bool | None, omitted: bool) -> None:
    evaluator = PolicyEvaluator(
        parse_policy(policy_text({"level": "Request", "omitManagedFields": own}, omitManagedFields=True))
    )
    assert evaluator.evaluate(JANE, POD).omit_managed_fields is omitted


WRONG = {
    "no level": ([{}], "rules[0].level: Required value"),
    "unknown level": (
        [{"level": "All"}],
        'rules[0].level: Unsupported value: "All": supported values: "None", "Metadata", "Request", "RequestResponse"',
    ),
    "path without slash": (
        [{"level": "None", "nonResourceURLs": ["healthz"]}],
        'rules[0].nonResourceURLs[0]: Invalid value: "healthz": '
        "non-resource URL rules must begin with a '/' character",
    ),
    "star inside": (
        [{"level": "None", "nonResourceURLs": ["/a*b"]}],
        'rules[0].nonResourceURLs[0]: Invalid value: "/a*b": '
        "non-resource URL wildcards '*' must be the final character of the rule",
    ),
    "resources and paths": (
        [{"level": "None", "nonResourceURLs": ["/a"], "namespaces": ["x"]}],
        'rules[0].nonResourceURLs: Invalid value: ["/a"]: rules cannot apply to both regular resources and '
        "non-resource URLs",
    ),
    "names without resources": (
        [{"level": "None", "resources": [{"resourceNames": ["a"]}]}],
        'rules[0].resources.resourceNames: Invalid value: ["a"]: using resourceNames requires at least one resource',
    ),
    "unknown stage": (
        [{"level": "None", "omitStages": ["Begin"]}],
        'rules[0].omitStages[0]: Invalid value: "Begin": allowed stages are '
        "RequestReceived,ResponseStarted,ResponseComplete,Panic",
    ),
    "no rules": ([], "loaded illegal policy with 0 rules"),
}


@pytest.mark.parametrize(("rules", "text"), WRONG.values(), ids=WRONG)
def test_a_policy_that_is_wrong_is_refused_with_the_field(rules: list[dict[str, Any]], text: str) -> None:
    with pytest.raises(ValueError) as caught:
        parse_policy(policy_text(*rules))
    assert str(caught.value) == text


def test_the_group_of_resources_has_no_version() -> None:
    with pytest.raises(ValueError, match=r'rules\[0\]\.resources\.group: Invalid value: "apps/v1"'):
        parse_policy(policy_text({"level": "None", "resources": [{"group": "apps/v1"}]}))


@pytest.mark.parametrize("text", [b"{", b"[]", b"kind: Policy\napiVersion: audit.k8s.io/v1beta1\n", b"{rules: 3}"])
def test_other_documents_than_policies_are_refused(text: bytes) -> None:
    with pytest.raises(ValueError, match="failed decoding"):
        parse_policy(text)
