"""Login at an issuer on loopback, and attacks against it."""

import base64
import hashlib
import logging
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

import orjson
import pytest

from sampan.core.clock import unix_time
from sampan.server.authentication.token_service import TokenService
from sampan.server.dashboard.oidc import OidcIssuer, safe_path
from sampan.server.dashboard.sessions import Session, Sessions
from sampan.server.dashboard.settings import DashboardSettings
from tests.server.authentication.https_server import https_server
from tests.server.authentication.test_jwt_issuers import FIRST, Issuer
from tests.server.cluster import Api, served
from tests.server.dashboard.browser import HOST, NAVIGATION, PAGE, SESSION, Browser, header

BEGIN = "/dashboard/login/oidc"
CALLBACK = f"{BEGIN}/callback"
BACK = {"host": HOST, "sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate"}
FAILED = "/dashboard/login?error=oidc"


@dataclass
class Provider:
    """Issuer with an authorization and a token endpoint, and the server that trusts it."""

    issuer: Issuer
    api: Api
    claims: dict[str, Any] = field(default_factory=dict)
    """Claims of the id token besides the usual ones."""
    forms: list[dict[str, str]] = field(default_factory=list)
    challenge: str = ""
    refresh_token: str = ""
    """Sent with each id token; empty: the issuer renews none."""

    async def begin(self, browser: Browser, back: str = "/dashboard/pods") -> tuple[str, dict[str, str]]:
        """Begin a login. Return the browser's cookie for it, and the query at the issuer."""
        reply = await browser.get(f"{BEGIN}?return={back}", **NAVIGATION)
        assert reply.code == 303, reply.body
        location = header(reply, "location")
        assert location.startswith(f"{self.issuer.server.url}/authorize?")
        query = {name: values[0] for name, values in parse_qs(urlsplit(location).query).items()}
        self.challenge = query["code_challenge"]
        self.claims.setdefault("nonce", query["nonce"])
        return browser.cookie, query

    def tokens(self) -> bytes:
        """Return the response of the token endpoint."""
        more = {"refresh_token": self.refresh_token} if self.refresh_token else {}
        return orjson.dumps({"id_token": self.issuer.token(FIRST, "1", **self.claims), "token_type": "Bearer", **more})

    def renewed(self, form: dict[str, str]) -> tuple[int, bytes]:
        """Return new tokens for the last refresh token; the next one is another one."""
        if form["refresh_token"] != self.refresh_token:
            return 400, b'{"error":"invalid_grant"}'
        self.refresh_token += "+"
        self.claims |= {"exp": int(unix_time()) + 7200}
        return 200, self.tokens()


@pytest.fixture
async def provider(tmp_path: Path) -> AsyncIterator[Provider]:
    """Run an issuer, and a server with a dashboard that trusts it."""
    jwks: list[dict[str, Any]] = []

    async def response(path: str, body: bytes) -> tuple[int, bytes]:
        url = server.url
        if path == "/.well-known/openid-configuration":
            endpoints = {"authorization_endpoint": f"{url}/authorize", "token_endpoint": f"{url}/token"}
            return 200, orjson.dumps({"issuer": url, "jwks_uri": f"{url}/keys", **endpoints})
        if path == "/keys":
            return 200, orjson.dumps({"keys": jwks})
        if path != "/token":
            return 404, b""
        form = dict(parse_qsl(body.decode()))
        made.forms.append(form)
        if form["grant_type"] == "refresh_token":
            return made.renewed(form)
        digest = hashlib.sha256(form["code_verifier"].encode()).digest()
        if base64.urlsafe_b64encode(digest).decode().rstrip("=") != made.challenge or form["code"] != "good":
            return 400, b'{"error":"invalid_grant"}'
        return 200, made.tokens()

    async with https_server(tmp_path, response) as server:
        issuer = Issuer(server, jwks)
        issuer.publish(("1", FIRST))
        tokens = await issuer.believers()
        login = OidcIssuer(server.url, "sampan", server.ca_pem, client_secret="s3cret")
        settings = DashboardSettings()
        async with served(identity=lambda cluster: TokenService([tokens]), dashboard=settings, issuer=login) as api:
            made = Provider(issuer, api)
            yield made


