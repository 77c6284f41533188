"""Metrics of tokens, issuers, authorizers and reloads of their configurations."""

from pathlib import Path
from typing import Any

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from sampan.app.access.authorization import ConfiguredAuthorizer
from sampan.core.errors import StatusError
from sampan.core.field import Path as FieldPath
from sampan.registry.webhook.client import WebhookError
from sampan.server.authentication.authenticator import TokenError, TokenUser
from sampan.server.authentication.bearer_token import BearerTokenAuthenticator
from sampan.server.authentication.jwt.configuration import parse_configuration
from sampan.server.authentication.jwt.configured import ConfiguredIssuers, IssuerRules
from sampan.server.authorization.always import AlwaysAllow
from sampan.server.authorization.authorizer import Decision
from sampan.server.authorization.webhook.authorizer import WebhookAuthorizer, WebhookRules
from sampan.server.authorization.webhook.conditions import ConditionCompiler, MatchConditions
from sampan.server.instruments.reloads import hash_of
from sampan.server.metrics.security import SecurityMetrics
from sampan.server.request import RequestInfo, UserInfo
from tests.server.authentication.test_authenticators import Clock, request_with
from tests.server.authentication.test_jwt_issuers import fault, issuing, known

ALICE = UserInfo("alice")
GET = RequestInfo("/api/v1/pods/p", is_resource=True, verb="get", version="v1", resource="pods", name="p")


def shown(metrics: SecurityMetrics, prefix: str) -> dict[str, float]:
    """The samples of a page whose names begin so, without it; but for times and those that are zero."""
    registry = CollectorRegistry()
    registry.register(metrics)
    lines = [line for line in generate_latest(registry).decode().splitlines() if line.startswith(prefix)]
    pairs = [line.removeprefix(prefix).rpartition(" ")[::2] for line in lines]
    left_out = ("_bucket", "_sum", "timestamp")
    return {name: float(value) for name, value in pairs if float(value) and not any(o in name for o in left_out)}


class Tokens:
    """Token authenticator that accepts `good`, refuses `bad` with an error, and does not have other tokens."""

    cacheable = True

    async def authenticate_token(self, token: str, audiences: tuple[str, ...] = ()) -> TokenUser | None:
        """See `TokenAuthenticator`."""
        if token == "bad":
            raise TokenError("it is bad")
        return TokenUser(ALICE) if token == "good" else None


async def test_the_token_cache_counts_hits_and_misses() -> None:
    metrics, clock = SecurityMetrics(), Clock(0.0)
    bearer = BearerTokenAuthenticator([Tokens()], clock, metrics.tokens)
    await bearer.authenticate(request_with("Bearer good"))
    for _ in range(2):
        assert bearer.recall(request_with("Bearer good"))
    for token in ("bad", "unknown"):
        with pytest.raises(StatusError):
            await bearer.authenticate(request_with(f"Bearer {token}"))
    assert shown(metrics, "authentication_token_cache_") == {
        'fetch_total{status="ok"}': 2,
        'fetch_total{status="error"}': 1,
        'request_total{status="hit"}': 2,
        'request_total{status="miss"}': 3,
        'request_duration_seconds_count{status="hit"}': 2,
        'request_duration_seconds_count{status="miss"}': 3,
    }


