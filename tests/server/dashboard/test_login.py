"""Logins, the session's cookie, logout and expiry."""

import base64
import json
import logging
from collections.abc import Callable
from typing import Any

import pytest

from sampan.core.clock import unix_time
from sampan.server.dashboard import sessions
from sampan.server.dashboard.login import expiry_of
from tests.server.cluster import Api
from tests.server.dashboard.browser import ADMIN, COOKIE, PAGE, SESSION, Browser, header

USERS = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
REVIEW = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}


async def user_of(browser: Browser) -> tuple[int, str]:
    """Return the code of a request, and the user that the server takes the browser for."""
    reply = await browser.fetch("POST", USERS, REVIEW)
    return reply.code, reply.body["status"]["userInfo"]["username"] if reply.code == 201 else ""


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Return a function that lets seconds pass for sessions and links."""
    passed = [0.0]

    def now() -> float:
        return unix_time() + passed[0]

    for module in ("sessions", "links"):
        monkeypatch.setattr(f"sampan.server.dashboard.{module}.unix_time", now)
    return lambda seconds: passed.append(passed.pop() + seconds)


async def test_without_a_session_the_page_gets_the_ways_to_log_in(browser: Browser) -> None:
    reply = await browser.get(SESSION)
    assert (reply.code, reply.body) == (401, {"logins": ["token"]})


async def test_a_token_begins_a_session_of_its_user(browser: Browser) -> None:
    reply = await browser.fetch("POST", SESSION, {"token": " jane-token\n"})
    assert reply.code == 201
    assert reply.body["user"] == {"username": "jane", "groups": ["devs", "system:authenticated"]}
    assert await user_of(browser) == (201, "jane")
    assert (await browser.get(SESSION)).body["user"]["username"] == "jane"


async def test_the_cookie_is_for_this_origin_and_no_script(browser: Browser) -> None:
    reply = await browser.fetch("POST", SESSION, {"token": "jane-token"})
    name, *attributes = header(reply, "set-cookie").split("; ")
    assert name.startswith(f"{COOKIE}=")
    assert len(browser.value) == 43
    assert attributes == ["Path=/", "Secure", "HttpOnly", "SameSite=Strict", "Max-Age=43200"]
    assert header(reply, "cache-control") == "no-store"


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"token": "wrong"}, 401),
        ({"token": ""}, 401),
        ({"token": "jane-token\r\nX-Remote-User: root"}, 401),
        ({"token": "ä"}, 401),
        ({"link": "wrong"}, 401),
        ({"certificate": True}, 401),
        ({"certificate": False}, 400),
        ({"token": "jane-token", "link": "x"}, 400),
        ({}, 400),
        ([], 400),
        (b"{", 400),
    ],
    ids=str,
)
async def test_a_wrong_login_begins_no_session(api: Api, browser: Browser, body: Any, code: int) -> None:
    reply = await browser.fetch("POST", SESSION, body)
    assert (reply.code, browser.cookie, reply.body["kind"]) == (code, "", "Status")
    assert header(reply, "cache-control") == "no-store"
    assert api.server.dashboard is not None
    assert len(api.server.dashboard.sessions) == 0


async def test_a_large_body_is_refused(browser: Browser) -> None:
    assert (await browser.fetch("POST", SESSION, {"token": "x" * 70_000})).code == 413


async def test_a_link_logs_in_once(api: Api, browser: Browser) -> None:
    assert api.server.dashboard is not None
    code = api.server.dashboard.links.create(ADMIN)
    assert (await browser.get(SESSION)).body == {"logins": ["token", "link"]}
    assert (await browser.fetch("POST", SESSION, {"link": code})).code == 201
    assert await user_of(browser) == (201, "admin")
    assert (await Browser(api).fetch("POST", SESSION, {"link": code})).code == 401


async def test_a_link_is_valid_for_ten_minutes(api: Api, browser: Browser, later: Callable[[float], None]) -> None:
    assert api.server.dashboard is not None
    code = api.server.dashboard.links.create(ADMIN)
    later(601)
    assert (await browser.fetch("POST", SESSION, {"link": code})).code == 401


async def test_old_links_make_room_for_new_ones(api: Api, browser: Browser) -> None:
    assert api.server.dashboard is not None
    codes = [api.server.dashboard.links.create(ADMIN) for _ in range(101)]
    assert (await browser.fetch("POST", SESSION, {"link": codes[0]})).code == 401
    assert (await browser.fetch("POST", SESSION, {"link": codes[1]})).code == 201


async def test_a_login_ends_the_session_before_it(api: Api, browser: Browser) -> None:
    await browser.log_in()
    first = browser.cookie
    await browser.log_in("master-token")
    assert browser.cookie != first
    assert (await api.fetch("GET", "/api", cookie=first, authorization="", **PAGE)).code == 401


async def test_a_cookie_from_before_the_login_is_never_adopted(browser: Browser) -> None:
    browser.cookie = planted = f"{COOKIE}={'a' * 43}"
    await browser.log_in()
    assert browser.cookie != planted
    browser.cookie = planted
    assert (await browser.get(SESSION)).code == 401


async def test_a_logout_ends_the_session_on_the_server(browser: Browser) -> None:
    await browser.log_in()
    before = browser.cookie
    reply = await browser.fetch("DELETE", SESSION)
    assert (reply.code, browser.value) == (204, "")
    browser.cookie = before
    assert await user_of(browser) == (401, "")


async def test_an_idle_session_ends(browser: Browser, later: Callable[[float], None]) -> None:
    await browser.log_in()
    later(3590)
    assert await user_of(browser) == (201, "jane")
    later(3590)
    assert await user_of(browser) == (201, "jane")
    later(3600)
    assert await user_of(browser) == (401, "")


async def test_requests_of_an_unused_page_keep_no_session(browser: Browser, later: Callable[[float], None]) -> None:
    await browser.log_in()
    later(3000)
    assert (await browser.get(SESSION, **PAGE, x_sampan_background="1")).code == 200
    later(601)
    assert await user_of(browser) == (401, "")


async def test_a_session_ends_even_if_it_is_used_all_the_time(browser: Browser, later: Callable[[float], None]) -> None:
    await browser.log_in()
    for _ in range(12):
        assert await user_of(browser) == (201, "jane")
        later(3599)
    later(12)
    assert await user_of(browser) == (401, "")


async def test_the_page_gets_when_its_session_ends(browser: Browser) -> None:
    await browser.log_in()
    body = (await browser.get(SESSION)).body
    assert body["idleExpires"] < body["expires"]
    assert body["server"]["version"].startswith("v1.")


def jwt(claims: object) -> str:
    """Return a token with these claims, and without a signature."""
    parts = ({"alg": "none"}, claims)
    return ".".join(base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts) + "."


@pytest.mark.parametrize(
    ("token", "expiry"),
    [
        (jwt({"exp": 1234}), 1234.0),
        (jwt({"exp": "soon"}), None),
        (jwt([]), None),
        (jwt({}), None),
        ("opaque", None),
        ("a.!.c", None),
        ("a.YQ.c", None),
    ],
    ids=["expires", "text", "no object", "no claim", "no JWT", "no base64", "no JSON"],
)
def test_a_session_ends_no_later_than_its_token(token: str, expiry: float | None) -> None:
    assert expiry_of(token) == expiry


async def test_a_user_has_a_bounded_number_of_sessions(api: Api) -> None:
    first = await Browser(api).log_in()
    for _ in range(sessions.SESSIONS_OF_USER_MAX):
        await Browser(api).log_in()
    assert await user_of(first) == (401, "")
    assert api.server.dashboard is not None
    assert len(api.server.dashboard.sessions) == sessions.SESSIONS_OF_USER_MAX


async def test_a_server_has_a_bounded_number_of_sessions(
    api: Api, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "SESSIONS_MAX", 1)
    await Browser(api).log_in()
    reply = await browser.fetch("POST", SESSION, {"token": "master-token"})
    assert (reply.code, header(reply, "retry-after")) == (429, "60")


async def test_logs_have_neither_tokens_nor_cookies(
    api: Api, browser: Browser, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    await browser.log_in()
    await browser.fetch("POST", SESSION, {"token": "secret-token"})
    assert api.server.dashboard is not None
    code = api.server.dashboard.links.create(ADMIN)
    await browser.fetch("POST", SESSION, {"link": code})
    await browser.fetch("DELETE", SESSION)
    text = "\n".join(f"{record.getMessage()} {record.__dict__}" for record in caplog.records)
    assert "session began" in text
    assert "'user': 'jane'" in text
    for secret in ("jane-token", "secret-token", code, browser.value or "no value"):
        assert secret not in text
    shown = repr([each.credentials for each in api.server.dashboard.sessions.all()])
    assert "token" not in shown.replace("token=", "")
