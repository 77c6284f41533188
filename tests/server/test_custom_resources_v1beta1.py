"""CRDs in the form of apiextensions.k8s.io/v1beta1: created, patched, shown without loss (F8, F32, F41)."""

from typing import Any

import pytest

from tests.server.cluster import Api
from tests.server.custom_resources import (
    CRD,
    CRDS,
    GROUP,
    NAME,
    OLD_CRDS,
    SHIRTS,
    condition,
    crd,
    messages,
    schema,
    shirt,
    version,
)
from tests.server.verbs.conftest import api

__all__ = ["api"]

OLD = f"{OLD_CRDS}/{NAME}"


def old(**spec: Any) -> dict[str, Any]:
    """A CRD of shirts in v1beta1."""
    return {
        "apiVersion": "apiextensions.k8s.io/v1beta1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": NAME},
        "spec": {"group": GROUP, "version": "v1", "names": {"plural": "shirts", "kind": "Shirt"}, **spec},
    }


async def test_without_a_schema_every_field_is_kept(api: Api) -> None:
    created = await api.create(OLD_CRDS, old())
    assert created["spec"]["preserveUnknownFields"] is True
    assert created["spec"]["scope"] == "Namespaced"
    assert created["spec"]["version"] == "v1"
    body = shirt("a", {"any": {"thing": [1, None]}}, more=1)
    made = await api.create(SHIRTS, body)
    assert (made["spec"], made["more"]) == (body["spec"], 1)


async def test_v1_shows_the_same_crd(api: Api) -> None:
    await api.create(OLD_CRDS, old(validation={"openAPIV3Schema": schema({"a": {"type": "string"}})}))
    spec = (await api.get(CRD)).body["spec"]
    assert spec["preserveUnknownFields"] is True
    assert spec["versions"] == [
        {
            "name": "v1",
            "served": True,
            "storage": True,
            "schema": {"openAPIV3Schema": schema({"a": {"type": "string"}})},
        }
    ]


async def test_violations_are_reported_by_a_condition(api: Api) -> None:
    await api.create(OLD_CRDS, old(validation={"openAPIV3Schema": {"properties": {"spec": {"minProperties": 1}}}}))
    found = condition((await api.get(CRD)).body, "NonStructuralSchema")
    assert (found["status"], found["reason"]) == ("True", "Violations")
    assert "spec.preserveUnknownFields: Invalid value: true: must be false" in found["message"]
    assert "properties[spec].type: Required value" in found["message"]
    assert (await api.post(SHIRTS, shirt("a", {}))).code == 422
    assert (await api.post(SHIRTS, shirt("a", {"b": 1}))).code == 201


async def test_a_pruning_crd_needs_a_structural_schema(api: Api) -> None:
    body = old(preserveUnknownFields=False)
    assert messages(await api.post(OLD_CRDS, body)) == [
        "spec.versions[0].schema.openAPIV3Schema: Required value: because otherwise all fields are pruned"
    ]
    body["spec"]["validation"] = {"openAPIV3Schema": schema({"a": {}})}
    assert (await api.post(OLD_CRDS, body)).code == 422
    body["spec"]["validation"] = {"openAPIV3Schema": schema({"a": {"type": "string"}})}
    await api.create(OLD_CRDS, body)
    assert (await api.create(SHIRTS, shirt("a", {"a": "1", "b": 2})))["spec"] == {"a": "1"}


async def test_protected_groups_need_no_approval_but_a_condition_reports_of_it(api: Api) -> None:
    body = old(group="x.k8s.io")
    body["metadata"]["name"] = "shirts.x.k8s.io"
    await api.create(OLD_CRDS, body)
    found = condition((await api.get(f"{CRDS}/shirts.x.k8s.io")).body, "KubernetesAPIApprovalPolicyConformant")
    assert (found["status"], found["reason"]) == ("False", "MissingAnnotation")


@pytest.mark.parametrize(
    ("kind", "patch"),
    [
        pytest.param("merge", {"spec": {"subresources": {"status": {}}}}, id="merge"),
        pytest.param("strategic", {"spec": {"subresources": {"status": {}}}}, id="strategic"),
        pytest.param("json", [{"op": "add", "path": "/spec/subresources", "value": {"status": {}}}], id="json"),
    ],
)
async def test_patches_through_v1beta1(api: Api, kind: str, patch: Any) -> None:
    columns = [{"name": "A", "type": "string", "JSONPath": ".spec.a"}]
    first = await api.create(OLD_CRDS, old(additionalPrinterColumns=columns))
    response = await api.patch(OLD, patch, kind)
    assert response.code == 200, response.body
    assert response.body["spec"] == {**first["spec"], "subresources": {"status": {}}}
    assert (await api.get(CRD)).body["spec"]["versions"][0]["subresources"] == {"status": {}}
    await api.create(SHIRTS, shirt("a"))
    assert (await api.get(f"{SHIRTS}/a/status")).code == 200


async def test_an_unchanged_put_through_either_version_changes_nothing(api: Api) -> None:
    await api.create(OLD_CRDS, old(validation={"openAPIV3Schema": schema({"a": {"type": "string"}})}))
    for path in (OLD, CRD):
        body = (await api.get(path)).body
        again = await api.put(path, body)
        assert (again.code, again.metadata["resourceVersion"]) == (200, body["metadata"]["resourceVersion"]), path


async def test_versions_that_differ_survive_both_ways(api: Api) -> None:
    await api.create(CRDS, crd(version("v1"), version("v2", schema({"b": {"type": "string"}}), storage=False)))
    before = (await api.get(CRD)).body
    shown = (await api.get(OLD)).body
    assert "validation" not in shown["spec"]
    assert [one["schema"] for one in shown["spec"]["versions"]] == [one["schema"] for one in before["spec"]["versions"]]
    shown["metadata"]["labels"] = {"a": "b"}
    await api.put(OLD, shown)
    assert (await api.get(CRD)).body["spec"] == before["spec"]


async def test_apply_through_v1beta1_again_with_changes(api: Api) -> None:
    body = old(validation={"openAPIV3Schema": schema({"a": {"type": "string"}})})
    assert (await api.apply(OLD, body)).code == 201
    body["spec"]["validation"]["openAPIV3Schema"] = schema({"b": {"type": "integer"}})
    response = await api.apply(OLD, body)
    assert response.code == 200, response.body
    assert response.body["spec"]["validation"] == body["spec"]["validation"]


async def test_v1_may_not_go_back_to_keeping_unknown_fields(api: Api) -> None:
    await api.create(CRDS, crd())
    response = await api.patch(CRD, {"spec": {"preserveUnknownFields": True}})
    assert response.code == 422
    assert "spec.preserveUnknownFields" in response.message


async def test_a_crd_of_v1beta1_can_be_made_to_prune(api: Api) -> None:
    await api.create(OLD_CRDS, old(validation={"openAPIV3Schema": schema({"a": {"type": "string"}})}))
    await api.create(SHIRTS, shirt("a", {"a": "1", "b": "2"}))
    assert (await api.patch(CRD, {"spec": {"preserveUnknownFields": False}})).code == 200
    assert (await api.get(f"{SHIRTS}/a")).body["spec"] == {"a": "1"}
    assert condition((await api.get(CRD)).body, "NonStructuralSchema") == {}
