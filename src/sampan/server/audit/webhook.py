"""`WebhookBackend`: sends batches of events to somebody else, again and again if that fails.

Source: apiserver plugin/pkg/audit/webhook/webhook.go, pkg/util/webhook/webhook.go (1.36).
"""

import asyncio
from collections.abc import Callable, Sequence

from sampan.registry.webhook.answer import EmptyAnswer
from sampan.registry.webhook.client import Webhook, WebhookError
from sampan.registry.webhook.retry import Sleep, growing_waits
from sampan.server.audit.event import Event
from sampan.server.audit.metrics import AuditMetrics

INITIAL_BACKOFF_S = 10.0
TIMEOUT_S = 30.0
_HEAD = b'{"kind":"EventList","apiVersion":"audit.k8s.io/v1","metadata":{},"items":['


class WebhookBackend:
    """Whatever goes wrong is tried five times in all, with longer and longer waits from `initial_backoff_s` on."""

    name = "webhook"

    def __init__(
        self,
        webhook: Webhook,
        metrics: AuditMetrics,
        *,
        initial_backoff_s: float = INITIAL_BACKOFF_S,
        sleep: Sleep = asyncio.sleep,
        close: Callable[[], None] | None = None,
    ) -> None:
        """`close` lets go of what the webhook holds; called at the end."""
        self._webhook, self._metrics, self._close = webhook, metrics, close
        self._initial_backoff_s, self._sleep = initial_backoff_s, sleep

    async def process(self, events: Sequence[Event]) -> bool:
        """See `Backend`."""
        body = _HEAD + b",".join([event.item() for event in events]) + b"]}"
        for wait_s in (*growing_waits(self._initial_backoff_s), None):
            try:
                await self._webhook.post(body, TIMEOUT_S)
                return True
            except EmptyAnswer:
                return True  # It was not asked anything.
            except WebhookError as error:
                if wait_s is None:
                    self._metrics.failed(self.name, str(error), events)
                    return False
            await self._sleep(wait_s)
        raise AssertionError("the last try returns")

    async def run(self) -> None:
        """See `Backend`."""
        try:
            await asyncio.Event().wait()
        finally:
            if self._close is not None:
                self._close()
