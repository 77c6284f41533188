"""`WebhookBackend`: sends batches of events to somebody else, again and again if that fails.

Source: apiserver plugin/pkg/audit/webhook/webhook.go, pkg/util/webhook/webhook.go (1.36).
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence

from sampan.registry.webhook.answer import EmptyAnswer
from sampan.registry.webhook.client import Webhook, WebhookError
from sampan.server.audit.event import Event
from sampan.server.audit.metrics import AuditMetrics

INITIAL_BACKOFF_S = 10.0
TIMEOUT_S = 30.0
_STEPS = 5
_FACTOR = 1.5
_JITTER = 0.2
_HEAD = b'{"kind":"EventList","apiVersion":"audit.k8s.io/v1","metadata":{},"items":['

Sleep = Callable[[float], Awaitable[None]]


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
        wait_s = self._initial_backoff_s
        for step in range(_STEPS):
            try:
                await self._webhook.post(body, TIMEOUT_S)
                return True
            except EmptyAnswer:
                return True  # It was not asked anything.
            except WebhookError as error:
                if step == _STEPS - 1:
                    self._metrics.failed(self.name, str(error), events)
            if step < _STEPS - 1:
                await self._sleep(wait_s * random.uniform(1, 1 + _JITTER))
                wait_s *= _FACTOR
        return False

    async def run(self) -> None:
        """See `Backend`."""
        try:
            await asyncio.Event().wait()
        finally:
            if self._close is not None:
                self._close()
