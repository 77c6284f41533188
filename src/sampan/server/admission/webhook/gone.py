"""Requests whose client has gone: their webhooks are cut, and nothing is written for them.

Concurrency: a call of a webhook runs as a task beside one that waits for the end of the client; both have ended when
`unless_gone` returns, whatever happens.
Source: net/http cancels a request's context; apiserver pkg/admission/plugin/webhook (1.36).
"""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from sampan.core import errors
from sampan.server.admission.chain import Attributes

T = TypeVar("T")


class ClientGoneError(Exception):
    """There is nobody any more to whom the answer would go."""


async def unless_gone(attributes: Attributes, work: Coroutine[Any, Any, T]) -> T:
    """What the work gives. Raises `ClientGoneError` as soon as the client goes; the work is cancelled then."""
    if attributes.gone is None:
        return await work
    task, watcher = asyncio.ensure_future(work), asyncio.ensure_future(attributes.gone())
    try:
        await asyncio.wait((task, watcher), return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        attributes.abandoned = True
        raise ClientGoneError
    finally:
        task.cancel()
        watcher.cancel()
        await asyncio.gather(task, watcher, return_exceptions=True)


def refuse_abandoned(attributes: Attributes) -> None:
    """Raises 504 when the client has been seen to be gone."""
    if attributes.abandoned:
        raise errors.timeout("request did not complete within requested timeout")