@pytest.fixture
def browser(provider: Provider) -> Browser:
    """Return a browser without a session."""
    return Browser(provider.api)


async def test_a_login_at_the_issuer_begins_a_session(provider: Provider, browser: Browser) -> None:
    assert (await browser.get(SESSION)).body == {"logins": ["token", "oidc"]}
    cookie, query = await provider.begin(browser)
    assert cookie.startswith("__Host-sampan-login=")
    assert (query["response_type"], query["code_challenge_method"], query["client_id"]) == ("code", "S256", "sampan")
    assert query["redirect_uri"] == f"https://{HOST}{CALLBACK}"
    reply = await browser.get(f"{CALLBACK}?code=good&state={query['state']}", **BACK)
    assert (reply.code, header(reply, "location")) == (303, "/dashboard/pods")
    first, second = [value.decode() for name, value in reply.response.headers if name == b"Set-Cookie"]
    assert second.startswith("__Host-sampan-login=; ")
    browser.cookie = first.partition(";")[0]
    body = (await browser.get(SESSION, **PAGE)).body
    assert body["user"]["username"] == "oidc:jane"
    assert provider.forms[0]["client_secret"] == "s3cret"


async def logged_in(provider: Provider, browser: Browser) -> Session:
    """Log in with an id token of five minutes and a refresh token. Return the session of the server."""
    provider.refresh_token = "first"
    provider.claims["exp"] = int(unix_time()) + 300
    _, query = await provider.begin(browser)
    reply = await browser.get(f"{CALLBACK}?code=good&state={query['state']}", **BACK)
    cookies = [value.decode() for name, value in reply.response.headers if name == b"Set-Cookie"]
    browser.cookie = cookies[0].partition(";")[0]
    assert "Max-Age=43200" in cookies[0]
    [session] = sessions_of(provider).all()
    return session