async def test_issuers_are_measured_under_their_hash(tmp_path: Path) -> None:
    async with issuing(tmp_path) as issuer:
        metrics = SecurityMetrics("server-1")
        rules = IssuerRules(keys=issuer.keys, metrics=metrics.issuers)
        file = tmp_path / "config.yaml"
        file.write_bytes(issuer.configuration())
        reloads = metrics.authentication_config
        issuers = ConfiguredIssuers(parse_configuration(issuer.configuration()), rules, file=file, reloads=reloads)
        await issuers.poll()
        await known(issuers, issuer.token())
        await fault(issuers, issuer.token(exp=1))
        own, server = f'jwt_issuer_hash="{hash_of(issuer.server.url)}"', f'apiserver_id_hash="{hash_of("server-1")}"'
        found = shown(metrics, "apiserver_authentication_jwt_authenticator_")
        keys = [name for name in found if name.startswith("jwks_fetch_last_key_set_info")]
        assert [name.startswith(f"jwks_fetch_last_key_set_info{{{server},hash=") or own in name for name in keys] == [
            True
        ]
        assert found == {
            f'latency_seconds_count{{{own},result="success"}}': 1,
            f'latency_seconds_count{{{own},result="failure"}}': 1,
            keys[0]: 1,
        }
        assert shown(metrics, "apiserver_authentication_config_controller_") == {
            f'last_config_info{{{server},hash="{hash_of(issuer.configuration())}"}}': 1
        }
        changed = issuer.configuration({"username": {"claim": "sub", "prefix": "new:"}})
        for content in (b"{", changed):
            file.write_bytes(content)
            await issuers.poll()
        assert shown(metrics, "apiserver_authentication_config_controller_") == {
            f'automatic_reloads_total{{{server},status="failure"}}': 1,
            f'automatic_reloads_total{{{server},status="success"}}': 1,
            f'last_config_info{{{server},hash="{hash_of(changed)}"}}': 1,
        }


def test_the_configuration_of_authorizers_is_counted_too(tmp_path: Path) -> None:
    def make(content: bytes) -> list[Any]:
        if content == b"bad":
            raise ValueError("bad")
        return [AlwaysAllow()]

    metrics, file = SecurityMetrics("s"), tmp_path / "authz.yaml"
    file.write_bytes(b"one")
    authorizer = ConfiguredAuthorizer(file, make, metrics.authorization_config)
    for content in (b"bad", b"two"):
        file.write_bytes(content)
        authorizer.reload()
    server = f'apiserver_id_hash="{hash_of("s")}"'
    assert shown(metrics, "apiserver_authorization_config_controller_") == {
        f'automatic_reloads_total{{{server},status="failure"}}': 1,
        f'automatic_reloads_total{{{server},status="success"}}': 1,
        f'last_config_info{{{server},hash="{hash_of("two")}"}}': 1,
    }


class Hook:
    """A webhook that answers with a status, or fails with a text."""

    def __init__(self, sent: str) -> None:
        self.sent = sent

    async def post(self, body: bytes, timeout_s: float) -> bytes:
        """See `Webhook`."""
        if not self.sent.startswith("{"):
            raise WebhookError(self.sent)
        return b'{"kind":"SubjectAccessReview","status":%b}' % self.sent.encode()

    def close(self) -> None:
        """Nothing is open."""


@pytest.mark.parametrize(
    ("sent", "result", "fails_open"),
    [
        ('{"allowed":true}', "success", False),
        ("connection refused", "error", True),
        ("context deadline exceeded", "timeout", True),
    ],
)
async def test_webhooks_are_measured(sent: str, result: str, fails_open: bool) -> None:
    metrics = SecurityMetrics()
    authorizer = WebhookAuthorizer(Hook(sent), WebhookRules("hook"), lambda: 0.0, metrics.authorization)
    await authorizer.authorize(ALICE, GET)
    labels = f'{{name="hook",result="{result}"}}'
    assert shown(metrics, "apiserver_authorization_webhook_") == {
        f"evaluations_total{labels}": 1,
        f"duration_seconds_count{labels}": 1,
    } | ({f"evaluations_fail_open_total{labels}": 1} if fails_open else {})


@pytest.mark.parametrize(
    ("condition", "counted"),
    [
        ("request.user == 'alice'", {}),
        ("request.user == 'bob'", {"exclusions_total": 1}),
        ("request.nonResourceAttributes.path == 'x'", {"evaluation_errors_total": 1}),
    ],
)
async def test_match_conditions_are_measured(condition: str, counted: dict[str, float]) -> None:
    metrics = SecurityMetrics()
    program: Any = ConditionCompiler().compile(condition, FieldPath("expression"))
    rules = WebhookRules("hook", on_error=Decision.DENY, conditions=MatchConditions([program]))
    await WebhookAuthorizer(Hook('{"allowed":true}'), rules, lambda: 0.0, metrics.authorization).authorize(ALICE, GET)
    labels = '{name="hook",type="Webhook"}'
    assert shown(metrics, "apiserver_authorization_match_condition_") == {
        f"evaluation_seconds_count{labels}": 1,
        **{f"{name}{labels}": count for name, count in counted.items()},
    }
