"""Tokens are checked over HTTPS."""

from collections.abc import Sequence
from typing import Any

import pytest

from sampan.operator.webhook import Authenticated, UserInfo, Validator, WebhookServer
from tests.operator.webhook.frame import Network, fetch, running, webhook_server
from tests.unreadable import DEEP, NO_TEXT


def server_with_users() -> WebhookServer:
    server = webhook_server()

    @server.authenticating()
    async def authenticate(token: str, audiences: Sequence[str]) -> Authenticated | UserInfo | None:
        if token == "bug":
            raise KeyError(token)
        if token == "old":
            raise ValueError("the token has ended")
        if token == "aware":
            return Authenticated(UserInfo("bob"), [each for each in audiences if each == "api"])
        return UserInfo("ann", groups=["devs"]) if token == "ann" else None

    return server


def token_review(token: str, *, version: str = "v1", **spec: Any) -> Any:
    return {
        "kind": "TokenReview",
        "apiVersion": f"authentication.k8s.io/{version}",
        "metadata": {},
        "spec": {"token": token, **spec},
        "status": {"user": {}},
    }


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
@pytest.mark.parametrize(
    ("token", "status"),
    [
        ("ann", {"authenticated": True, "user": {"username": "ann", "groups": ["devs"]}}),
        ("aware", {"authenticated": True, "user": {"username": "bob"}, "audiences": ["api"]}),
        ("who", {"authenticated": False}),
        ("old", {"authenticated": False, "error": "the token has ended"}),
        ("bug", {"authenticated": False, "error": "the webhook failed with KeyError; its log has the details"}),
    ],
)
async def test_a_token_is_somebodys_or_not(version: str, token: str, status: Any) -> None:
    async with running(server_with_users()) as server:
        body = token_review(token, version=version, audiences=["api", "other"])
        code, response = await fetch(server, "/authenticate", body)
    assert (code, response["apiVersion"]) == (200, f"authentication.k8s.io/{version}")
    assert response["status"] == status


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b'{"kind":' + NO_TEXT + b"}",
        b'{"x":' + DEEP + b"}",
        token_review(""),
        {**token_review("ann"), "kind": "Other"},
    ],
    ids=["syntax", "no text", "deep", "no token", "kind"],
)
async def test_a_body_that_is_no_review_is_refused(body: Any) -> None:
    async with running(server_with_users()) as server:
        code, response = await fetch(server, "/authenticate", body)
    assert (code, response["status"]["authenticated"]) == (400, False)


async def test_a_path_is_for_one_thing() -> None:
    server = server_with_users()
    with pytest.raises(ValueError, match="/authenticate is already in use"):
        server.authenticating()
    server.register_validator(Network, Validator(), path="/authenticate")
    with pytest.raises(ValueError, match="/authenticate is registered twice"):
        await server.run()
