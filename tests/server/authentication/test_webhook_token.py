"""Webhook tokens: reviews over HTTPS, and slow, unreachable or broken webhooks."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml

from sampan.registry.reader import CacheReader
from sampan.registry.webhook.client import HttpsWebhook, WebhookError
from sampan.registry.webhook.kubeconfig import read_webhook_kubeconfig
from sampan.registry.webhook.retry import TRIES
from sampan.registry.webhook.services import ServiceResolver
from sampan.server.authentication import webhook_token
from sampan.server.authentication.authenticator import TokenError
from sampan.server.authentication.webhook_token import WebhookTokens, WebhookTokenSettings
from tests.server.authentication.https_server import HttpsServer, https_server

JANE = {"authenticated": True, "user": {"username": "jane", "uid": "7", "groups": ["dev"], "extra": {"a": ["b"]}}}
SETTINGS = WebhookTokenSettings(api_audiences=("api",), timeout_s=0.2)


class FakeWebhook:
    """Answers in the process; `waits` holds what was slept."""

    def __init__(self, *responses: Any) -> None:
        self.responses = list(responses)
        self.requested: list[Any] = []
        self.waits: list[float] = []
        self.seconds = 0.0

    async def post(self, body: bytes, timeout_s: float) -> bytes:
        """As `Webhook.post`; the last answer is given again and again."""
        self.requested.append(orjson.loads(body))
        response = self.responses.pop(0) if len(self.responses) > 1 else self.responses[0]
        if isinstance(response, Exception):
            raise response
        return response if isinstance(response, bytes) else review(response)

    async def sleep(self, seconds: float) -> None:
        """Takes no time."""
        self.waits.append(seconds)

    def tokens(self, settings: WebhookTokenSettings = SETTINGS) -> WebhookTokens:
        """Return an authenticator for the webhook."""
        return WebhookTokens(self, settings, now=lambda: self.seconds, sleep=self.sleep)


def review(status: Any, version: str = "v1") -> bytes:
    """A review with this status."""
    return orjson.dumps({"kind": "TokenReview", "apiVersion": f"authentication.k8s.io/{version}", "status": status})


async def fault(tokens: WebhookTokens) -> str:
    """Return the error for a token."""
    with pytest.raises(TokenError) as caught:
        await tokens.authenticate_token("t0ken")
    return str(caught.value)


async def endless(seconds: float) -> None:
    """A wait that only ends by being cancelled."""
    await asyncio.Event().wait()


async def test_the_webhook_returns_the_user() -> None:
    webhook = FakeWebhook(JANE)
    found = await webhook.tokens().authenticate_token("t0ken")
    assert found is not None
    user = found.user
    assert (user.name, user.uid, user.groups, user.extra) == ("jane", "7", ("dev",), {"a": ("b",)})
    assert found.audiences == ("api",)
    assert webhook.requested[0]["spec"] == {"token": "t0ken", "audiences": ["api"]}


async def test_responses_are_cached() -> None:
    webhook = FakeWebhook(JANE)
    tokens = webhook.tokens()
    for second in (0, 119, 121):
        webhook.seconds = second
        await tokens.authenticate_token("t0ken")
    assert len(webhook.requested) == 2


async def test_a_cached_response_is_for_its_token_and_audiences_alone() -> None:
    webhook = FakeWebhook(*({**JANE, "user": {"username": f"user-{n}"}, "audiences": ["api", "vault"]} for n in "abc"))
    tokens, found = webhook.tokens(), []
    for token, audiences in (("one", ("api",)), ("one", ("vault",)), ("other", ("api",)), ("one", ("api",))):
        match = await tokens.authenticate_token(token, audiences)
        assert match is not None
        found.append((match.user.name, match.audiences))
    assert found == [("user-a", ("api",)), ("user-b", ("vault",)), ("user-c", ("api",)), ("user-a", ("api",))]


async def test_an_unknown_token_has_no_user() -> None:
    assert await FakeWebhook({"authenticated": False}).tokens().authenticate_token("t0ken") is None
    assert await fault(FakeWebhook({"error": "revoked"}).tokens()) == "revoked"


async def test_a_token_for_another_audience_has_no_user() -> None:
    assert await FakeWebhook({**JANE, "audiences": ["vault"]}).tokens().authenticate_token("t0ken") is None


async def test_temporary_failures_are_retried() -> None:
    broken = WebhookError("busy", may_pass=True)
    webhook = FakeWebhook(broken, broken, JANE)
    assert await webhook.tokens().authenticate_token("t0ken") is not None
    assert [wait / least for wait, least in zip(webhook.waits, (0.5, 0.75), strict=True)] == [
        pytest.approx(1.1, abs=0.1)
    ] * 2


async def test_a_failure_of_the_webhook_is_not_cached() -> None:
    webhook = FakeWebhook(WebhookError("busy", may_pass=True))
    tokens = webhook.tokens()
    assert await fault(tokens) == "busy"
    assert len(webhook.requested) == TRIES
    await fault(tokens)
    assert len(webhook.requested) == 2 * TRIES


@pytest.mark.parametrize(
    "response",
    [
        b"nonsense",
        b"[]",
        b'{"kind":"Pod"}',
        review(JANE, "v1beta1"),
        review({"authenticated": True, "user": {"groups": 7}}),
        review({"authenticated": "true", "user": {"username": "x"}}),
    ],
    ids=["no JSON", "a list", "another kind", "another version", "groups that are none", "a text is no truth"],
)
async def test_an_invalid_response_authenticates_no_user(response: bytes) -> None:
    assert await fault(FakeWebhook(response).tokens())


async def test_a_response_without_authenticated_is_a_refusal() -> None:
    for response in (review({"user": {"username": "x"}}), b'{"kind":"TokenReview"}'):
        assert await FakeWebhook(response).tokens().authenticate_token("t0ken") is None


async def test_all_attempts_together_take_at_most_half_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhook_token, "LOOKUP_S", 0.01)
    webhook = FakeWebhook(WebhookError("busy", may_pass=True))
    tokens = WebhookTokens(webhook, SETTINGS, sleep=endless)
    assert (await fault(tokens), len(webhook.requested)) == ("context deadline exceeded", 1)


async def test_a_webhook_with_an_old_version_gets_reviews_of_that_version() -> None:
    webhook = FakeWebhook(review(JANE, "v1beta1"))
    assert await webhook.tokens(WebhookTokenSettings("v1beta1")).authenticate_token("t0ken") is not None
    assert webhook.requested[0]["apiVersion"] == "authentication.k8s.io/v1beta1"


def kubeconfig(folder: Path, server: HttpsServer) -> Path:
    """Return a kubeconfig file for the webhook."""
    file = folder / "webhook.kubeconfig"
    (folder / "ca.crt").write_text(server.ca_pem)
    config = {
        "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "w", "user": "u"}}],
        "clusters": [{"name": "w", "cluster": {"server": f"{server.url}/check", "certificate-authority": "ca.crt"}}],
        "users": [{"name": "u", "user": {"token": "server-token"}}],
    }
    file.write_text(yaml.safe_dump(config))
    return file


@contextmanager
def over_https(file: Path, timeout_s: float = 30.0) -> Iterator[WebhookTokens]:
    """Return an authenticator for the webhook of a kubeconfig."""
    target, credentials = read_webhook_kubeconfig(file)
    webhook = HttpsWebhook(target, ServiceResolver(NOTHING), credentials)
    yield WebhookTokens(webhook, WebhookTokenSettings(api_audiences=("api",), timeout_s=timeout_s))
    webhook.close()


class _Nothing(CacheReader):
    """A cluster without objects."""

    def __init__(self) -> None:
        pass


NOTHING = _Nothing()


async def test_the_webhook_of_a_kubeconfig_is_requested_over_https(tmp_path: Path) -> None:
    async def response(path: str, body: bytes) -> tuple[int, bytes]:
        return 200, review(JANE)

    async with https_server(tmp_path, response) as server:
        with over_https(kubeconfig(tmp_path, server)) as tokens:
            assert await tokens.authenticate_token("t0ken") is not None
        assert server.requested == ["/check?timeout=30s"]
        assert b"Authorization: Bearer server-token" in server.heads[0]


async def test_a_slow_webhook_authenticates_no_user(tmp_path: Path) -> None:
    async def response(path: str, body: bytes) -> tuple[int, bytes]:
        await asyncio.Event().wait()
        return 200, b""

    async with https_server(tmp_path, response) as server:
        with over_https(kubeconfig(tmp_path, server), timeout_s=0.2) as tokens:
            text = await fault(tokens)
        assert "context deadline exceeded" in text
        assert "t0ken" not in text


async def test_an_unreachable_webhook_authenticates_no_user(tmp_path: Path) -> None:
    server = HttpsServer("https://127.0.0.1:1", "")
    with over_https(kubeconfig(tmp_path, server)) as tokens:
        assert "connection refused" in await fault(tokens)
