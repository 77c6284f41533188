"""MutatingAdmissionWebhook: calls webhooks in sequence, and applies their patches.

Source: apiserver pkg/admission/plugin/webhook/mutating/dispatcher.go (1.36).
"""

import logging
from typing import Any, ClassVar

from sampan.core import errors
from sampan.core.clock import monotonic
from sampan.core.errors import StatusError
from sampan.core.field import quote
from sampan.core.json.values import same
from sampan.patch import json_patch
from sampan.server.admission.chain import Attributes
from sampan.server.admission.expressions.authority import Authority
from sampan.server.admission.matching.forms import Forms
from sampan.server.admission.matching.subject import Equivalent, MatchedRequest, Surroundings
from sampan.server.admission.reinvocation import Reinvocation
from sampan.server.admission.webhook.caller import Caller, failure_of, refuse_late
from sampan.server.admission.webhook.errors import CallFailed, Rejected
from sampan.server.admission.webhook.hook import ConfiguredWebhook, ConfiguredWebhooks
from sampan.server.authorization.authorizer import Authorizer
from sampan.wire import json as wire_json

_log = logging.getLogger(__name__)
_MUTATION = "mutation.webhook.admission.k8s.io/"
PATCH_ANNOTATION = "patch.webhook.admission.k8s.io/"
"""Start of the names of audit annotations that have the patches of webhooks."""


class MutatingAdmissionWebhook:
    """Mutating plug-in for webhooks."""

    name: ClassVar[str] = "MutatingAdmissionWebhook"
    operations: ClassVar[frozenset[str]] = frozenset({"CREATE", "UPDATE", "DELETE", "CONNECT"})
    resources: ClassVar[frozenset[tuple[str, str]] | None] = None
    configured_by: ClassVar[tuple[tuple[str, str], ...]] = (
        ("admissionregistration.k8s.io", "mutatingwebhookconfigurations"),
    )

    def __init__(self, surroundings: Surroundings, caller: Caller, authorizer: Authorizer) -> None:
        self._surroundings = surroundings
        self._caller = caller
        self._authorizer = authorizer
        self._hooks = ConfiguredWebhooks(surroundings.cluster, "mutatingwebhookconfigurations")

    def is_configured(self) -> bool:
        """Return True if there are webhooks."""
        return self._hooks.has_any()

    async def admit(self, attributes: Attributes) -> None:
        """Call the webhooks. **Raises** the refusal of a webhook, and 500 if a required call fails."""
        hooks = await self._hooks.all()
        if not hooks:
            return
        run = _Run(
            self._caller, MatchedRequest(attributes, self._surroundings), Authority(self._authorizer, attributes.user)
        )
        run.reinvocation.begin(attributes)
        try:
            for index, hook in enumerate(hooks):
                await run.call(hook, index)
        finally:
            run.reinvocation.end(attributes)


class _Run:
    """One run of the plug-in for one request."""

    def __init__(self, caller: Caller, subject: MatchedRequest, authority: Authority) -> None:
        self._caller = caller
        self._subject = subject
        self._attributes = subject.attributes
        self._authority = authority
        self._forms = Forms(subject.attributes)
        self.reinvocation = Reinvocation.of(subject.attributes, MutatingAdmissionWebhook.name)

    async def call(self, hook: ConfiguredWebhook, index: int) -> None:
        """Call a webhook if the request matches."""
        attributes = self._attributes
        matched = await self._caller.matched(hook, self._subject, self._forms, self._authority)
        if matched is None or (attributes.is_reinvocation and not self.reinvocation.is_due(hook.key)):
            return
        place = f"round_{int(attributes.is_reinvocation)}_index_{index}"
        began, failure, changed = monotonic(), None, False
        try:
            changed = await self._change(hook, matched, place)
        except (CallFailed, Rejected, StatusError) as error:
            failure = error
        self._caller.observe(hook, attributes, began, failure)
        self._annotate(_MUTATION + place, hook, {"mutated": changed})
        if changed:
            self.reinvocation.changed()
            attributes.reinvoke = True
        if hook.may_be_called_again:
            self.reinvocation.called(hook.key)
        if failure is not None:
            self._fail(hook, failure, place)

    def _fail(self, hook: ConfiguredWebhook, failure: CallFailed | Rejected | StatusError, place: str) -> None:
        if isinstance(failure, Rejected):
            raise failure.status
        if isinstance(failure, StatusError):
            raise failure
        _log.warning("call of a mutating webhook failed", extra={"webhook": hook.name, "error": str(failure)})
        if not hook.fails_open:
            raise failure_of(failure)
        self._caller.failed_open(hook)
        self._attributes.annotations.setdefault(f"failed-open.{_MUTATION}{place}", hook.name)
        refuse_late(self._attributes)

    async def _change(self, hook: ConfiguredWebhook, matched: Equivalent, place: str) -> bool:
        """Call the webhook and apply its patch. Return True if the object has changed. **Raises** `CallFailed`,
        `Rejected`, `StatusError`.
        """
        attributes = self._attributes
        versioned = await self._forms.of(matched)
        patch = (await self._caller.call(hook, attributes, matched, versioned)).patch
        if not patch:
            return False
        if versioned.obj is None:
            text = f"admission webhook {quote(hook.name)} attempted to modify the object, which is not supported for "
            raise errors.internal_error(f"{text}this operation")
        before = versioned.obj
        try:
            patched = json_patch.apply_or_explain(before, patch)
        except json_patch.NotApplicableError as error:
            raise errors.internal_error(str(error)) from None
        except StatusError as error:
            raise errors.internal_error(error.message) from None
        await self._forms.put(patched, matched)
        self._annotate(PATCH_ANNOTATION + place, hook, {"patch": patch, "patchType": "JSONPatch"})
        return not same((await self._forms.of(matched)).obj, before)

    def _annotate(self, key: str, hook: ConfiguredWebhook, more: dict[str, Any]) -> None:
        """Add audit annotations. Annotations with the patch are added only to events that contain bodies."""
        value = wire_json.encode({"configuration": hook.configuration, "webhook": hook.name, **more}).decode()
        attributes = self._attributes
        kept = attributes.annotations if key.startswith(_MUTATION) else attributes.body_annotations
        kept.setdefault(key, value)
