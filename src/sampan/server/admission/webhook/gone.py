"""Cancellation of webhook calls when the client disconnects. Nothing is written for such a request.

Concurrency: a call runs as a task next to one that waits for the disconnect. Both have ended when `unless_gone` returns
or raises.

Source: net/http cancels a request's context; apiserver pkg/admission/plugin/webhook (1.36).
"""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from sampan.core import errors
from sampan.core.event_loop.task_scope import TaskScope
from sampan.server.admission.chain import Attributes

T = TypeVar("T")


class ClientGoneError(Exception):
    """The client has disconnected."""


async def unless_gone(attributes: Attributes, work: Coroutine[Any, Any, T]) -> T:
    """Return the result of the work. Cancel it and raise `ClientGoneError` if the client disconnects."""
    if attributes.gone is None:
        return await work
    async with TaskScope() as tasks:
        task = tasks.begin(work)
        await asyncio.wait((task, tasks.begin(attributes.gone())), return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        attributes.abandoned = True
        raise ClientGoneError


def refuse_abandoned(attributes: Attributes) -> None:
    """Refuse a request with a disconnected client. **Raises** 504."""
    if attributes.abandoned:
        raise errors.timeout("request did not complete within requested timeout")
