"""Requests that lead to the call of a webhook, and the contents of its review."""

from typing import Any

import pytest

from sampan.core.gvk import GroupVersionResource
from sampan.server.admission.matching.rule import RuleWithOperations
from tests.server.admission.webhook.hooks import MAPS, Hooks, adding, config_map, configure, hook, patched
from tests.server.cluster import Api

KIND = "Validating"
NAMESPACES = "/api/v1/namespaces"
PODS = GroupVersionResource("", "v1", "pods")
EVERY = {"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*/*"]}


@pytest.mark.parametrize(
    ("rule", "subresource", "matches"),
    [
        ({}, "", True),
        ({"operations": ["UPDATE", "CREATE"]}, "", True),
        ({"operations": ["UPDATE"]}, "", False),
        ({"apiGroups": ["apps"]}, "", False),
        ({"apiVersions": ["v1beta1"]}, "", False),
        ({"resources": ["pods"]}, "", True),
        ({"resources": ["pods"]}, "status", False),
        ({"resources": ["pods/status"]}, "status", True),
        ({"resources": ["pods/status"]}, "", False),
        ({"resources": ["pods/*"]}, "status", True),
        ({"resources": ["pods/*"]}, "", True),
        ({"resources": ["*"]}, "", True),
        ({"resources": ["*"]}, "status", False),
        ({"resources": ["*/status"]}, "status", True),
        ({"resources": ["*/status"]}, "scale", False),
        ({"resources": ["*/*"]}, "anything", True),
        ({"resources": ["deployments", "pods"]}, "", True),
        ({"scope": "Namespaced"}, "", True),
        ({"scope": "Cluster"}, "", False),
    ],
    ids=str,
)
def test_rules(rule: Any, subresource: str, matches: bool) -> None:
    assert RuleWithOperations({**EVERY, **rule}).matches("CREATE", PODS, subresource, "default") is matches


@pytest.mark.parametrize(("scope", "matches"), [("Namespaced", False), ("Cluster", True), ("*", True)])
def test_a_namespace_is_in_none(scope: str, matches: bool) -> None:
    namespaces = GroupVersionResource("", "v1", "namespaces")
    assert RuleWithOperations({**EVERY, "scope": scope}).matches("UPDATE", namespaces, "", "a") is matches


async def test_the_namespace_selector_looks_at_the_namespace(api: Api, hooks: Hooks) -> None:
    for name in ("yes", "no"):
        await api.create(NAMESPACES, {"metadata": {"name": name, "labels": {"checked": name}}})
    await configure(api, KIND, hook(namespaceSelector={"matchLabels": {"checked": "yes"}}))
    for name in ("yes", "no"):
        await api.create(f"{NAMESPACES}/{name}/configmaps", config_map())
    assert [request["namespace"] for request in hooks.requests] == ["yes"]


