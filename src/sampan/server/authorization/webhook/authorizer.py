"""`WebhookAuthorizer`: posts SubjectAccessReviews to a webhook and caches the responses.

Concurrency: each webhook request runs in the task of its API request, and is cancelled with it. Temporary failures are
retried, with at most five attempts. At most `CACHE_ENTRIES_MAX` responses are cached; the oldest are removed first.
Source: apiserver plugin/pkg/authorizer/webhook/webhook.go (1.36).
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from sampan.core.clock import monotonic
from sampan.registry.webhook.client import Webhook, WebhookError
from sampan.registry.webhook.retry import Sleep, with_retries
from sampan.registry.webhook.review_body import BOOLEAN, STRING, NotDecodableError, ReviewReader, struct
from sampan.schema.structural import Schema
from sampan.server.authorization.authorizer import NO_OPINION, Decision, RulesFound, Verdict
from sampan.server.authorization.metrics import AuthorizationMetrics
from sampan.server.authorization.webhook.conditions import ConditionFault, MatchConditions
from sampan.server.authorization.webhook.spec import review_spec
from sampan.server.request import RequestInfo, UserInfo
from sampan.wire import json as wire_json

GROUP: Final = "authorization.k8s.io"
VERSIONS: Final = ("v1", "v1beta1")
CACHE_ENTRIES_MAX: Final = 8192
_TIMEOUTS: Final = ("context deadline exceeded", "unable to return a response in the time allotted")
_TEXT_MAX: Final = 10_000
"""Maximum total length, in characters, of name, path and namespace of a request whose response is cached."""


def _status_schema(version: str) -> Schema:
    fields = {"allowed": BOOLEAN, "denied": BOOLEAN, "reason": STRING, "evaluationError": STRING}
    return struct(f"{version}.SubjectAccessReviewStatus", fields)


_READER: Final = ReviewReader(
    GROUP, "SubjectAccessReview", {version: _status_schema(version) for version in VERSIONS}, ("spec", "status")
)


@dataclass(frozen=True, slots=True)
class WebhookRules:
    """Settings of a webhook."""

    name: str = ""
    version: str = "v1"
    """Version of the SubjectAccessReview, one of `VERSIONS`."""
    timeout_s: float = 30.0
    authorized_ttl_s: float = 300.0
    """Lifetime of a cached response that allows; 0 disables caching."""
    unauthorized_ttl_s: float = 30.0
    """Lifetime of any other cached response."""
    on_error: Decision = Decision.NO_OPINION
    conditions: MatchConditions = field(default_factory=MatchConditions)


class WebhookAuthorizer:
    """Authorizes by a webhook. `clock` returns monotonic seconds."""

    def __init__(
        self,
        webhook: Webhook,
        rules: WebhookRules,
        clock: Callable[[], float],
        metrics: AuthorizationMetrics | None = None,
        *,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self.title = ("Webhook", rules.name or "webhook")
        self._metrics = metrics or AuthorizationMetrics()
        self._webhook = webhook
        self._rules = rules
        self._clock = clock
        self._sleep = sleep
        self._cache: dict[bytes, tuple[float, Verdict]] = {}

    async def authorize(self, user: UserInfo, info: RequestInfo) -> Verdict:
        spec = review_spec(user, info)
        try:
            if not self._matches(spec):
                return NO_OPINION
        except ConditionFault as fault:
            return Verdict(self._rules.on_error, error=str(fault))
        key = wire_json.encode(spec)
        cached = self._cache.get(key)
        if cached is not None and self._clock() < cached[0]:
            return cached[1]
        body = self._review(spec)
        try:
            verdict = await with_retries(lambda: self._post(body), sleep=self._sleep)
        except WebhookError as error:
            if self._rules.on_error is Decision.NO_OPINION:
                self._metrics.fail_open.add((self.title[1], _result(error)))
            return Verdict(self._rules.on_error, error=str(error))
        self._remember(key, verdict, info)
        return verdict

    def rules_for(self, user: UserInfo, namespace: str) -> RulesFound:
        """Return an error: the rules of a webhook cannot be listed."""
        return RulesFound(incomplete=True, errors=("webhook authorizer does not support user rule resolution",))

    def _matches(self, spec: dict[str, Any]) -> bool:
        """Return True if the match conditions select the request. Raises `ConditionFault`."""
        conditions, metrics = self._rules.conditions, self._metrics
        if not conditions:
            return True
        began = monotonic()
        try:
            matches = conditions.matches(spec)
        except ConditionFault:
            metrics.condition_errors.add(self.title)
            raise
        finally:
            metrics.conditions.observe(self.title, monotonic() - began)
        if not matches:
            metrics.exclusions.add(self.title)
        return matches

    def _review(self, spec: dict[str, Any]) -> bytes:
        version = self._rules.version
        if version == "v1beta1" and "groups" in spec:
            spec = {("group" if name == "groups" else name): value for name, value in spec.items()}
        review = {"kind": "SubjectAccessReview", "apiVersion": f"{GROUP}/{version}", "metadata": {}}
        return wire_json.encode({**review, "spec": spec, "status": {"allowed": False}})

    async def _post(self, body: bytes) -> Verdict:
        """Post one review. Raises `WebhookError`."""
        began, result, rules = monotonic(), "canceled", self._rules
        try:
            verdict = _verdict(await self._webhook.post(body, rules.timeout_s), f"{GROUP}/{rules.version}")
            result = "success"
        except WebhookError as error:
            result = _result(error)
            raise
        finally:
            self._metrics.webhooks.observe((self.title[1], result), monotonic() - began)
        return verdict

    def _remember(self, key: bytes, verdict: Verdict, info: RequestInfo) -> None:
        rules = self._rules
        ttl_s = rules.authorized_ttl_s if verdict.decision is Decision.ALLOW else rules.unauthorized_ttl_s
        if ttl_s <= 0 or len(info.name) + len(info.path) + len(info.namespace) > _TEXT_MAX:
            return
        if len(self._cache) >= CACHE_ENTRIES_MAX:
            del self._cache[next(iter(self._cache))]
        self._cache.pop(key, None)
        self._cache[key] = (self._clock() + ttl_s, verdict)


def _result(error: WebhookError) -> str:
    return "timeout" if any(text in str(error) for text in _TIMEOUTS) else "error"


def _verdict(response: bytes, api_version: str) -> Verdict:
    """Return the verdict in a review's status. Raises `WebhookError` for an invalid response."""
    try:
        review = _READER.read(response, api_version)
    except NotDecodableError as error:
        raise WebhookError(str(error)) from None
    status = review.get("status") or {}
    allowed, denied, reason = status.get("allowed", False), status.get("denied", False), status.get("reason", "")
    if denied:
        both = "webhook subject access review returned both allow and deny response" if allowed else ""
        return Verdict(Decision.DENY, reason, both)
    return Verdict(Decision.ALLOW if allowed else Decision.NO_OPINION, reason)
