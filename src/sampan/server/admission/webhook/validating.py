"""ValidatingAdmissionWebhook: calls all matching webhooks in parallel. One refusal refuses the request.

Concurrency: the calls run in a task group of the request's task, which waits for all of them.

Source: apiserver pkg/admission/plugin/webhook/validating/dispatcher.go (1.36).
"""

import asyncio
import logging
from typing import ClassVar

from sampan.core.clock import monotonic
from sampan.core.errors import StatusError
from sampan.server.admission.chain import Attributes
from sampan.server.admission.expressions.authority import Authority
from sampan.server.admission.matching.forms import Forms, Versioned
from sampan.server.admission.matching.subject import Equivalent, MatchedRequest, Surroundings
from sampan.server.admission.webhook.caller import Caller, failure_of, refuse_late
from sampan.server.admission.webhook.errors import CallFailed, Rejected
from sampan.server.admission.webhook.gone import refuse_abandoned
from sampan.server.admission.webhook.hook import ConfiguredWebhook, ConfiguredWebhooks
from sampan.server.authorization.authorizer import Authorizer

_log = logging.getLogger(__name__)
_FAILED_OPEN = "failed-open.validating.webhook.admission.k8s.io/"

Call = tuple[ConfiguredWebhook, Equivalent, Versioned]


class ValidatingAdmissionWebhook:
    """Validating plug-in for webhooks."""

    name: ClassVar[str] = "ValidatingAdmissionWebhook"
    operations: ClassVar[frozenset[str]] = frozenset({"CREATE", "UPDATE", "DELETE", "CONNECT"})
    resources: ClassVar[frozenset[tuple[str, str]] | None] = None
    configured_by: ClassVar[tuple[tuple[str, str], ...]] = (
        ("admissionregistration.k8s.io", "validatingwebhookconfigurations"),
    )

    def __init__(self, surroundings: Surroundings, caller: Caller, authorizer: Authorizer) -> None:
        self._surroundings = surroundings
        self._caller = caller
        self._authorizer = authorizer
        self._hooks = ConfiguredWebhooks(surroundings.cluster, "validatingwebhookconfigurations")

    def is_configured(self) -> bool:
        """Return True if there are webhooks."""
        return self._hooks.has_any()

    async def validate(self, attributes: Attributes) -> None:
        """Call the webhooks. **Raises** the refusal of the first webhook that refuses."""
        hooks = await self._hooks.all()
        if not hooks:
            return
        subject, forms = MatchedRequest(attributes, self._surroundings), Forms(attributes)
        authority = Authority(self._authorizer, attributes.user)
        calls: list[Call] = []
        for hook in hooks:
            matched = await self._caller.matched(hook, subject, forms, authority)
            if matched is not None:
                calls.append((hook, matched, await forms.of(matched)))
        if not calls:
            return
        refuse_late(attributes)
        for failure in await self._all(calls, attributes):
            if failure is not None:
                raise failure
        refuse_abandoned(attributes)

    async def _all(self, calls: list[Call], attributes: Attributes) -> list[StatusError | None]:
        if len(calls) == 1:
            return [await self._call(calls[0], 0, attributes)]
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(self._call(call, index, attributes), name=f"webhook {call[0].name}")
                for index, call in enumerate(calls)
            ]
        return [task.result() for task in tasks]

    async def _call(self, call: Call, index: int, attributes: Attributes) -> StatusError | None:
        """Call a webhook, and return the error that refuses the request, or None."""
        hook, matched, versioned = call
        began, failure = monotonic(), None
        try:
            await self._caller.call(hook, attributes, matched, versioned)
        except (CallFailed, Rejected) as error:
            failure = error
        self._caller.observe(hook, attributes, began, failure)
        if failure is None:
            return None
        if isinstance(failure, Rejected):
            return failure.status
        _log.warning("call of a validating webhook failed", extra={"webhook": hook.name, "error": str(failure)})
        if not hook.fails_open:
            return failure_of(failure)
        self._caller.failed_open(hook)
        attributes.annotations.setdefault(f"{_FAILED_OPEN}round_0_index_{index}", hook.name)
        return None