async def test_the_namespace_selector_looks_at_a_namespace_itself(api: Api, hooks: Hooks) -> None:
    rule = {"operations": ["*"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["namespaces"]}
    await configure(api, KIND, hook(rules=[rule], namespaceSelector={"matchLabels": {"checked": "yes"}}))
    for name in ("yes", "no"):
        await api.create(NAMESPACES, {"metadata": {"name": name, "labels": {"checked": name}}})
    await api.patch(f"{NAMESPACES}/no", {"metadata": {"labels": {"checked": "yes"}}})
    expected = [(request["operation"], request["name"], request["namespace"]) for request in hooks.requests]
    assert expected == [("CREATE", "yes", "yes"), ("UPDATE", "no", "no")]


async def test_cluster_scoped_objects_pass_the_namespace_selector(api: Api, hooks: Hooks) -> None:
    rule = {"operations": ["*"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["persistentvolumes"]}
    await configure(api, KIND, hook(rules=[rule], namespaceSelector={"matchLabels": {"checked": "yes"}}))
    spec = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/a"}}
    await api.create("/api/v1/persistentvolumes", {"metadata": {"name": "a"}, "spec": spec})
    assert len(hooks.requests) == 1
    assert "namespace" not in hooks.requests[0]


@pytest.mark.parametrize(("old", "new", "called"), [("yes", "no", True), ("no", "yes", True), ("no", "no", False)])
async def test_the_object_selector_looks_at_both_objects(
    api: Api, hooks: Hooks, old: str, new: str, called: bool
) -> None:
    await api.create(MAPS, config_map(metadata={"name": "a", "labels": {"checked": old}}))
    await configure(api, KIND, hook(objectSelector={"matchLabels": {"checked": "yes"}}))
    await api.patch(f"{MAPS}/a", {"metadata": {"labels": {"checked": new}}})
    assert bool(hooks.requested) is called


AUTOSCALERS = "/namespaces/default/horizontalpodautoscalers"


def autoscaler(version: str, **fields: Any) -> Any:
    """A HorizontalPodAutoscaler."""
    target = {"kind": "Deployment", "name": "a", "apiVersion": "apps/v1"}
    return {
        "kind": "HorizontalPodAutoscaler",
        "apiVersion": f"autoscaling/{version}",
        "metadata": {"name": "a"},
        "spec": {"maxReplicas": 3, "scaleTargetRef": target, **fields},
    }


def scaling(version: str, **fields: Any) -> Any:
    """A webhook whose rule names one version of autoscalers."""
    resources = ["horizontalpodautoscalers"]
    rule = {"operations": ["*"], "apiGroups": ["autoscaling"], "apiVersions": [version], "resources": resources}
    return hook(rules=[rule], **fields)


async def test_objects_come_in_the_version_that_the_rule_names(api: Api, hooks: Hooks) -> None:
    await configure(api, KIND, scaling("v1"))
    resource = {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}
    metrics = [{"type": "Resource", "resource": resource}]
    await api.create(f"/apis/autoscaling/v2{AUTOSCALERS}", autoscaler("v2", metrics=metrics))
    request = hooks.requests[0]
    assert request["object"]["apiVersion"] == "autoscaling/v1"
    assert request["object"]["spec"]["targetCPUUtilizationPercentage"] == 50
    assert (request["kind"]["version"], request["requestKind"]["version"]) == ("v1", "v2")
    assert (request["resource"]["version"], request["requestResource"]["version"]) == ("v1", "v2")


async def test_a_patch_is_for_the_version_that_the_webhook_saw(api: Api, hooks: Hooks) -> None:
    await configure(api, "Mutating", scaling("v1"))
    hooks.responses["hook.example.com"] = lambda request: patched(
        {"op": "add", "path": "/spec/targetCPUUtilizationPercentage", "value": 70}
    )
    made = await api.create(f"/apis/autoscaling/v2{AUTOSCALERS}", autoscaler("v2"))
    assert made["spec"]["metrics"][0]["resource"]["target"] == {"type": "Utilization", "averageUtilization": 70}


async def test_exact_rules_match_one_version_only(api: Api, hooks: Hooks) -> None:
    await configure(api, KIND, scaling("v1", matchPolicy="Exact"))
    await api.create(f"/apis/autoscaling/v2{AUTOSCALERS}", autoscaler("v2"))
    assert hooks.requested == []


@pytest.mark.parametrize(
    ("conditions", "errors", "exclusions"),
    [(["true"], 0, 0), (["object.data.x == '1'", "false"], 1, 1), (["object.data.x == '1'"], 1, 1)],
    ids=["true", "error and false", "error ignored"],
)
async def test_match_conditions_are_measured(
    api: Api, hooks: Hooks, conditions: list[str], errors: int, exclusions: int
) -> None:
    named = [{"name": f"c{index}", "expression": text} for index, text in enumerate(conditions)]
    configured = hook(matchConditions=named, failurePolicy="Ignore")
    await configure(api, KIND, configured)
    await api.post(MAPS, config_map())
    found = [sample for family in api.server.metrics.admission.conditions.collect() for sample in family.samples]
    prefix, of = "apiserver_admission_match_condition_", {"name": configured["name"], "kind": "webhook"}
    observed = {each.name.removeprefix(prefix): each for each in found if each.labels["operation"] == "CREATE"}
    labels = observed["evaluation_seconds_count"].labels
    assert labels == {**of, "type": "validating", "operation": "CREATE"}
    assert observed["evaluation_seconds_count"].value == 1
    assert ("evaluation_errors_total" in observed, "exclusions_total" in observed) == (bool(errors), bool(exclusions))
    if exclusions:
        assert observed["exclusions_total"].labels == {**of, "type": "validate", "operation": "CREATE"}


@pytest.mark.parametrize(
    ("conditions", "policy", "code", "requested"),
    [
        (["true"], "Fail", 201, 1),
        (["request.name == 'b'"], "Fail", 201, 0),
        (["object.data.x == '1'", "false"], "Fail", 201, 0),
        (["object.data.x == '1'"], "Fail", 403, 0),
        (["object.data.x == '1'"], "Ignore", 201, 0),
        (["authorizer.group('').resource('pods').check('get').allowed()"], "Fail", 201, 1),
    ],
    ids=["true", "false", "error and false", "error", "error ignored", "authorizer"],
)
async def test_match_conditions(
    api: Api, hooks: Hooks, conditions: list[str], policy: str, code: int, requested: int
) -> None:
    named = [{"name": f"c{index}", "expression": text} for index, text in enumerate(conditions)]
    await configure(api, KIND, hook(matchConditions=named, failurePolicy=policy))
    response = await api.post(MAPS, config_map())
    assert (response.code, len(hooks.requested)) == (code, requested)
    if code == 403:
        assert response.message == (
            "configmaps \"a\" is forbidden: expression 'object.data.x == '1'' resulted in error: no such key: data"
        )


async def test_a_review_reports_all_of_the_request(api: Api, hooks: Hooks) -> None:
    await configure(api, KIND, hook())
    await api.post(f"{MAPS}?fieldManager=me&fieldValidation=Strict", config_map(data={"a": "b"}))
    (_, review) = hooks.requested[0]
    request = review.pop("request")
    assert review == {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1"}
    obj = request.pop("object")
    assert (obj["kind"], obj["apiVersion"], obj["data"]) == ("ConfigMap", "v1", {"a": "b"})
    assert request.pop("uid")
    assert request == {
        "kind": {"group": "", "version": "v1", "kind": "ConfigMap"},
        "resource": {"group": "", "version": "v1", "resource": "configmaps"},
        "requestKind": {"group": "", "version": "v1", "kind": "ConfigMap"},
        "requestResource": {"group": "", "version": "v1", "resource": "configmaps"},
        "name": "a",
        "namespace": "default",
        "operation": "CREATE",
        "userInfo": {"username": "admin", "groups": ["system:masters", "system:authenticated"]},
        "oldObject": None,
        "dryRun": False,
        "options": {
            "kind": "CreateOptions",
            "apiVersion": "meta.k8s.io/v1",
            "fieldManager": "me",
            "fieldValidation": "Strict",
        },
    }


async def test_delete_options_are_reported(api: Api, hooks: Hooks) -> None:
    await api.create(MAPS, config_map())
    await configure(api, KIND, hook())
    await api.delete(f"{MAPS}/a", {"propagationPolicy": "Background", "gracePeriodSeconds": 0})
    options = hooks.requests[0]["options"]
    assert options == {
        "kind": "DeleteOptions",
        "apiVersion": "meta.k8s.io/v1",
        "propagationPolicy": "Background",
        "gracePeriodSeconds": 0,
    }


async def test_a_patch_has_the_options_of_an_update(api: Api, hooks: Hooks) -> None:
    await api.create(MAPS, config_map())
    await configure(api, "Mutating", hook())
    hooks.responses["hook.example.com"] = adding("a", "b")
    await api.patch(f"{MAPS}/a", {"data": {"c": "d"}})
    assert hooks.requests[0]["options"]["kind"] == "UpdateOptions"


async def test_an_apply_that_creates_is_a_create(api: Api, hooks: Hooks) -> None:
    await configure(api, KIND, hook())
    assert (await api.apply(f"{MAPS}/a", config_map(data={"a": "b"}))).code == 201
    assert (hooks.requests[0]["operation"], hooks.requests[0]["options"]["kind"]) == ("CREATE", "CreateOptions")


async def test_a_binding_is_reported_as_a_subresource(api: Api, hooks: Hooks) -> None:
    rule = {"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods/binding"]}
    await configure(api, KIND, hook(rules=[rule]))
    pods = "/api/v1/namespaces/default/pods"
    spec = {"containers": [{"name": "main", "image": "busybox"}]}
    await api.create(pods, {"metadata": {"name": "a"}, "spec": spec})
    target = {"kind": "Node", "name": "n", "apiVersion": "v1"}
    binding = {"kind": "Binding", "apiVersion": "v1", "metadata": {"name": "a"}, "target": target}
    assert (await api.post(f"{pods}/a/binding", binding)).code == 201
    request = hooks.requests[0]
    assert (request["subResource"], request["kind"]["kind"], request["object"]["target"]["name"]) == (
        "binding",
        "Binding",
        "n",
    )


async def test_a_scale_is_reported_as_what_it_is(api: Api, hooks: Hooks) -> None:
    resources = ["deployments/scale"]
    rule = {"operations": ["UPDATE"], "apiGroups": ["apps"], "apiVersions": ["v1"], "resources": resources}
    await configure(api, "Mutating", hook(rules=[rule]))
    await configure(api, KIND, hook("after.example.com", rules=[rule]))
    deployments = "/apis/apps/v1/namespaces/default/deployments"
    labels = {"app": "a"}
    pod = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "main", "image": "busybox"}]}}
    spec = {"replicas": 1, "selector": {"matchLabels": labels}, "template": pod}
    await api.create(deployments, {"metadata": {"name": "a"}, "spec": spec})
    hooks.responses["hook.example.com"] = lambda request: patched(
        {"op": "replace", "path": "/spec/replicas", "value": request["object"]["spec"]["replicas"] + 1}
    )
    response = await api.patch(f"{deployments}/a/scale", {"spec": {"replicas": 5}})
    assert (response.code, response.body["spec"]) == (200, {"replicas": 6})
    first, second = hooks.requests
    assert (first["kind"]["kind"], first["resource"]["resource"], first["subResource"]) == (
        "Scale",
        "deployments",
        "scale",
    )
    assert (first["oldObject"]["spec"], second["object"]["spec"]) == ({"replicas": 1}, {"replicas": 6})


