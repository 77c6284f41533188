"""Answers to targets without a meaning, and the header that keeps browsers from guessing at answers."""

import pytest

from sampan.core.errors import StatusError
from sampan.server.request_info import parse_target
from sampan.server.status import NOSNIFF, unreadable
from tests.server.cluster import Api, served
from tests.server.frame import JANE


def responses(target: bytes) -> tuple[int, str, bool]:
    """The answer to a target that cannot be read."""
    with pytest.raises(StatusError) as refused:
        parse_target("GET", target)
    response = unreadable(refused.value, target)
    return response.status, response.body.decode(), response.close


def test_a_broken_escape_is_refused_as_in_go_and_ends_the_connection() -> None:
    assert responses(b"/api/v1/pods/%zz") == (400, "400 Bad Request", True)


def test_a_watch_without_a_resource_is_500_with_an_escaped_target() -> None:
    why = "failed to create RequestInfo: unable to determine kind and namespace from url, /api/v1/watch?a=&lt;b&gt;"
    text = f'Internal Server Error: "/api/v1/watch?a=&lt;b&gt;": {why}\n'
    assert responses(b"/api/v1/watch?a=<b>") == (500, text, False)


async def test_refusals_of_authorization_are_not_guessed_at() -> None:
    async with served() as admin:
        jane = Api(admin.server, JANE)
        assert NOSNIFF in (await jane.get("/api/v1/pods")).response.headers
        assert NOSNIFF in (await admin.get("/api/v1/pods", impersonate_group="devs")).response.headers
