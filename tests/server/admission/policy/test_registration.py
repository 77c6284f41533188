"""Expressions that cannot be compiled are refused when they are registered."""

from typing import Any

import pytest

from tests.server.admission.policy.policies import GROUP, failing, validating
from tests.server.admission.policy.test_mutating import mutating
from tests.server.admission.webhook.hooks import hook
from tests.server.cluster import Api

UNDECLARED = "undeclared reference to 'nothing' (in container '')"
VALID = failing("true")


@pytest.mark.parametrize(
    ("spec", "field", "text"),
    [
        ({"validations": [failing("nothing")]}, "spec.validations[0].expression", UNDECLARED),
        ({"validations": [failing("1")]}, "spec.validations[0].expression", "must evaluate to bool but got int"),
        (
            {"validations": [failing("true", messageExpression="1")]},
            "spec.validations[0].messageExpression",
            "must evaluate to string but got int",
        ),
        (
            {"validations": [failing("true", messageExpression="authorizer.path('/a').check('a').reason()")]},
            "spec.validations[0].messageExpression",
            "undeclared reference to 'authorizer'",
        ),
        ({"validations": [failing("params == null")]}, "spec.validations[0].expression", "reference to 'params'"),
        ({"validations": [failing("variables.a")]}, "spec.validations[0].expression", "undefined field 'a'"),
        (
            {"validations": [VALID], "variables": [{"name": "a", "expression": "nothing"}]},
            "spec.variables[0].expression",
            UNDECLARED,
        ),
        (
            {"validations": [VALID], "variables": [{"name": "a", "expression": "variables.a"}]},
            "spec.variables[0].expression",
            "undefined field 'a'",
        ),
        (
            {"validations": [VALID], "matchConditions": [{"name": "a", "expression": "nothing"}]},
            "spec.matchConditions[0].expression",
            UNDECLARED,
        ),
        (
            {"auditAnnotations": [{"key": "a", "valueExpression": "1"}]},
            "spec.auditAnnotations[0].valueExpression",
            "must evaluate to one of [string null_type] but got int",
        ),
        ({"validations": [failing("a b")]}, "spec.validations[0].expression", "compilation failed: ERROR: <input>:1:3"),
    ],
    ids=[
        *("unknown", "no bool", "no text", "authorizer in message", "params", "variable", "in variable", "later one"),
        *("condition", "annotation", "syntax"),
    ],
)
async def test_a_validating_policy_must_compile(api: Api, spec: Any, field: str, text: str) -> None:
    response = await api.post(f"{GROUP}/validatingadmissionpolicies", validating(**spec))
    assert response.code == 422
    assert [cause["field"] for cause in response.causes] == [field]
    assert text in response.causes[0]["message"]


@pytest.mark.parametrize(
    ("expression", "name", "text"),
    [
        ("Object{data: nothing}", "applyConfiguration", UNDECLARED),
        ("{'a': 1}", "applyConfiguration", "must evaluate to Object but got map(string, int)"),
        ("Object.spec{}", "applyConfiguration", "must evaluate to Object but got Object.spec"),
        ("[1]", "jsonPatch", "must evaluate to list(JSONPatch) but got list(int)"),
        ("[JSONPatch{operation: 'add'}]", "jsonPatch", "undefined field 'operation'"),
    ],
    ids=["unknown", "map", "part", "no patch", "unknown field"],
)
async def test_a_mutating_policy_must_compile(api: Api, expression: str, name: str, text: str) -> None:
    response = await api.post(f"{GROUP}/mutatingadmissionpolicies", mutating(expression))
    assert response.code == 422
    assert response.causes[0]["field"] == f"spec.mutations[0].{name}.expression"
    assert text in response.causes[0]["message"]


@pytest.mark.parametrize("kind", ["Mutating", "Validating"])
async def test_the_conditions_of_a_webhook_must_compile(api: Api, kind: str) -> None:
    body = {
        "kind": f"{kind}WebhookConfiguration",
        "apiVersion": "admissionregistration.k8s.io/v1",
        "metadata": {"name": "a"},
        "webhooks": [hook(matchConditions=[{"name": "a", "expression": "variables.a"}])],
    }
    response = await api.post(f"{GROUP}/{kind.lower()}webhookconfigurations", body)
    assert response.code == 422
    assert response.causes[0]["field"] == "webhooks[0].matchConditions[0].expression"


async def test_a_policy_may_use_what_was_declared_before(api: Api) -> None:
    variables = [{"name": "a", "expression": "params.x"}, {"name": "b", "expression": "variables.a == 1"}]
    spec: Any = {"paramKind": {"apiVersion": "v1", "kind": "ConfigMap"}, "variables": variables}
    policy = validating(**spec, validations=[failing("variables.b", messageExpression="string(params.y)")])
    assert (await api.post(f"{GROUP}/validatingadmissionpolicies", policy)).code == 201
