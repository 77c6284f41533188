"""The webhook authorizer: what it sends, what it makes of answers, and what it remembers."""

import asyncio
from collections.abc import Callable
from typing import Any

import orjson
import pytest

from sampan.core.field import Path
from sampan.registry.webhook.client import WebhookError
from sampan.schema.cel import Program
from sampan.server.authorization.authorizer import Decision, Verdict
from sampan.server.authorization.webhook.authorizer import WebhookAuthorizer, WebhookRules
from sampan.server.authorization.webhook.conditions import ConditionCompiler, MatchConditions
from sampan.server.request import RequestInfo, UserInfo

JANE = UserInfo("jane", "u-1", ("devs",), {"team": ("red", "blue")})
PODS = RequestInfo("", "list", True, "", "v1", "east", "pods", field_selector="spec.nodeName=n1,status.phase!=Failed")


class FakeWebhook:
    """Answers with `status`, after `faults`; `waits` holds what was slept."""

    def __init__(self, status: Any = None) -> None:
        self.requested: list[Any] = []
        self.status: Any = {"allowed": True} if status is None else status
        self.response: Callable[[Any], bytes] = orjson.dumps
        self.faults: list[WebhookError] = []
        self.waits: list[float] = []

    async def post(self, body: bytes, timeout_s: float) -> bytes:
        """As `Webhook.post`."""
        review = orjson.loads(body)
        self.requested.append(review)
        if self.faults:
            raise self.faults.pop(0)
        return self.response({**review, "status": self.status})

    async def sleep(self, seconds: float) -> None:
        """Takes no time."""
        self.waits.append(seconds)