def sessions_of(provider: Provider) -> Sessions:
    dashboard = provider.api.server.dashboard
    assert dashboard is not None
    return dashboard.sessions


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Return a function that lets seconds pass for the sessions."""
    began, passed = unix_time(), [0.0]
    monkeypatch.setattr("sampan.server.dashboard.sessions.unix_time", lambda: began + passed[0])
    return lambda seconds: passed.append(passed.pop() + seconds)


async def test_a_session_is_renewed_shortly_before_its_token_expires(
    provider: Provider, browser: Browser, later: Callable[[float], None]
) -> None:
    session = await logged_in(provider, browser)
    before = session.expires
    await sessions_of(provider).renew_due()
    assert [form["grant_type"] for form in provider.forms] == ["authorization_code"]
    later(250)
    await sessions_of(provider).renew_due()
    assert provider.forms[1]["refresh_token"] == "first"
    assert session.credentials.refresh_token == "first+"
    assert session.expires >= before + 6000
    assert (await browser.get(SESSION, **PAGE)).body["user"]["username"] == "oidc:jane"


async def test_a_renewal_that_the_issuer_refuses_leaves_the_session_until_its_token_expires(
    provider: Provider, browser: Browser, later: Callable[[float], None]
) -> None:
    session = await logged_in(provider, browser)
    provider.refresh_token = "revoked"
    later(250)
    await sessions_of(provider).renew_due()
    await sessions_of(provider).renew_due()
    assert len(provider.forms) == 2
    assert (await browser.get(SESSION, **PAGE)).code == 200
    later(51)
    assert (await browser.get(SESSION, **PAGE)).code == 401
    assert session.ended


async def test_a_renewed_token_of_another_subject_is_refused(
    provider: Provider, browser: Browser, later: Callable[[float], None]
) -> None:
    session = await logged_in(provider, browser)
    provider.claims["sub"] = "mallory"
    later(250)
    await sessions_of(provider).renew_due()
    assert (session.user.name, session.credentials.refresh_token) == ("oidc:jane", "")


async def test_an_idle_session_is_not_renewed(
    provider: Provider, browser: Browser, later: Callable[[float], None]
) -> None:
    session = await logged_in(provider, browser)
    session.set_expiry(session.ends)
    later(3601)
    await sessions_of(provider).renew_due()
    assert session.ended
    assert len(provider.forms) == 1


async def test_the_cookie_of_a_login_returns_from_the_issuer(provider: Provider, browser: Browser) -> None:
    reply = await browser.get(BEGIN, **NAVIGATION)
    attributes = header(reply, "set-cookie").split("; ")[1:]
    assert attributes == ["Path=/", "Secure", "HttpOnly", "SameSite=Lax", "Max-Age=600"]


async def failed(browser: Browser, target: str) -> bool:
    """Return True if a callback begins no session."""
    before = browser.cookie
    reply = await browser.get(target, **BACK)
    assert (reply.code, header(reply, "location"), header(reply, "set-cookie")) == (303, FAILED, "")
    assert browser.cookie == before
    return True


async def test_another_browser_cannot_end_a_login(provider: Provider, browser: Browser) -> None:
    _, query = await provider.begin(browser)
    assert await failed(Browser(provider.api), f"{CALLBACK}?code=good&state={query['state']}")


async def test_a_browser_cannot_end_the_login_of_an_attacker(provider: Provider, browser: Browser) -> None:
    _, query = await provider.begin(Browser(provider.api))
    await provider.begin(browser)
    assert await failed(browser, f"{CALLBACK}?code=good&state={query['state']}")


async def test_a_state_is_valid_once(provider: Provider, browser: Browser) -> None:
    cookie, query = await provider.begin(browser)
    target = f"{CALLBACK}?code=good&state={query['state']}"
    assert header(await browser.get(target, **BACK), "location") == "/dashboard/pods"
    browser.cookie = cookie
    assert await failed(browser, target)


@pytest.mark.parametrize("more", ["code=bad", "error=access_denied", ""])
async def test_without_a_good_code_there_is_no_session(provider: Provider, browser: Browser, more: str) -> None:
    _, query = await provider.begin(browser)
    assert await failed(browser, f"{CALLBACK}?{more}&state={query['state']}")


@pytest.mark.parametrize("claims", [{"nonce": "other"}, {"nonce": None}, {"aud": "other"}, {"exp": 1}], ids=str)
async def test_an_id_token_of_another_login_is_refused(
    provider: Provider, browser: Browser, claims: dict[str, Any]
) -> None:
    provider.claims.update(claims)
    _, query = await provider.begin(browser)
    assert await failed(browser, f"{CALLBACK}?code=good&state={query['state']}")


async def test_a_code_of_another_login_fails_at_the_issuer(provider: Provider, browser: Browser) -> None:
    _, query = await provider.begin(browser)
    provider.challenge = "of the attacker"
    assert await failed(browser, f"{CALLBACK}?code=good&state={query['state']}")


@pytest.mark.parametrize(
    ("back", "path"),
    [
        ("/dashboard/pods?a=b", "/dashboard/pods?a=b"),
        ("https://evil.example/", "/dashboard/"),
        ("//evil.example/dashboard/", "/dashboard/"),
        ("/dashboard//evil.example", "/dashboard/"),
        ("/dashboard/\\evil.example", "/dashboard/"),
        ("/dashboard/../api", "/dashboard/"),
        ("/dashboard/\r\nSet-Cookie: a=b", "/dashboard/"),
        ("/dashboardx", "/dashboard/"),
        ("javascript:alert(1)", "/dashboard/"),
        ("", "/dashboard/"),
    ],
)
def test_a_login_returns_to_the_page_only(back: str, path: str) -> None:
    assert safe_path(back) == path


async def test_the_log_has_no_codes(provider: Provider, browser: Browser, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    _, query = await provider.begin(browser)
    await browser.get(f"{CALLBACK}?code=bad-code&state={query['state']}", **BACK)
    text = "\n".join(f"{record.getMessage()} {record.__dict__}" for record in caplog.records)
    assert "login by OIDC failed" in text
    for secret in ("bad-code", query["state"], "s3cret"):
        assert secret not in text
