"""`Caller`: calls webhooks for a request.

Source: apiserver pkg/admission/plugin/webhook/{mutating,validating}/dispatcher.go (1.36).
"""

import asyncio

from sampan.core import errors
from sampan.core.clock import monotonic
from sampan.core.errors import StatusError
from sampan.core.telemetry.tracing import part_of_current
from sampan.registry.rest.metadata import new_uid
from sampan.registry.webhook.client import WebhookError
from sampan.registry.webhook.review_body import NotDecodableError
from sampan.server.admission.chain import Attributes
from sampan.server.admission.expressions.activation import Activation, request_of
from sampan.server.admission.expressions.authority import Authority
from sampan.server.admission.expressions.conditions import ConditionsFailed
from sampan.server.admission.matching.forms import Forms, Versioned
from sampan.server.admission.matching.subject import Equivalent, MatchedRequest
from sampan.server.admission.metrics.metrics import AdmissionMetrics
from sampan.server.admission.webhook.errors import CallFailed, Denial, Rejected, dry_run_unsupported
from sampan.server.admission.webhook.gone import ClientGoneError, refuse_abandoned, unless_gone
from sampan.server.admission.webhook.hook import ConfiguredWebhook, Connect
from sampan.server.admission.webhook.review import (
    ReviewError,
    UnsupportedPatchError,
    WebhookVerdict,
    encode_review,
    read_review,
)

_HARMLESS = ("None", "NoneOnDryRun")
_UNAVAILABLE = 503
_MUTATING, _VALIDATING = "mutating-webhook", "validating-webhook"
_SPANS = {"admit": "mutating", "validating": "validating"}


