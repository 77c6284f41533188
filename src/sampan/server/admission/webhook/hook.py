"""`ConfiguredWebhook`: one parsed webhook; `ConfiguredWebhooks`: all webhooks of one kind of configuration, in order.

Source: apiserver pkg/admission/configuration, pkg/admission/plugin/webhook/accessors.go (1.36).
"""

from collections import Counter
from collections.abc import Callable, Sequence

from sampan.core.object import Object
from sampan.registry.cluster import Cluster
from sampan.registry.webhook.client import Webhook
from sampan.registry.webhook.target import WebhookTarget, target_of
from sampan.schema.cel.admission import Expressions, Inputs
from sampan.server.admission.compiled_objects import CompiledObjects, Refreshed
from sampan.server.admission.expressions.conditions import MatchConditions
from sampan.server.admission.matching.criteria import Criteria
from sampan.server.admission.webhook.review import review_version

_GROUP = "admissionregistration.k8s.io"

Connect = Callable[[WebhookTarget], Webhook]


class ConfiguredWebhook:
    """Entry of `webhooks` with its compiled matchers."""

    __slots__ = (
        "conditions",
        "configuration",
        "criteria",
        "fails_open",
        "key",
        "may_be_called_again",
        "name",
        "review_version",
        "side_effects",
        "target",
        "timeout_s",
    )

    def __init__(self, configuration: str, hook: Object, number: int) -> None:
        """`number` counts the preceding webhooks with the same name in the configuration."""
        self.configuration = configuration
        self.name: str = hook["name"]
        self.key = f"{configuration}/{self.name}/{number}"
        self.criteria = Criteria(hook, hook.get("rules") or [])
        self.fails_open = hook.get("failurePolicy") == "Ignore"
        self.timeout_s = float(hook.get("timeoutSeconds") or 10)
        self.side_effects: str | None = hook.get("sideEffects")
        self.may_be_called_again = hook.get("reinvocationPolicy") == "IfNeeded"
        self.review_version = review_version(hook.get("admissionReviewVersions") or ())
        self.target = target_of(hook["clientConfig"])
        conditions = hook.get("matchConditions") or []
        self.conditions = (
            MatchConditions(conditions, Expressions(Inputs(composed=False)), fail_closed=not self.fails_open)
            if conditions
            else None
        )


class ConfiguredWebhooks:
    """Webhooks of all configurations, sorted by the name of the configuration, then by their order in the
    configuration.

    Rebuilt only after a write to a configuration.
    """

    def __init__(self, cluster: Cluster, resource: str) -> None:
        self._configurations = CompiledObjects(cluster, _GROUP, resource, _hooks_of)
        self._hooks = Refreshed(cluster, [(_GROUP, resource)], self._put_together)

    def has_any(self) -> bool:
        """Return True if there are configurations."""
        return self._configurations.has_any()

    async def all(self) -> Sequence[ConfiguredWebhook]:
        """Return the current webhooks. If they have changed, compile their conditions in a thread."""
        return await self._hooks.get()

    async def _put_together(self) -> Sequence[ConfiguredWebhook]:
        return [hook for hooks in (await self._configurations.by_name()).values() for hook in hooks]


def _hooks_of(configuration: Object) -> list[ConfiguredWebhook]:
    name = configuration["metadata"]["name"]
    seen: Counter[str] = Counter()
    hooks = []
    for hook in configuration.get("webhooks") or ():
        hooks.append(ConfiguredWebhook(name, hook, seen[hook["name"]]))
        seen[hook["name"]] += 1
    return hooks
