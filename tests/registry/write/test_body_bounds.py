"""A body with very many objects and lists is refused before it is decoded."""

import pytest

from sampan.core.errors import StatusError
from sampan.registry.write.changes.bounds import CONTAINERS_MAX, check_json, check_value
from sampan.wire.json import DecodeError
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


DEEP = "[" * CONTAINERS_MAX * 2


@pytest.mark.parametrize(
    ("verb", "content_type", "body"),
    [
        ("POST", "application/json", f'{{"apiVersion":"v1","kind":"ConfigMap","a":{DEEP}{"]" * len(DEEP)}}}'),
        ("POST", "application/json", f'{{"apiVersion":"v1","kind":"ConfigMap","a":{DEEP}}}'),
        ("PUT", "application/json", f'{{"apiVersion":"v1","kind":"ConfigMap","a":{DEEP}}}'),
        ("PATCH", "application/json-patch+json", f'[{{"op":"add","path":"/data","value":{DEEP}}}]'),
        ("PATCH", "application/merge-patch+json", f'{{"data":{DEEP}}}'),
        ("PATCH", "application/strategic-merge-patch+json", f'{{"data":{DEEP}}}'),
        ("PATCH", "application/apply-patch+yaml", f'{{"data":{DEEP}{"]" * len(DEEP)}}}'),
    ],
)
async def test_a_body_that_is_too_deep_for_any_decoder_is_400(
    api: Api, verb: str, content_type: str, body: str
) -> None:
    path = CONFIG_MAPS if verb == "POST" else f"{CONFIG_MAPS}/a?fieldManager=m"
    await api.create(CONFIG_MAPS, {"metadata": {"name": "a"}})
    response = await api.fetch(verb, path, body.encode(), content_type=content_type)
    assert (response.code, response.reason, "exceeded max" in response.message) == (400, "BadRequest", True)


def test_deep_nesting_is_found_without_reading_all_brackets() -> None:
    check_json(b'{"a":"' + b"[" * 2 * CONTAINERS_MAX + b'"}')
    with pytest.raises(DecodeError, match="exceeded max depth"):
        check_json(b"[]," * (CONTAINERS_MAX // 2) + DEEP.encode())
    with pytest.raises(StatusError, match="more than 200000"):
        check_json(b"[]," * CONTAINERS_MAX * 3 + DEEP.encode())
