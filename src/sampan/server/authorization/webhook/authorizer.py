"""`WebhookAuthorizer`: asks a webhook, and remembers what it said.

Concurrency: each question runs in its request's task. At most `KEPT_MAX` answers are kept, the oldest leave first.
Differs from Kubernetes in one point: a webhook that fails is not asked again for the same request.
Source: apiserver plugin/pkg/authorizer/webhook/webhook.go (1.36).
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from sampan.registry.webhook.client import Webhook, WebhookError
from sampan.server.authorization.authorizer import NO_OPINION, Decision, RulesFound, Verdict
from sampan.server.authorization.metrics import AuthorizationMetrics
from sampan.server.authorization.webhook.conditions import ConditionFault, MatchConditions
from sampan.server.authorization.webhook.spec import review_spec
from sampan.server.request import RequestInfo, UserInfo
from sampan.wire import json as wire_json

KEPT_MAX: Final = 8192
_TIMEOUTS: Final = ("context deadline exceeded", "unable to return a response in the time allotted")
_TEXT_MAX: Final = 10_000
"""How long the texts of a request may be together for its answer to be kept."""


@dataclass(frozen=True, slots=True)
class WebhookRules:
    """How a webhook is asked."""

    name: str = ""
    version: str = "v1"
    """Of the SubjectAccessReview."""
    timeout_s: float = 30.0
    authorized_ttl_s: float = 300.0
    """How long an allowance counts; 0: for one request."""
    unauthorized_ttl_s: float = 30.0
    """How long every other answer counts."""
    on_error: Decision = Decision.NO_OPINION
    conditions: MatchConditions = field(default_factory=MatchConditions)


class WebhookAuthorizer:
    """See the module. `clock` gives monotonic seconds."""

    def __init__(
        self,
        webhook: Webhook,
        rules: WebhookRules,
        clock: Callable[[], float],
        metrics: AuthorizationMetrics | None = None,
    ) -> None:
        self.title = ("Webhook", rules.name or "webhook")
        self._metrics = metrics or AuthorizationMetrics()
        self._webhook = webhook
        self._rules = rules
        self._clock = clock
        self._kept: dict[bytes, tuple[float, Verdict]] = {}

    async def authorize(self, user: UserInfo, info: RequestInfo) -> Verdict:
        spec = review_spec(user, info)
        try:
            if not self._matches(spec):
                return NO_OPINION
        except ConditionFault as fault:
            return Verdict(self._rules.on_error, error=str(fault))
        key = wire_json.encode(spec)
        kept = self._kept.get(key)
        if kept is not None and self._clock() < kept[0]:
            return kept[1]
        began, result = time.monotonic(), "canceled"
        try:
            verdict = await self._ask(spec)
            result = "success"
        except WebhookError as error:
            result = "timeout" if any(text in str(error) for text in _TIMEOUTS) else "error"
            if self._rules.on_error is Decision.NO_OPINION:
                self._metrics.fail_open.add((self.title[1], result))
            return Verdict(self._rules.on_error, error=str(error))
        finally:
            self._metrics.webhooks.observe((self.title[1], result), time.monotonic() - began)
        self._keep(key, verdict, info)
        return verdict

    def rules_for(self, user: UserInfo, namespace: str) -> RulesFound:
        """Nobody knows what the webhook would say."""
        return RulesFound(incomplete=True, errors=("webhook authorizer does not support user rule resolution",))

    def _matches(self, spec: dict[str, Any]) -> bool:
        """Whether the webhook is to be asked. Raises `ConditionFault`."""
        conditions, metrics = self._rules.conditions, self._metrics
        if not conditions:
            return True
        began = time.monotonic()
        try:
            matches = conditions.matches(spec)
        except ConditionFault:
            metrics.condition_errors.add(self.title)
            raise
        finally:
            metrics.conditions.observe(self.title, time.monotonic() - began)
        if not matches:
            metrics.exclusions.add(self.title)
        return matches

    async def _ask(self, spec: dict[str, Any]) -> Verdict:
        version = self._rules.version
        if version == "v1beta1" and "groups" in spec:
            spec = {("group" if name == "groups" else name): value for name, value in spec.items()}
        review = {"kind": "SubjectAccessReview", "apiVersion": f"authorization.k8s.io/{version}", "metadata": {}}
        body = wire_json.encode({**review, "spec": spec, "status": {"allowed": False}})
        return _verdict(await self._webhook.post(body, self._rules.timeout_s))

    def _keep(self, key: bytes, verdict: Verdict, info: RequestInfo) -> None:
        rules = self._rules
        ttl_s = rules.authorized_ttl_s if verdict.decision is Decision.ALLOW else rules.unauthorized_ttl_s
        if ttl_s <= 0 or len(info.name) + len(info.path) + len(info.namespace) > _TEXT_MAX:
            return
        if len(self._kept) >= KEPT_MAX:
            del self._kept[next(iter(self._kept))]
        self._kept.pop(key, None)
        self._kept[key] = (self._clock() + ttl_s, verdict)


def _verdict(answer: bytes) -> Verdict:
    """What a review's status says. Raises `WebhookError` for an answer that is none."""
    try:
        review = wire_json.decode(answer)
        status = review.get("status") or {}
        allowed, denied = status.get("allowed", False), status.get("denied", False)
        reason = status.get("reason", "")
    except (wire_json.DecodeError, AttributeError):
        raise WebhookError("the answer is no SubjectAccessReview") from None
    if review.get("kind") != "SubjectAccessReview" or not isinstance(reason, str):
        raise WebhookError("the answer is no SubjectAccessReview")
    if denied is True:
        both = "webhook subject access review returned both allow and deny response" if allowed is True else ""
        return Verdict(Decision.DENY, reason, both)
    return Verdict(Decision.ALLOW if allowed is True else Decision.NO_OPINION, reason)
