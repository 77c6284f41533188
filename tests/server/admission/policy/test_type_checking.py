"""Warnings about expressions in the status of a ValidatingAdmissionPolicy."""

from typing import Any

import pytest

from tests.server.admission.policy.policies import EVERY_MAP, GROUP, failing, validating
from tests.server.cluster import Api
from tests.server.custom_resources import GROUP as CUSTOM
from tests.server.custom_resources import define

POLICIES = f"{GROUP}/validatingadmissionpolicies"
_TYPES = {"operations": ["*"], "apiGroups": ["apps"], "apiVersions": ["v1"]}
DEPLOYMENTS = {**_TYPES, "resources": ["deployments"]}


async def status(api: Api, policy: Any) -> Any:
    """Create a policy and return its status."""
    created = await api.create(POLICIES, policy)
    return (await settled(api, created["metadata"]["generation"]))["status"]


async def settled(api: Api, generation: int) -> Any:
    """The policy once its status is of this generation."""
    async with api.watch(f"{POLICIES}?watch=true&fieldSelector=metadata.name=p") as watch:
        while True:
            policy = (await watch.event())["object"]
            if policy.get("status", {}).get("observedGeneration") == generation:
                return policy


def policy(*validations: Any, rules: Any = (DEPLOYMENTS,), **spec: Any) -> Any:
    """A policy for Deployments."""
    return validating(validations=list(validations), matchConstraints={"resourceRules": list(rules)}, **spec)


@pytest.mark.parametrize(
    "expression",
    [
        "object.spec.replicas > 1",
        "object.metadata.labels.all(l, l != 'a') && oldObject.metadata.creationTimestamp < timestamp(1)",
        "authorizer.requestResource.check('get').allowed()",
        "request.userInfo.username == namespaceObject.metadata.name",
    ],
    ids=["field", "metadata", "authorizer", "request"],
)
async def test_of_expressions_that_fit_nothing_is_reported(api: Api, expression: str) -> None:
    assert await status(api, policy(failing(expression))) == {"observedGeneration": 1, "typeChecking": {}}


async def test_a_field_that_does_not_exist_is_shown_with_its_place(api: Api) -> None:
    found = await status(
        api, policy(failing("true"), failing("object.foo > 1", messageExpression="string(object.bar)"))
    )
    assert found["typeChecking"]["expressionWarnings"] == [
        {
            "fieldRef": "spec.validations[1].expression",
            "warning": "apps/v1, Kind=Deployment: ERROR: <input>:1:7: undefined field 'foo'\n | object.foo > 1\n"
            " | ......^\n",
        },
        {
            "fieldRef": "spec.validations[1].messageExpression",
            "warning": "apps/v1, Kind=Deployment: ERROR: <input>:1:14: undefined field 'bar'\n | string(object.bar)\n"
            " | .............^\n",
        },
    ]


async def warning(api: Api, checked: Any) -> str:
    """The one warning of a policy."""
    (found,) = (await status(api, checked))["typeChecking"]["expressionWarnings"]
    text: str = found["warning"]
    return text


async def test_each_type_has_its_paragraph_in_order(api: Api) -> None:
    rules = [{**_TYPES, "resources": ["statefulsets", "deployments", "deployments/scale"]}, EVERY_MAP]
    text = await warning(api, policy(failing("object.spec.paused == true"), rules=rules))
    heads = [line for line in text.split("\n") if "Kind=" in line]
    assert heads == [
        "/v1, Kind=ConfigMap: ERROR: <input>:1:7: undefined field 'spec'",
        "apps/v1, Kind=StatefulSet: ERROR: <input>:1:12: undefined field 'paused'",
    ]


@pytest.mark.parametrize("field", ["apiGroups", "apiVersions", "resources"], ids=str)
async def test_resources_matched_by_a_wildcard_are_not_checked(api: Api, field: str) -> None:
    checked = policy(failing("object.foo > 1"), rules=[{**DEPLOYMENTS, field: ["*"]}])
    assert (await status(api, checked))["typeChecking"] == {}


async def test_parameters_have_the_type_of_their_kind(api: Api) -> None:
    kind = {"apiVersion": "v1", "kind": "ConfigMap"}
    text = await warning(api, policy(failing("params.datum.size() > 0"), paramKind=kind))
    assert "undefined field 'datum'" in text


async def test_parameters_of_an_unknown_kind_may_have_any_field(api: Api) -> None:
    kind = {"apiVersion": "example.com/v1", "kind": "Limit"}
    assert (await status(api, policy(failing("params.max > 0"), paramKind=kind)))["typeChecking"] == {}


async def test_variables_have_the_types_of_their_expressions(api: Api) -> None:
    variables = [{"name": "n", "expression": "object.spec.replicas"}, {"name": "bad", "expression": "object.foo"}]
    text = await warning(api, policy(failing("variables.n == 'a' || variables.bad == 1"), variables=variables))
    assert "found no matching overload for '_==_' applied to '(int, string)'" in text


async def test_only_ten_types_are_looked_at(api: Api) -> None:
    resources = ["configmaps", "endpoints", "events", "limitranges", "namespaces", "nodes", "persistentvolumeclaims"]
    resources += ["persistentvolumes", "pods", "podtemplates", "replicationcontrollers", "secrets"]
    text = await warning(api, policy(failing("object.foo > 1"), rules=[{**EVERY_MAP, "resources": resources}]))
    assert text.count("Kind=") == 10


async def test_a_changed_policy_is_checked_again(api: Api) -> None:
    assert (await status(api, policy(failing("object.foo > 1"))))["typeChecking"]["expressionWarnings"]
    changed = [{"op": "replace", "path": "/spec/validations/0/expression", "value": "object.spec.replicas > 1"}]
    assert (await api.patch(f"{POLICIES}/p", changed, "json")).code == 200
    assert "expressionWarnings" not in (await settled(api, 2))["status"].get("typeChecking", {})


async def test_the_status_has_its_own_field_manager(api: Api) -> None:
    await api.create(POLICIES, policy(failing()))
    entries = (await settled(api, 1))["metadata"]["managedFields"]
    assert [(each["manager"], each["operation"]) for each in entries if each.get("subresource") == "status"] == [
        ("validatingadmissionpolicy-status", "Apply")
    ]


async def test_custom_resources_have_the_type_of_their_schema(api: Api) -> None:
    await define(api)
    rules = [{"operations": ["*"], "apiGroups": [CUSTOM], "apiVersions": ["v1"], "resources": ["shirts"]}]
    expression = "object.metadata.labels.size() > 0 && object.spec.color == 'red' && object.spec.size == 'xl'"
    text = await warning(api, policy(failing(expression), rules=rules))
    assert text.startswith(f"{CUSTOM}/v1, Kind=Shirt: ERROR: <input>:1:85: found no matching overload for '_==_'")
