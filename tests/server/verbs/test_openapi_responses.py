"""Answers with OpenAPI documents: their headers, parts of them, and refusals.

Source: kube-openapi pkg/handler, pkg/handler3 (1.36); Go's http.ServeContent.
"""

import pytest

from sampan.server.request import Response
from tests.server.cluster import Api

V2 = "/openapi/v2"
V3 = "/openapi/v3/apis/batch/v1"


def values(response: Response, name: bytes) -> list[bytes]:
    """Return the values of a header of the answer, in order."""
    return sorted(value for found, value in response.headers if found.lower() == name)


@pytest.mark.parametrize(
    ("path", "vary"), [(V2, [b"Accept", b"Accept-Encoding"]), (V3, [b"Accept"]), ("/openapi/v3", [])]
)
async def test_a_response_has_vary_and_accept_ranges(api: Api, path: str, vary: list[bytes]) -> None:
    response = (await api.get(path)).response
    assert values(response, b"accept-ranges") == [b"bytes"]
    assert values(response, b"vary") == vary


@pytest.mark.parametrize(("path", "accept"), [(V2, "text/html"), (V3, "text/html")])
async def test_an_unsupported_media_type_is_406_without_a_body(api: Api, path: str, accept: str) -> None:
    response = await api.get(path, accept=accept)
    assert (response.code, response.response.body, response.response.content_type) == (406, b"", "")
    assert b"Accept" in values(response.response, b"vary")


@pytest.mark.parametrize("accept", ["application/*", "*/json", "text/html,*/*;q=0.1"])
async def test_any_clause_may_be_met(api: Api, accept: str) -> None:
    assert (await api.get(V3, accept=accept)).response.content_type == "application/json"


@pytest.mark.parametrize(
    ("requested", "start", "end"), [("bytes=0-9", 0, 10), ("bytes=5-", 5, None), ("bytes=-5", -5, None)]
)
async def test_a_range_of_the_document_is_given(api: Api, requested: str, start: int, end: int | None) -> None:
    whole = (await api.get(V3)).response.body
    response = await api.client.request("GET", V3, b"", {"range": requested})
    assert (response.status, response.body) == (206, whole[start:end])
    first = start % len(whole)
    last = first + len(response.body) - 1
    assert values(response, b"content-range") == [b"bytes %d-%d/%d" % (first, last, len(whole))]


@pytest.mark.parametrize(
    ("requested", "text"),
    [
        ("bytes=999999999-", b"invalid range: failed to overlap\n"),
        ("lines=1-", b"invalid range\n"),
        ("bytes=5-2", b"invalid range\n"),
    ],
)
async def test_a_range_that_is_not_there_is_416(api: Api, requested: str, text: bytes) -> None:
    response = await api.get(V3, range=requested)
    assert (response.code, response.response.body) == (416, text)


@pytest.mark.parametrize("headers", [{"range": "bytes=0-1,3-4"}, {"range": "bytes=0-1", "if_range": '"old"'}])
async def test_all_is_given_where_a_range_does_not_do(api: Api, headers: dict[str, str]) -> None:
    assert (await api.get(V3, **headers)).code == 200


@pytest.mark.parametrize("path", [V2, V3, "/openapi/v3"])
async def test_a_client_that_has_any_version_is_sent_none(api: Api, path: str) -> None:
    assert (await api.get(path, if_none_match="*")).code == 304
