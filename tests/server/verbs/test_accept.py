"""Accept headers that nothing fits. Source: go-restful curly.go (3.12), apiserver pkg/endpoints/handlers (1.36)."""

import pytest

from tests.server.cluster import Api
from tests.server.verbs.objects import CONFIG_MAPS, WIDGETS, config_map, some_config_maps, widget, with_widgets

HTML = "text/html"
TYPES = "application/json, application/yaml, application/vnd.kubernetes.protobuf"


async def test_an_object_is_not_created_if_its_response_is_not_acceptable(api: Api) -> None:
    assert (await api.fetch("POST", CONFIG_MAPS, config_map("a"), accept=HTML)).code == 406
    assert (await api.get(f"{CONFIG_MAPS}/a")).code == 404


async def test_an_object_is_not_deleted_if_its_response_is_not_acceptable(api: Api) -> None:
    await some_config_maps(api, 1)
    assert (await api.delete(f"{CONFIG_MAPS}/cm-0", accept=HTML)).code == 406
    assert (await api.get(f"{CONFIG_MAPS}/cm-0")).code == 200


async def test_a_custom_resource_is_not_created_if_its_response_is_not_acceptable(api: Api) -> None:
    await with_widgets(api)
    response = await api.fetch("POST", WIDGETS, widget(), accept="application/vnd.kubernetes.protobuf")
    assert response.code == 406
    assert (await api.get(f"{WIDGETS}/w")).code == 404


@pytest.mark.parametrize(
    ("path", "more"),
    [
        (f"{CONFIG_MAPS}/cm-0", ""),
        (CONFIG_MAPS, ", application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch"),
    ],
    ids=["get", "list"],
)
async def test_the_router_reports_what_there_is_of_a_built_in_resource(api: Api, path: str, more: str) -> None:
    response = await api.get(path, accept=HTML)
    assert response.message == f"406: Not Acceptable\n\nAvailable representations: {TYPES}{more}"


async def test_a_form_that_there_is_not_is_reported_by_the_verb(api: Api) -> None:
    response = await api.get(CONFIG_MAPS, accept="application/json;as=Table;v=v2;g=meta.k8s.io")
    assert (response.code, response.message) == (406, f"only the following media types are accepted: {TYPES}")


async def test_any_subtype_is_one(api: Api) -> None:
    """kube-apiserver answers 406 to this for its built-in resources, and 200 for custom ones."""
    assert (await api.get(CONFIG_MAPS, accept="application/*")).code == 200
