"""Nulls that are applied to custom resources: unlike those of other writes they are not dropped.

Source: apiextensions pkg/apiserver/customresource_handler.go (1.36), where only the decoder drops them.
"""

from typing import Any

import pytest

from tests.server.cluster import Api
from tests.server.custom_resources import SHIRTS, define, messages, schema, shirt
from tests.server.verbs.conftest import api

__all__ = ["api"]

STRING = {"type": "string"}


async def applied(api: Api, node: Any, metadata: Any = None) -> Any:
    """The answer to an apply of `spec.a: null`, where `a` is this."""
    await define(api, schema({"a": node}))
    body = shirt("a", {"a": None})
    body["metadata"].update(metadata or {})
    return await api.patch(f"{SHIRTS}/a?fieldManager=m", body, "apply")


@pytest.mark.parametrize(
    "node",
    [
        STRING,
        {"type": "integer"},
        {"type": "array", "items": STRING},
        {"type": "object", "additionalProperties": STRING},
    ],
    ids=lambda node: str(node["type"]),
)
async def test_a_null_that_is_not_allowed_is_refused(api: Api, node: Any) -> None:
    response = await applied(api, node)
    text = f'spec.a: Invalid value: "null": spec.a in body must be of type {node["type"]}: "null"'
    assert (response.code, messages(response)) == (422, [text])


async def test_a_null_that_is_allowed_is_stored(api: Api) -> None:
    response = await applied(api, {**STRING, "nullable": True})
    assert (response.code, response.body["spec"]) == (201, {"a": None})


async def test_a_default_takes_the_place_of_a_null(api: Api) -> None:
    response = await applied(api, {**STRING, "default": "x"})
    assert (response.code, response.body["spec"]) == (201, {"a": "x"})


async def test_nulls_of_the_metadata_are_dropped(api: Api) -> None:
    """Manifests that tools have written contain `creationTimestamp: null`."""
    response = await applied(api, {**STRING, "nullable": True}, {"creationTimestamp": None, "labels": None})
    assert response.code == 201
    assert response.metadata["creationTimestamp"]
    assert "labels" not in response.metadata


async def test_the_same_null_in_a_create_is_dropped(api: Api) -> None:
    await define(api, schema({"a": STRING}))
    assert (await api.create(SHIRTS, shirt("a", {"a": None})))["spec"] == {}