class Clock:
    """Seconds that a test moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def conditions(*expressions: str) -> MatchConditions:
    """Compiled conditions."""
    compiler, programs = ConditionCompiler(), []
    for expression in expressions:
        program = compiler.compile(expression, Path("x"))
        assert isinstance(program, Program), program
        programs.append(program)
    return MatchConditions(programs)


def authorizer(webhook: FakeWebhook, clock: Clock | None = None, **rules: Any) -> WebhookAuthorizer:
    """Return an authorizer for `webhook`."""
    return WebhookAuthorizer(webhook, WebhookRules("w", **rules), clock or Clock(), sleep=webhook.sleep)


async def endless(seconds: float) -> None:
    """A wait that only ends by being cancelled."""
    await asyncio.Event().wait()


async def test_a_review_contains_user_and_request() -> None:
    webhook = FakeWebhook()
    await authorizer(webhook).authorize(JANE, PODS)
    assert webhook.requested[0]["apiVersion"] == "authorization.k8s.io/v1"
    assert webhook.requested[0]["spec"] == {
        "resourceAttributes": {
            "namespace": "east",
            "verb": "list",
            "version": "v1",
            "resource": "pods",
            "fieldSelector": {
                "requirements": [
                    {"key": "spec.nodeName", "operator": "In", "values": ["n1"]},
                    {"key": "status.phase", "operator": "NotIn", "values": ["Failed"]},
                ]
            },
        },
        "user": "jane",
        "groups": ["devs"],
        "extra": {"team": ["red", "blue"]},
        "uid": "u-1",
    }


async def test_the_old_version_has_the_field_group() -> None:
    webhook = FakeWebhook()
    await authorizer(webhook, version="v1beta1").authorize(JANE, RequestInfo("/x", "get"))
    assert webhook.requested[0]["apiVersion"] == "authorization.k8s.io/v1beta1"
    spec = webhook.requested[0]["spec"]
    assert (spec["group"], spec["nonResourceAttributes"]) == (["devs"], {"path": "/x", "verb": "get"})


RESPONSES = [
    pytest.param({"allowed": True, "reason": "fine"}, Verdict(Decision.ALLOW, "fine"), id="allowed"),
    pytest.param({"allowed": False, "reason": "no"}, Verdict(Decision.NO_OPINION, "no"), id="not allowed"),
    pytest.param({"allowed": False, "denied": True}, Verdict(Decision.DENY), id="denied"),
    pytest.param(
        {"allowed": True, "denied": True},
        Verdict(Decision.DENY, "", "webhook subject access review returned both allow and deny response"),
        id="both",
    ),
    pytest.param({}, Verdict(Decision.NO_OPINION), id="nothing"),
]


@pytest.mark.parametrize(("status", "verdict"), RESPONSES)
async def test_the_status_of_the_review_decides(status: Any, verdict: Verdict) -> None:
    assert await authorizer(FakeWebhook(status)).authorize(JANE, PODS) == verdict


LIES: list[Any] = [
    pytest.param(lambda review: b"no JSON", id="no JSON"),
    pytest.param(lambda review: b"[]", id="a list"),
    pytest.param(lambda review: orjson.dumps({**review, "kind": "Pod"}), id="another kind"),
    pytest.param(lambda review: orjson.dumps({**review, "apiVersion": "authorization.k8s.io/v9"}), id="no version"),
    pytest.param(lambda review: orjson.dumps({**review, "status": {"allowed": "true"}}), id="a text is no truth"),
    pytest.param(lambda review: orjson.dumps({**review, "status": [True]}), id="a strange status"),
]


@pytest.mark.parametrize("lie", LIES)
@pytest.mark.parametrize("on_error", [Decision.DENY, Decision.NO_OPINION])
async def test_an_invalid_response_never_allows(lie: Callable[[Any], bytes], on_error: Decision) -> None:
    webhook = FakeWebhook()
    webhook.response = lie
    verdict = await authorizer(webhook, on_error=on_error).authorize(JANE, PODS)
    assert (verdict.decision, bool(verdict.error)) == (on_error, True)


@pytest.mark.parametrize("on_error", [Decision.DENY, Decision.NO_OPINION])
async def test_the_failure_policy_applies_to_an_unreachable_webhook(on_error: Decision) -> None:
    webhook = FakeWebhook()
    webhook.faults = [WebhookError("connection refused")]
    calling = authorizer(webhook, on_error=on_error)
    assert await calling.authorize(JANE, PODS) == Verdict(on_error, "", "connection refused")
    assert (await calling.authorize(JANE, PODS)).decision is Decision.ALLOW


async def test_a_response_without_kind_is_accepted() -> None:
    webhook = FakeWebhook()
    webhook.response = lambda review: b'{"status":{"allowed":true}}'
    assert (await authorizer(webhook).authorize(JANE, PODS)).decision is Decision.ALLOW


async def test_temporary_failures_are_retried_with_growing_delays() -> None:
    webhook = FakeWebhook()
    webhook.faults = [WebhookError("busy", may_pass=True) for _ in range(4)]
    assert (await authorizer(webhook).authorize(JANE, PODS)).decision is Decision.ALLOW
    least = (0.5, 0.75, 1.125, 1.6875)
    assert [wait / desired for wait, desired in zip(webhook.waits, least, strict=True)] == [
        pytest.approx(1.1, abs=0.1)
    ] * 4


async def test_the_fifth_failure_is_final() -> None:
    webhook = FakeWebhook()
    webhook.faults = [WebhookError(f"busy {number}", may_pass=True) for number in range(6)]
    verdict = await authorizer(webhook).authorize(JANE, PODS)
    assert (verdict, len(webhook.requested)) == (Verdict(Decision.NO_OPINION, "", "busy 4"), 5)


async def test_cancellation_ends_the_retries() -> None:
    webhook = FakeWebhook()
    webhook.faults = [WebhookError("busy", may_pass=True) for _ in range(4)]
    calling = WebhookAuthorizer(webhook, WebhookRules("w"), Clock(), sleep=endless)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(calling.authorize(JANE, PODS), 0.01)
    assert len(webhook.requested) == 1


async def test_allowed_responses_are_cached_longer() -> None:
    webhook, clock = FakeWebhook(), Clock()
    calling = authorizer(webhook, clock)
    times = []
    for now in (0.0, 299.0, 301.0):
        clock.now = now
        await calling.authorize(JANE, PODS)
        times.append(len(webhook.requested))
    assert times == [1, 1, 2]
    webhook.status = {"allowed": False}
    for now in (1000.0, 1029.0, 1031.0):
        clock.now = now
        await calling.authorize(JANE, PODS)
        times.append(len(webhook.requested))
    assert times[3:] == [3, 3, 4]


async def test_another_request_is_not_served_from_the_cache() -> None:
    webhook = FakeWebhook()
    calling = authorizer(webhook)
    for user in (JANE, UserInfo("jane"), UserInfo("jane", groups=("devs",))):
        await calling.authorize(user, PODS)
    assert len(webhook.requested) == 3


MATCHES = [
    pytest.param(["request.user == 'jane'"], True, id="user"),
    pytest.param(["'devs' in request.groups", "request.resourceAttributes.resource == 'nodes'"], False, id="one no"),
    pytest.param(["has(request.resourceAttributes)", "request.resourceAttributes.group == ''"], True, id="empty text"),
    pytest.param(["request.extra['team'].exists(x, x == 'blue')"], True, id="extra"),
    pytest.param(["request.nonResourceAttributes.path == '/'", "request.user == 'joe'"], False, id="no beats error"),
    pytest.param(
        ["request.resourceAttributes.fieldSelector.requirements[0].values[0] == 'n1'"], True, id="field selector"
    ),
]


@pytest.mark.parametrize(("expressions", "requested"), MATCHES)
async def test_conditions_select_the_requests(expressions: list[str], requested: bool) -> None:
    webhook = FakeWebhook()
    verdict = await authorizer(webhook, conditions=conditions(*expressions)).authorize(JANE, PODS)
    assert bool(webhook.requested) is requested
    assert verdict.decision is (Decision.ALLOW if requested else Decision.NO_OPINION)


@pytest.mark.parametrize("on_error", [Decision.DENY, Decision.NO_OPINION])
async def test_a_condition_that_fails_is_a_failure(on_error: Decision) -> None:
    webhook = FakeWebhook()
    broken = conditions("request.nonResourceAttributes.path == '/'")
    verdict = await authorizer(webhook, conditions=broken, on_error=on_error).authorize(JANE, PODS)
    assert (verdict.decision, webhook.requested) == (on_error, [])
    assert "request.nonResourceAttributes.path" in verdict.error
