"""Bodies of subresources, which have separate types. Source: apiserver pkg/endpoints/handlers/rest.go (1.36)."""

from typing import Any

import pytest

from tests.server.cluster import Api
from tests.server.verbs.objects import DEPLOYMENTS, PODS, deployment, pod

CASES = [
    pytest.param("POST", f"{PODS}/p/binding", "core", "Binding", id="binding"),
    pytest.param("POST", f"{PODS}/p/eviction", "policy", "Eviction", id="eviction"),
    pytest.param("PUT", f"{DEPLOYMENTS}/d/scale", "autoscaling", "Scale", id="scale"),
]


@pytest.mark.parametrize(("method", "path", "package", "kind"), CASES)
async def test_no_body_is_unrecognized(api: Api, method: str, path: str, package: str, kind: str) -> None:
    response = await api.fetch(method, path)
    assert (response.code, response.reason) == (400, "BadRequest")
    assert response.message == (
        f"the object provided is unrecognized (must be of type {kind}): couldn't get version/kind; json parse error: "
        "unexpected end of JSON input (<empty>)"
    )


@pytest.mark.parametrize(("method", "path", "package", "kind"), CASES)
async def test_another_kind_cannot_be_converted(api: Api, method: str, path: str, package: str, kind: str) -> None:
    response = await api.fetch(method, path, {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "x"}})
    assert (response.code, response.message) == (
        400,
        f'Secret in version "v1" cannot be handled as a {kind}: converting (v1.Secret) to ({package}.{kind}): '
        "unknown conversion",
    )


async def test_a_list_is_unrecognized(api: Api) -> None:
    response = await api.fetch("POST", f"{PODS}/p/eviction", [])
    assert response.code == 400
    assert response.message.startswith(
        "the object provided is unrecognized (must be of type Eviction): couldn't get ver"
    )


async def test_a_scale_needs_a_name(api: Api) -> None:
    await api.create(DEPLOYMENTS, deployment())
    body: Any = {"spec": {"replicas": 1}}
    response = await api.put(f"{DEPLOYMENTS}/d/scale", body)
    text = "the name of the object (d based on URL) was undeterminable: name must be provided"
    assert (response.code, response.message) == (400, text)


@pytest.mark.parametrize(
    "body",
    [{"metadata": "d"}, {"spec": 5}, {"spec": {"replicas": "x"}}, {"spec": {"replicas": 1 << 40}}, {"status": []}],
    ids=str,
)
@pytest.mark.parametrize("how", ["put", "merge", "apply"])
async def test_a_scale_with_values_of_other_types_is_refused(api: Api, how: str, body: Any) -> None:
    await api.create(DEPLOYMENTS, deployment("d"))
    whole = {"kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": {"name": "d"}, **body}
    path = f"{DEPLOYMENTS}/d/scale"
    response = await api.put(path, whole) if how == "put" else await api.patch(f"{path}?fieldManager=t", whole, how)
    assert response.code == 400 if how == "put" else response.code in (400, 422), response.body


async def test_a_json_patch_that_replaces_a_scale_with_something_else_is_refused(api: Api) -> None:
    await api.create(DEPLOYMENTS, deployment("d"))
    patch = [{"op": "replace", "path": "", "value": 5}]
    assert (await api.patch(f"{DEPLOYMENTS}/d/scale", patch, "json")).code in (400, 422)


LARGE = {"a": "x" * 2_800_000}
"""Annotations that are larger than an object that can be stored."""
TOO_LONG = "metadata.annotations: Too long: may not be more than 262144 bytes"


@pytest.mark.parametrize("path", [f"{PODS}/p/binding", "/api/v1/namespaces/default/bindings"])
async def test_annotations_of_a_binding_that_a_pod_may_not_have_are_refused(api: Api, path: str) -> None:
    await api.create(PODS, pod("p"))
    binding = {"metadata": {"name": "p", "annotations": LARGE}, "target": {"kind": "Node", "name": "n"}}
    response = await api.post(path, binding)
    assert (response.code, response.reason) == (422, "Invalid")
    assert response.message == f'Pod "p" is invalid: {TOO_LONG}'


async def test_large_fields_of_subresources_are_no_fault_of_the_server(api: Api) -> None:
    await api.create(PODS, pod("p"))
    await api.create(DEPLOYMENTS, deployment("d"))
    stored = (await api.get(f"{PODS}/p")).body
    debugger = {"name": "e", "image": "i", "env": [{"name": "A", "value": LARGE["a"]}]}
    scale = {"metadata": {"name": "d", "annotations": LARGE}, "spec": {"replicas": 2}}
    eviction = {"metadata": {"name": "p", "annotations": LARGE}}
    debugged = {**stored, "spec": {**stored["spec"], "ephemeralContainers": [debugger]}}
    finalized = {"metadata": {"name": "default", "annotations": LARGE}, "spec": {"finalizers": ["kubernetes"]}}
    node = {"metadata": {"name": "p"}, "target": {"name": LARGE["a"]}}
    responses = [
        await api.post(f"{PODS}/p/binding", node),
        await api.put(f"{PODS}/p/ephemeralcontainers", debugged),
        await api.put("/api/v1/namespaces/default/finalize", finalized),
        await api.put(f"{DEPLOYMENTS}/d/scale", scale),
        await api.post(f"{PODS}/p/eviction", eviction),
    ]
    assert [response.code for response in responses] == [413, 413, 422, 200, 201]
