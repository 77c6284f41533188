"""User agent and impersonation."""

import re

from sampan.client.identity import IdentityTransport, Impersonation, default_user_agent
from sampan.client.transport import HttpRequest
from sampan.wire.http1 import values_of
from tests.client.fakes import FakeResponse, FakeTransport


async def headers_of(transport_headers: dict[str, str], **identity: object) -> dict[str, str]:
    inner = FakeTransport([FakeResponse()])
    await IdentityTransport(inner, **identity).send(HttpRequest("GET", "/", transport_headers))  # type: ignore[arg-type]
    return dict(inner.requested[0].headers)


async def test_a_client_that_requests_is_reported() -> None:
    assert await headers_of({}, user_agent="me/1") == {"user-agent": "me/1"}


async def test_a_request_may_report_it_otherwise() -> None:
    output = {"user-agent": "x/1", "impersonate-user": "jane"}
    impersonation = Impersonation("john", groups=("devs",))
    assert await headers_of(output, user_agent="me/1", impersonation=impersonation) == output


async def test_impersonation_states_user_uid_groups_and_extra() -> None:
    impersonation = Impersonation("jane", "u-1", ("devs", "ops"), {"example.org/Scopes%": ("a", "b"), "none": ()})
    headers = await headers_of({}, user_agent="me/1", impersonation=impersonation)
    assert {name: values_of(value) for name, value in headers.items()} == {
        "user-agent": ("me/1",),
        "impersonate-user": ("jane",),
        "impersonate-uid": ("u-1",),
        "impersonate-group": ("devs", "ops"),
        "impersonate-extra-example.org%2fscopes%25": ("a", "b"),
    }


def test_without_a_user_no_client_is_impersonated() -> None:
    assert Impersonation(groups=("devs",)).headers() == {}


def test_the_default_user_agent_begins_with_program_and_version() -> None:
    assert re.fullmatch(r"\S+/\S+ \(\w+/\w+\) sampan", default_user_agent())
