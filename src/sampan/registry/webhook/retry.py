"""Ask a webhook again while what is wrong with it may pass.

Source: apiserver pkg/util/webhook/webhook.go DefaultShouldRetry, WithExponentialBackoff (1.36).
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from sampan.registry.webhook.answer import WebhookError
from sampan.registry.webhook.client import Webhook

TRIES: Final = 5
FACTOR: Final = 1.5


async def post_patiently(
    webhook: Webhook,
    body: bytes,
    timeout_s: float,
    *,
    first_wait_s: float,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> bytes:
    """The body of the answer, after up to `TRIES` tries of `timeout_s` each. Raises `WebhookError`: the last one."""
    wait_s = first_wait_s
    for _ in range(TRIES - 1):
        try:
            return await webhook.post(body, timeout_s)
        except WebhookError as error:
            if not error.may_pass:
                raise
        await sleep(wait_s)
        wait_s *= FACTOR
    return await webhook.post(body, timeout_s)