async def test_a_binding_of_the_old_resource_is_reported_as_what_it_is(api: Api, hooks: Hooks) -> None:
    rule = {"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["*/*"]}
    spec = {"containers": [{"name": "main", "image": "busybox"}]}
    await api.create("/api/v1/namespaces/default/pods", {"metadata": {"name": "a"}, "spec": spec})
    await configure(api, KIND, hook(rules=[rule]))
    binding = {"metadata": {"name": "a"}, "target": {"kind": "Node", "name": "n"}}
    assert (await api.post("/api/v1/namespaces/default/bindings", binding)).code == 201
    [request] = hooks.requests
    assert (request["resource"]["resource"], "subResource" in request, request["name"]) == ("bindings", False, "a")
    assert request["object"]["kind"] == "Binding"


async def test_the_options_of_a_connection_have_no_metadata(api: Api, hooks: Hooks) -> None:
    rule = {"operations": ["CONNECT"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods/exec"]}
    await configure(api, KIND, hook(rules=[rule]))
    await api.post("/api/v1/namespaces/default/pods/a/exec?command=ls&stdout=1", b"")
    expected = {"kind": "PodExecOptions", "apiVersion": "v1", "stdout": True, "command": ["ls"]}
    assert hooks.requests[0]["object"] == expected
