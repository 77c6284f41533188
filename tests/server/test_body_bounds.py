"""A body with very many objects and lists is refused before it is decoded."""

import pytest

from sampan.core.errors import StatusError
from sampan.server.verbs.body_bounds import CONTAINERS_MAX, check_json, check_value
from tests.server.cluster import Api
from tests.server.verbs.conftest import api

__all__ = ["api"]

SERVICES = "/api/v1/namespaces/default/services"
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
EMPTY = ",".join(["{}"] * (CONTAINERS_MAX + 1))
SERVICE = f'{{"apiVersion":"v1","kind":"Service","metadata":{{"name":"a"}},"spec":{{"ports":[{EMPTY}]}}}}'.encode()
TEXT = "too large: the body has more than 200000 objects and lists"


@pytest.mark.parametrize("content_type", ["application/json", "application/yaml"])
async def test_a_create_with_too_many_objects_is_413(api: Api, content_type: str) -> None:
    response = await api.fetch("POST", SERVICES, SERVICE, content_type=content_type)
    assert response.code == 413
    assert TEXT in response.message


@pytest.mark.parametrize("kind", ["json", "merge", "strategic", "apply"])
async def test_a_patch_with_too_many_objects_is_413(api: Api, kind: str) -> None:
    await api.create(CONFIG_MAPS, {"metadata": {"name": "a"}})
    body = f"[{EMPTY}]".encode() if kind == "json" else SERVICE
    response = await api.patch(f"{CONFIG_MAPS}/a?fieldManager=m", body, kind)
    assert response.code == 413
    assert TEXT in response.message


async def test_brackets_in_strings_do_not_count(api: Api) -> None:
    text = "[" * (2 * CONTAINERS_MAX)
    made = await api.create(CONFIG_MAPS, {"metadata": {"name": "a"}, "data": {"a": text}})
    assert made["data"]["a"] == text


@pytest.mark.parametrize("inside", ["[", '\\"[', "\\\\"], ids=["plain", "quotes", "backslashes"])
def test_a_string_without_an_end_is_scanned_once(inside: str) -> None:
    check_json(f'{{"a":"{inside * CONTAINERS_MAX * 4}'.encode())


def test_values_of_other_formats_are_counted_at_every_depth() -> None:
    body = bytes(3 * CONTAINERS_MAX)
    check_value([{}] * (CONTAINERS_MAX - 1), body)
    with pytest.raises(StatusError, match="more than 200000"):
        check_value({"a": [{"b": [{}]}] * (CONTAINERS_MAX // 2)}, body)
