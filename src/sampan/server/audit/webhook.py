"""`WebhookBackend`: posts batches of events to a webhook, with retries.

Source: apiserver plugin/pkg/audit/webhook/webhook.go, pkg/util/webhook/webhook.go (1.36).
"""

import asyncio
from collections.abc import Callable, Sequence

from sampan.registry.webhook.client import Webhook, WebhookError
from sampan.registry.webhook.response import EmptyResponse
from sampan.registry.webhook.retry import Sleep, backoff_delays_s
from sampan.server.audit.event import AuditEvent
from sampan.server.audit.metrics import AuditMetrics

INITIAL_BACKOFF_S = 10.0
TIMEOUT_S = 30.0
_HEAD = b'{"kind":"EventList","apiVersion":"audit.k8s.io/v1","metadata":{},"items":['


class WebhookBackend:
    """Tries each batch up to five times, with growing delays that start at `initial_backoff_s`."""

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
        """`close` releases the resources of the webhook. It is called when `run` ends."""
        self._webhook, self._metrics, self._close = webhook, metrics, close
        self._initial_backoff_s, self._sleep = initial_backoff_s, sleep

    async def process(self, events: Sequence[AuditEvent]) -> bool:
        """Record or queue events."""
        body = _HEAD + b",".join([event.item() for event in events]) + b"]}"
        for wait_s in (*backoff_delays_s(self._initial_backoff_s), None):
            try:
                await self._webhook.post(body, TIMEOUT_S)
                return True
            except EmptyResponse:
                return True  # The response to audit events has no content to check.
            except WebhookError as error:
                if wait_s is None:
                    self._metrics.failed(self.name, str(error), events)
                    return False
            await self._sleep(wait_s)
        raise AssertionError("the last try returns")

    async def run(self) -> None:
        """Run background work until cancelled."""
        try:
            await asyncio.Event().wait()
        finally:
            if self._close is not None:
                self._close()
