"""ValidatingAdmissionPolicy: what follows from a validation that does not hold."""

from typing import Any

import pytest

from tests.server.admission.policy.policies import MAPS, binding, config_map, enforce, failing, validating
from tests.server.cluster import Api
from tests.server.frame import JANE

OBJECT = 'configmaps "a" is forbidden: '
WHOSE = "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: "


async def refused(api: Api, **fields: Any) -> Any:
    """The answer to a ConfigMap that is not let in."""
    response = await api.post(MAPS, config_map(**fields))
    assert response.code >= 400, response.body
    return response


async def test_an_object_that_meets_the_policy_is_created(api: Api) -> None:
    await enforce(api, validating(validations=[failing()]))
    await api.create(MAPS, config_map(data={"a": "1"}))


async def test_an_object_against_the_policy_is_refused(api: Api) -> None:
    await enforce(api, validating(validations=[failing()]))
    response = await refused(api, data={"a": "2"})
    assert (response.code, response.reason) == (422, "Invalid")
    assert response.message == f"{OBJECT}{WHOSE}failed expression: object.data.a == '1'"
    assert response.body["details"] == {
        "name": "a",
        "kind": "configmaps",
        "causes": [{"message": f"{WHOSE}failed expression: object.data.a == '1'"}],
    }


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"message": " no "}, "no"),
        ({"messageExpression": "'not ' + object.data.a"}, "not 2"),
        ({"messageExpression": "object.data.b", "message": "no"}, "no"),
        ({"messageExpression": "'a\\nb'", "message": "no"}, "no"),
        ({"messageExpression": "'  '", "message": "no"}, "no"),
        ({"messageExpression": "string(object.data.a)"}, "2"),
    ],
    ids=["message", "expression", "expression fails", "two lines", "blank", "converted"],
)
async def test_the_message_is_the_best_that_there_is(api: Api, fields: Any, text: str) -> None:
    if fields.get("messageExpression") == "object.data.b":
        fields = {**fields, "messageExpression": "string(object.data.b)"}
    await enforce(api, validating(validations=[failing(**fields)]))
    assert (await refused(api, data={"a": "2"})).message == f"{OBJECT}{WHOSE}{text}"


@pytest.mark.parametrize(
    ("reason", "code"), [("Forbidden", 403), ("Invalid", 422), ("RequestEntityTooLarge", 413)], ids=str
)
async def test_the_reason_decides_on_the_code(api: Api, reason: str, code: int) -> None:
    await enforce(api, validating(validations=[failing("false", reason=reason)]))
    response = await refused(api)
    assert (response.code, response.reason) == (code, reason)


async def test_an_error_refuses(api: Api) -> None:
    await enforce(api, validating(validations=[failing()]))
    response = await refused(api)
    assert response.message == (
        f"{OBJECT}{WHOSE}expression 'object.data.a == '1'' resulted in error: no such key: data"
    )
    assert response.code == 422


async def test_an_error_may_be_ignored(api: Api) -> None:
    await enforce(api, validating(validations=[failing()], failurePolicy="Ignore"))
    await api.create(MAPS, config_map())


async def test_a_policy_without_binding_does_nothing(api: Api) -> None:
    await enforce(api, validating(validations=[failing("false")]), binding(policy="other"))
    await api.create(MAPS, config_map())


async def test_a_warning_lets_in(api: Api) -> None:
    await enforce(api, validating(validations=[failing("false", message="no")]), binding(validationActions=["Warn"]))
    response = await api.post(MAPS, config_map())
    assert response.code == 201
    assert response.warnings == ["Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': no"]


async def test_all_validations_are_evaluated_and_the_first_refusal_is_reported(api: Api) -> None:
    validations = [failing("true"), failing("false", message="one"), failing("false", message="two")]
    await enforce(api, validating(validations=validations), binding(validationActions=["Warn"]), binding("c"))
    response = await refused(api)
    assert response.message.endswith("with binding 'c' denied request: one")
    assert [text[-3:] for text in response.warnings] == ["one", "two"]


@pytest.mark.parametrize(
    ("expression", "holds"),
    [
        ("request.operation == 'CREATE'", True),
        ("request.name == 'a' && request.namespace == 'default'", True),
        ("request.userInfo.username == 'admin' && 'system:masters' in request.userInfo.groups", True),
        ("request.resource.resource == 'configmaps' && request.kind.kind == 'ConfigMap'", True),
        ("request.dryRun", False),
        ("request.options.kind == 'CreateOptions'", True),
        ("oldObject == null && object != null", True),
        ("namespaceObject.metadata.name == 'default'", True),
        ("namespaceObject.metadata.labels['kubernetes.io/metadata.name'] == 'default'", True),
        ("authorizer.requestResource.check('delete').allowed()", True),
        ("authorizer.serviceAccount('default', 'x').group('').resource('secrets').check('get').allowed()", False),
        ("authorizer.path('/healthz').check('get').allowed()", True),
        ("variables.two == variables.one + 1", True),
        ("has(variables.one)", True),
        ("object.metadata.name.matches('^[a-z]+$')", True),
        ("quantity('1Gi').isGreaterThan(quantity('1Mi')) && ip('10.0.0.1').family() == 4", True),
        ("cidr('10.0.0.0/8').containsIP('10.1.1.1') && isURL('https://a.b/')", True),
        ("['a', 'b'].indexOf('b') == 1 && sets.contains(['a'], ['a'])", True),
        ("semver('1.2.3').major() == 1 && !format.dns1123Label().validate('A_').hasValue()", False),
    ],
    ids=str,
)
async def test_expressions_see_the_request(api: Api, expression: str, holds: bool) -> None:
    variables = [{"name": "one", "expression": "1"}, {"name": "two", "expression": "variables.one + 1"}]
    await enforce(api, validating(validations=[failing(expression)], variables=variables))
    response = await api.post(MAPS, config_map())
    assert response.code == (201 if holds else 422), response.body


