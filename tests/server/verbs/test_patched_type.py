"""The kind and apiVersion in patched objects.

Source: apiserver pkg/endpoints/handlers/patch.go, apiextensions pkg/registry/customresource/validator.go (1.36).
"""

from typing import Any

import pytest

from tests.server.cluster import Api
from tests.server.verbs.objects import (
    CONFIG_MAPS,
    DEPLOYMENTS,
    WIDGETS,
    deployment,
    some_config_maps,
    widget,
    with_widgets,
)
from tests.server.verbs.test_patch import KINDS, setting


@pytest.mark.parametrize(
    ("path", "value", "text"),
    [
        ("/kind", "Secret", "converting (v1.Secret) to (core.ConfigMap): unknown conversion"),
        ("/kind", "Foo", 'no kind "Foo" is registered for version "v1"'),
        (
            "/apiVersion",
            "v2",
            'no kind "ConfigMap" is registered for version "v2"',
        ),
        ("/apiVersion", "a/b/c", "unexpected GroupVersion string: a/b/c"),
        (
            "/kind",
            5,
            "couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct field .kind of "
            "type string",
        ),
    ],
)
@pytest.mark.parametrize("kind", ["json", "merge"])
async def test_the_type_cannot_be_patched(api: Api, kind: str, path: str, value: Any, text: str) -> None:
    await some_config_maps(api, 1)
    response = await api.patch(f"{CONFIG_MAPS}/cm-0", setting(kind, path, value), kind)
    assert (response.code, response.reason, response.causes[0]["field"]) == (422, "Invalid", "patch")
    assert response.message.endswith(f": {text}")


@pytest.mark.parametrize("patch", [{"kind": "Secret"}, {"kind": None}, {"apiVersion": "v2"}, {"apiVersion": None}])
async def test_the_type_in_a_strategic_merge_patch_reports_nothing(api: Api, patch: Any) -> None:
    await some_config_maps(api, 1)
    response = await api.patch(f"{CONFIG_MAPS}/cm-0", {**patch, "data": {"b": "c"}}, "strategic")
    assert (response.code, response.body["kind"], response.body["apiVersion"]) == (200, "ConfigMap", "v1")
    assert response.body["data"]["b"] == "c"


@pytest.mark.parametrize("kind", ["", None])
async def test_a_patched_object_need_not_report_its_kind(api: Api, kind: str | None) -> None:
    await some_config_maps(api, 1)
    response = await api.patch(f"{CONFIG_MAPS}/cm-0", {"kind": kind, "data": {"b": "c"}}, "merge")
    assert (response.code, response.body["kind"], response.body["data"]["b"]) == (200, "ConfigMap", "c")


async def test_a_patched_object_of_an_unknown_version_has_no_name(api: Api) -> None:
    await some_config_maps(api, 1)
    response = await api.patch(f"{CONFIG_MAPS}/cm-0", {"apiVersion": None}, "merge")
    text = "the name of the object (cm-0 based on URL) was undeterminable: name must be provided"
    assert (response.code, response.message) == (400, text)


async def test_a_patch_may_use_an_old_version(api: Api) -> None:
    await api.create(DEPLOYMENTS, deployment())
    response = await api.patch(f"{DEPLOYMENTS}/d", {"apiVersion": "apps/v1beta1", "spec": {"replicas": 4}}, "merge")
    assert (response.code, response.body["apiVersion"], response.body["spec"]["replicas"]) == (200, "apps/v1", 4)


@pytest.mark.parametrize("directive", ["replace", "delete"])
async def test_a_strategic_merge_patch_that_leaves_nothing_leaves_no_name(api: Api, directive: str) -> None:
    await some_config_maps(api, 1)
    response = await api.patch(f"{CONFIG_MAPS}/cm-0", {"$patch": directive}, "strategic")
    text = "the name of the object (cm-0 based on URL) was undeterminable: name must be provided"
    assert (response.code, response.message) == (400, text)


@pytest.mark.parametrize("kind", KINDS)
async def test_an_empty_list_of_managed_fields_ends_their_tracking(api: Api, kind: str) -> None:
    await some_config_maps(api, 1)
    response = await api.patch(f"{CONFIG_MAPS}/cm-0", setting(kind, "/metadata/managedFields", []), kind)
    assert "managedFields" not in response.metadata
    assert "managedFields" not in (await api.get(f"{CONFIG_MAPS}/cm-0")).metadata


@pytest.mark.parametrize(
    ("patch", "kind", "causes"),
    [
        ({"kind": "Foo"}, "Foo", [("kind", 'Invalid value: "Foo": must be Widget')]),
        ({"apiVersion": "v9"}, "Widget", [("apiVersion", 'Invalid value: "v9": must be example.com/v1')]),
        ({"apiVersion": None}, "Widget", [("apiVersion", 'Invalid value: "": must be example.com/v1')]),
    ],
)
async def test_the_type_of_a_custom_resource_cannot_be_patched(
    api: Api, patch: Any, kind: str, causes: list[tuple[str, str]]
) -> None:
    """kube-apiserver answers 500 to a patch that takes the apiVersion away; here that is as wrong as another one."""
    await with_widgets(api)
    await api.create(WIDGETS, widget())
    response = await api.patch(f"{WIDGETS}/w", patch, "merge")
    assert (response.code, response.reason, response.body["details"]["kind"]) == (422, "Invalid", kind)
    assert [(cause["field"], cause["message"]) for cause in response.causes] == causes


async def test_a_patched_custom_resource_must_report_its_kind(api: Api) -> None:
    await with_widgets(api)
    await api.create(WIDGETS, widget())
    response = await api.patch(f"{WIDGETS}/w", {"kind": None}, "merge")
    assert (response.code, response.causes[0]["field"]) == (422, "patch")
    assert "Object 'Kind' is missing in '{" in response.message


@pytest.mark.parametrize(
    ("patch", "text"),
    [
        ({"kind": 5}, "cannot convert int64 to string"),
        ({"metadata": 5}, "cannot restore struct from: int64"),
        ({"metadata": {"labels": ["a"]}}, "cannot restore map from slice"),
        ({"metadata": {"labels": {"a": True}}}, "unrecognized type: string"),
        ({"metadata": {"generation": 1.5}}, "cannot convert float64 to int64"),
        ({"metadata": {"generation": "1"}}, "unrecognized type: int64"),
        ({"metadata": {"creationTimestamp": 5}}, "json: cannot unmarshal number into Go value of type string"),
        ({"immutable": "a"}, "unrecognized type: bool"),
        ({"data": 5}, "cannot restore map from int64"),
        ({"binaryData": {"a": 5}}, "cannot restore slice from int64"),
        ({"binaryData": {"a": "%"}}, "error decoding from json: illegal base64 data at input byte 0"),
    ],
    ids=str,
)
async def test_wrong_types_in_a_strategic_merge_patch_are_reported_as_of_a_conversion(
    api: Api, patch: Any, text: str
) -> None:
    """A number beyond 32 bits is refused here too, where kube-apiserver takes what is left of it."""
    await some_config_maps(api, 1)
    response = await api.patch(f"{CONFIG_MAPS}/cm-0", patch, "strategic")
    assert (response.code, response.reason) == (422, "Invalid")
    assert response.message.endswith(f'": {text}')
