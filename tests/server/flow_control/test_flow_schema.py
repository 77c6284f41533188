"""Matching of requests with FlowSchemas."""

from typing import Any

import pytest

from sampan.server.flow_control.flow_schema import CompiledFlowSchema
from sampan.server.request import UserInfo
from sampan.server.request_info import parse_target

JANE = UserInfo("jane", groups=("devs",))
ACCOUNT = UserInfo("system:serviceaccount:a:builder")
POD = "/api/v1/namespaces/a/pods/p"


def user(name: str) -> dict[str, Any]:
    return {"kind": "User", "user": {"name": name}}


def account(namespace: str, name: str) -> dict[str, Any]:
    return {"kind": "ServiceAccount", "serviceAccount": {"namespace": namespace, "name": name}}


def group(name: str) -> dict[str, Any]:
    return {"kind": "Group", "group": {"name": name}}


def resources(**changed: Any) -> dict[str, Any]:
    every = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "namespaces": ["*"], "clusterScope": True}
    return {**every, **changed}


def matches(rule: dict[str, Any], target: str, requester: UserInfo = JANE, method: str = "GET") -> bool:
    schema = CompiledFlowSchema({"metadata": {"name": "s"}, "spec": {"rules": [{"subjects": [user("*")], **rule}]}})
    return schema.matches(requester, parse_target(method, target.encode()).info)


@pytest.mark.parametrize(
    ("subject", "requester", "expected"),
    [
        (user("jane"), JANE, True),
        (user("*"), JANE, True),
        (user("joe"), JANE, False),
        (group("devs"), JANE, True),
        (group("*"), JANE, True),
        (group("ops"), JANE, False),
        (account("a", "builder"), ACCOUNT, True),
        (account("a", "*"), ACCOUNT, True),
        (account("b", "*"), ACCOUNT, False),
        (account("a", "other"), ACCOUNT, False),
        (account("a", "*"), JANE, False),
    ],
)
def test_subjects(subject: dict[str, Any], requester: UserInfo, expected: bool) -> None:
    assert matches({"subjects": [subject], "resourceRules": [resources()]}, POD, requester) is expected


@pytest.mark.parametrize(
    ("changed", "target", "expected"),
    [
        ({}, POD, True),
        ({"verbs": ["get", "list"]}, POD, True),
        ({"verbs": ["list"]}, POD, False),
        ({"resources": ["pods"]}, POD, True),
        ({"resources": ["pods"]}, f"{POD}/log", False),
        ({"resources": ["pods/log"]}, f"{POD}/log", True),
        ({"apiGroups": [""]}, POD, True),
        ({"apiGroups": ["apps"]}, POD, False),
        ({"namespaces": ["a", "b"]}, POD, True),
        ({"namespaces": ["b"]}, POD, False),
        ({"clusterScope": False}, "/api/v1/nodes", False),
        ({"namespaces": []}, "/api/v1/nodes", True),
        ({}, "/version", False),
    ],
)
def test_resource_rules(changed: dict[str, Any], target: str, expected: bool) -> None:
    assert matches({"resourceRules": [resources(**changed)]}, target) is expected


@pytest.mark.parametrize(
    ("url", "path", "expected"),
    [
        ("*", "/version", True),
        ("/version", "/version", True),
        ("/healthz", "/healthz/etcd", True),
        ("/healthz/*", "/healthz/etcd", True),
        ("/healthz/*", "/healthz", False),
        ("/health", "/healthz", False),
        ("*", POD, False),
    ],
)
def test_non_resource_rules(url: str, path: str, expected: bool) -> None:
    assert matches({"nonResourceRules": [{"verbs": ["get"], "nonResourceURLs": [url]}]}, path) is expected


@pytest.mark.parametrize(("method", "expected"), [("ByUser", "jane"), ("ByNamespace", "a"), ("", "")])
def test_distinguishers_of_flows(method: str, expected: str) -> None:
    spec = {"distinguisherMethod": {"type": method}} if method else {}
    schema = CompiledFlowSchema({"metadata": {"name": "s"}, "spec": spec})
    assert schema.flow_of(JANE, parse_target("GET", POD.encode()).info) == expected