async def test_a_deletion_has_the_old_object_alone(api: Api) -> None:
    await api.create(MAPS, config_map(data={"a": "1"}))
    await enforce(api, validating(validations=[failing("object == null && oldObject.data.a == '2'")]))
    response = await api.delete(f"{MAPS}/a")
    assert response.message == f"{OBJECT}{WHOSE}failed expression: object == null && oldObject.data.a == '2'"


async def test_the_authorizer_checks_the_rights_of_the_requesting_user(api: Api) -> None:
    expression = "authorizer.group('').resource('nodes').check('create').allowed()"
    await enforce(api, validating(validations=[failing(expression, message="no nodes")]))
    rules = [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["create"]}]
    rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/default"
    await api.create(f"{rbac}/roles", {"metadata": {"name": "maps"}, "rules": rules})
    subject = {"kind": "User", "name": "jane", "apiGroup": "rbac.authorization.k8s.io"}
    role = {"kind": "Role", "name": "maps", "apiGroup": "rbac.authorization.k8s.io"}
    await api.create(f"{rbac}/rolebindings", {"metadata": {"name": "b"}, "subjects": [subject], "roleRef": role})
    assert (await api.post(MAPS, config_map())).code == 201
    assert (await Api(api.server, JANE).post(MAPS, config_map("b"))).message.endswith("denied request: no nodes")


@pytest.mark.parametrize(
    ("conditions", "policy", "code"),
    [
        (["false"], "Fail", 201),
        (["true"], "Fail", 422),
        (["true", "false"], "Fail", 201),
        (["object.data.x == '1'", "false"], "Fail", 201),
        (["object.data.x == '1'"], "Fail", 422),
        (["object.data.x == '1'"], "Ignore", 201),
    ],
    ids=["false", "true", "one false", "error and false", "error", "error ignored"],
)
async def test_match_conditions_come_first(api: Api, conditions: list[str], policy: str, code: int) -> None:
    named = [{"name": f"c{index}", "expression": text} for index, text in enumerate(conditions)]
    await enforce(api, validating(validations=[failing("false")], matchConditions=named, failurePolicy=policy))
    assert (await api.post(MAPS, config_map())).code == code
    found = [sample for family in api.server.metrics.admission.conditions.collect() for sample in family.samples]
    counts = [each for each in found if each.name.endswith("evaluation_seconds_count")]
    assert [(each.labels["kind"], each.labels["type"], each.value) for each in counts] == [("policy", "validate", 1)]


async def test_a_policy_that_costs_too_much_refuses(api: Api) -> None:
    data = {f"k{index}": "x" * 50 for index in range(60)}
    expression = "object.data.all(a, object.data.all(b, object.data.all(c, a.size() + b.size() + c.size() > 0)))"
    await enforce(api, validating(validations=[failing(expression)]))
    response = await refused(api, data=data)
    assert "operation cancelled: actual cost limit exceeded" in response.message


async def test_the_budget_is_for_all_expressions_together(api: Api) -> None:
    check = "authorizer.path('/a').check('get').allowed()"
    validations = [failing(f"({check} || true) && ({check} || true)") for _ in range(20)]
    await enforce(api, validating(validations=validations))
    response = await refused(api)
    assert response.message.endswith(
        "validation failed due to running out of cost budget, no further validation rules will be run"
    )


async def test_audit_annotations_may_be_all_that_a_policy_does(api: Api) -> None:
    annotations = [
        {"key": "name", "valueExpression": "object.metadata.name"},
        {"key": "none", "valueExpression": "null"},
    ]
    annotations[0]["valueExpression"] = "'name is ' + string(object.metadata.name)"
    await enforce(api, validating(auditAnnotations=annotations), binding(validationActions=["Audit"]))
    await api.create(MAPS, config_map())


async def test_changes_of_policies_count_at_once(api: Api) -> None:
    await enforce(api, validating(validations=[failing("false")]))
    await refused(api)
    path = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/p"
    await api.patch(path, {"spec": {"validations": [{"expression": "true"}]}})
    assert (await api.post(MAPS, config_map())).code == 201
    assert (await api.delete(path)).code == 200
    assert (await api.post(MAPS, config_map("b"))).code == 201


async def test_the_metrics_count_refusals(api: Api) -> None:
    await enforce(api, validating(validations=[failing("false")]))
    await refused(api)
    text = (await api.server.metrics.exposition()).decode()
    labels = 'enforcement_action="deny",error_type="invalid_error",policy="p",policy_binding="b"'
    assert f"apiserver_validating_admission_policy_check_total{{{labels}}} 1.0" in text