class Caller:
    """Calls the webhooks of one plug-in. `kind` is admit or validating, for metrics."""

    def __init__(self, connect: Connect, metrics: AdmissionMetrics, kind: str) -> None:
        self._connect = connect
        self._metrics = metrics
        self._kind = kind

    async def matched(
        self, hook: ConfiguredWebhook, subject: MatchedRequest, forms: Forms, authority: Authority
    ) -> Equivalent | None:
        """Return the resource under which a webhook matches the request, or None. **Raises** `StatusError` if the
        conditions cannot be evaluated.
        """
        matched = hook.criteria.match(subject)
        if matched is None or hook.conditions is None:
            return matched
        attributes, metrics = subject.attributes, self._metrics.conditions
        versioned = await forms.of(matched)
        activation = Activation(versioned, request_of(attributes, matched), authority, attributes)
        record = metrics.recorder(hook.name, "webhook", self._kind, attributes.operation)
        try:
            if await hook.conditions.match(activation, record):
                return matched
        except ConditionsFailed as error:
            raise errors.forbidden(attributes.gvr.group_resource, attributes.name, str(error)) from None
        metrics.excluded(hook.name, "admit" if self._kind == "admit" else "validate", attributes.operation)
        return None

    async def call(
        self, hook: ConfiguredWebhook, attributes: Attributes, matched: Equivalent, versioned: Versioned
    ) -> WebhookVerdict:
        """Call a webhook, and return its verdict if it allows the request. Records its annotations and warnings.

        **Raises** `Rejected`, and `CallFailed` if there is no valid response.
        """
        if attributes.dry_run and hook.side_effects not in _HARMLESS:
            raise Rejected(dry_run_unsupported(hook.name))
        if hook.review_version is None:
            text = "could not create admission objects: webhook does not accept known AdmissionReview versions"
            raise CallFailed(hook.name, f"{text} (v1, v1beta1)", 400)
        uid = new_uid()
        request = request_of(attributes, matched)
        body = encode_review(hook.review_version, uid, request, versioned.obj, versioned.old)
        verdict = await self._call_hook(hook, uid, body, attributes)
        for key, value in verdict.annotations.items():
            attributes.annotations.setdefault(f"{hook.name}/{key}", value)
        attributes.warnings.extend(verdict.warnings)
        if not verdict.allowed:
            raise Rejected(Denial(hook.name, verdict.status))
        return verdict

    async def _call_hook(
        self, hook: ConfiguredWebhook, uid: str, body: bytes, attributes: Attributes
    ) -> WebhookVerdict:
        assert hook.review_version is not None
        try:
            name = f"Call {_SPANS[self._kind]} webhook"
            with part_of_current(name, _span_attributes(hook, uid, attributes)) as span:
                webhook = self._connect(hook.target)
                response = await unless_gone(attributes, webhook.post(body, _timeout_s(hook, attributes)))
                if span is not None:
                    span.step("Request completed")
            return read_review(hook.review_version, uid, response, mutating=self._kind == "admit")
        except ClientGoneError:
            raise CallFailed(hook.name, "failed to call webhook: context canceled", _UNAVAILABLE) from None
        except (WebhookError, NotDecodableError) as error:
            raise CallFailed(hook.name, f"failed to call webhook: {error}", _UNAVAILABLE) from None
        except ReviewError as error:
            raise CallFailed(hook.name, f"received invalid webhook response: {error}", _UNAVAILABLE) from None
        except UnsupportedPatchError as error:
            raise CallFailed(hook.name, str(error), _UNAVAILABLE) from None

    def observe(self, hook: ConfiguredWebhook, attributes: Attributes, began: float, failure: Exception | None) -> None:
        """Record a call that began at monotonic time `began`; `failure` is None if it succeeded."""
        labels = (hook.name, self._kind, attributes.operation)
        seconds = monotonic() - began
        self._add(attributes.latencies, seconds)
        if failure is None:
            self._metrics.observe_hook(labels, seconds, 200, rejected=False)
        elif isinstance(failure, CallFailed):
            if not hook.fails_open:
                self._metrics.observe_rejection(labels, "calling_webhook_error", failure.code)
            self._metrics.observe_hook(labels, seconds, failure.code, rejected=not hook.fails_open)
        elif isinstance(failure, Rejected):
            self._metrics.observe_rejection(labels, "no_error", failure.status.code)
            self._metrics.observe_hook(labels, seconds, failure.status.code, rejected=True)
        else:
            self._metrics.observe_rejection(labels, "apiserver_internal_error", 0)
            self._metrics.observe_hook(labels, seconds, 0, rejected=True)

    def _add(self, latencies: dict[str, float], seconds: float) -> None:
        """Add the duration of a call: sum up mutating webhooks (in sequence), keep the maximum of validating ones (in
        parallel).
        """
        if self._kind == "admit":
            latencies[_MUTATING] = latencies.get(_MUTATING, 0.0) + seconds
        else:
            latencies[_VALIDATING] = max(latencies.get(_VALIDATING, 0.0), seconds)

    def failed_open(self, hook: ConfiguredWebhook) -> None:
        """Count a failed call that is ignored because of failurePolicy Ignore."""
        self._metrics.failed_open.add((hook.name, self._kind))


def _span_attributes(hook: ConfiguredWebhook, uid: str, attributes: Attributes) -> dict[str, str]:
    gvr = attributes.gvr
    return {
        "configuration": hook.configuration,
        "webhook": hook.name,
        "resource": f"{gvr.group}/{gvr.version}, Resource={gvr.resource}",
        "subresource": attributes.subresource,
        "operation": attributes.operation,
        "UID": uid,
    }


def _timeout_s(hook: ConfiguredWebhook, attributes: Attributes) -> float:
    """Return the timeout of a call in seconds: the webhook's timeout or the request's remaining time, whichever is
    shorter.
    """
    if not attributes.deadline:
        return hook.timeout_s
    return max(min(hook.timeout_s, attributes.deadline - asyncio.get_running_loop().time()), 0.0)


def refuse_late(attributes: Attributes) -> None:
    """Refuse the request if its deadline has passed or its client has disconnected. **Raises** 504."""
    refuse_abandoned(attributes)
    if attributes.deadline and asyncio.get_running_loop().time() >= attributes.deadline:
        raise errors.timeout("request did not complete within requested timeout")


def failure_of(error: CallFailed) -> StatusError:
    """Return the 500 for a failed call with failure policy Fail."""
    return errors.internal_error(str(error))
