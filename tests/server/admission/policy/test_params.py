"""Parameters of policies: where they come from, and what happens when there are none."""

from typing import Any

import pytest

from tests.server.admission.policy.policies import MAPS, binding, config_map, enforce, failing, validating
from tests.server.cluster import Api

MAP_KIND = {"apiVersion": "v1", "kind": "ConfigMap"}
MAX = "int(object.data.n) <= int(params.data.max)"
NAMESPACE = "/api/v1/namespaces"


def limited(**kind: Any) -> Any:
    """A policy with parameters; it does not look at these themselves."""
    condition = {"name": "no-params", "expression": "has(object.data) && has(object.data.n)"}
    return validating(
        paramKind=kind or MAP_KIND, validations=[failing(MAX, message="too much")], matchConditions=[condition]
    )


def referring(action: str = "Deny", **reference: Any) -> Any:
    """A binding with parameters."""
    return binding(paramRef={"parameterNotFoundAction": action, **reference})


@pytest.mark.parametrize(("number", "code"), [("3", 201), ("7", 422)])
async def test_a_parameter_by_name(api: Api, number: str, code: int) -> None:
    await api.create(MAPS, config_map("limit", data={"max": "5"}))
    await enforce(api, limited(), referring(name="limit"))
    assert (await api.post(MAPS, config_map(data={"n": number}))).code == code


async def test_a_parameter_in_another_namespace(api: Api) -> None:
    await api.create(NAMESPACE, {"metadata": {"name": "limits"}})
    await api.create(f"{NAMESPACE}/limits/configmaps", config_map("limit", data={"max": "5"}))
    await enforce(api, limited(), referring(name="limit", namespace="limits"))
    assert (await api.post(MAPS, config_map(data={"n": "7"}))).message.endswith("denied request: too much")


async def test_all_selected_parameters_count(api: Api) -> None:
    for name, most in (("one", "5"), ("two", "9"), ("other", "1")):
        labels = {} if name == "other" else {"limit": "yes"}
        await api.create(MAPS, config_map(metadata={"name": name, "labels": labels}, data={"max": most}))
    await enforce(api, limited(), referring(selector={"matchLabels": {"limit": "yes"}}))
    assert (await api.post(MAPS, config_map(data={"n": "4"}))).code == 201
    assert (await api.post(MAPS, config_map("b", data={"n": "7"}))).code == 422


async def test_changed_parameters_count_at_once(api: Api) -> None:
    await api.create(MAPS, config_map("limit", data={"max": "5"}))
    await enforce(api, limited(), referring(name="limit"))
    await api.patch(f"{MAPS}/limit", {"data": {"max": "9"}})
    assert (await api.post(MAPS, config_map(data={"n": "7"}))).code == 201


@pytest.mark.parametrize("reference", [{"name": "limit"}, {"selector": {"matchLabels": {"a": "b"}}}], ids=str)
async def test_without_parameters_the_binding_decides(api: Api, reference: Any) -> None:
    await enforce(api, limited(), referring(**reference))
    response = await api.post(MAPS, config_map(data={"n": "7"}))
    assert response.message == (
        "configmaps \"a\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: failed to "
        "configure binding: no params found for policy binding with `Deny` parameterNotFoundAction"
    )


async def test_without_parameters_the_binding_may_allow(api: Api) -> None:
    await enforce(api, limited(), referring("Allow", name="limit"))
    assert (await api.post(MAPS, config_map(data={"n": "7"}))).code == 201


async def test_without_reference_there_are_no_parameters(api: Api) -> None:
    await enforce(api, validating(paramKind=MAP_KIND, validations=[failing("params == null")]))
    assert (await api.post(MAPS, config_map())).code == 201


async def test_an_unknown_kind_is_an_error_of_the_policy(api: Api) -> None:
    await enforce(api, limited(apiVersion="example.com/v1", kind="Limit"), referring(name="limit"))
    response = await api.post(MAPS, config_map(data={"n": "1"}))
    assert response.message.endswith(
        "ValidatingAdmissionPolicy 'p' denied request: failed to configure policy: failed to find resource "
        "referenced by paramKind: 'example.com/v1, Kind=Limit'"
    )


async def test_a_namespace_for_a_kind_outside_of_namespaces_is_an_error(api: Api) -> None:
    await enforce(api, limited(apiVersion="v1", kind="Node"), referring(name="a", namespace="default"))
    response = await api.post(MAPS, config_map(data={"n": "1"}))
    assert response.message.endswith(
        "failed to configure binding: paramRef.namespace must not be provided for a cluster-scoped `paramKind`"
    )


async def test_custom_resources_are_parameters_from_when_they_are_served(api: Api) -> None:
    await enforce(api, limited(apiVersion="example.com/v1", kind="Limit"), referring(name="limit"))
    assert (await api.post(MAPS, config_map(data={"n": "1"}))).code == 422
    data = {"type": "object", "properties": {"max": {"type": "string"}}}
    schema = {"type": "object", "properties": {"data": data}}
    names = {"plural": "limits", "singular": "limit", "kind": "Limit", "listKind": "LimitList"}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    crd = {
        "kind": "CustomResourceDefinition",
        "apiVersion": "apiextensions.k8s.io/v1",
        "metadata": {"name": "limits.example.com"},
        "spec": {"group": "example.com", "names": names, "scope": "Namespaced", "versions": [version]},
    }
    await api.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd)
    limit = {"kind": "Limit", "apiVersion": "example.com/v1", "metadata": {"name": "limit"}, "data": {"max": "5"}}
    await api.create("/apis/example.com/v1/namespaces/default/limits", limit)
    assert (await api.post(MAPS, config_map(data={"n": "1"}))).code == 201
    assert (await api.post(MAPS, config_map("b", data={"n": "7"}))).code == 422
