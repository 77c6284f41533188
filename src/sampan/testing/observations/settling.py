"""`not_settled`: waits until nothing can run in a cluster."""

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Final

from sampan.testing.journal import Journal
from sampan.testing.observations.endless import EndlessWork
from sampan.testing.observations.timeline import busiest
from sampan.testing.operators.running import Running
from sampan.testing.requests import Requests
from sampan.testing.time.virtual_time import VirtualTimeLoop

_REAL_QUIET_S: Final = 0.05


async def not_settled(
    journal: Journal, requests: Requests, operators: Sequence[Running], *, pause_s: float, within_s: float
) -> str:
    """Wait until nothing can run for `pause_s`. Return the message of the error, or an empty text for success.

    It is an error if the pause does not begin within `within_s`, or if an operator works without end.
    """
    loop, first_request = asyncio.get_running_loop(), len(requests)
    first_reconciles = {each: len(each.reconciles) for each in operators}
    began_s = loop.time()
    try:
        async with asyncio.timeout(within_s + pause_s) as limit:
            work = EndlessWork(requests, operators, partial(_end, limit))
            with journal.listening(work.note):
                if isinstance(loop, VirtualTimeLoop):
                    await loop.idle(pause_s)
                else:
                    await requests.quiet(_REAL_QUIET_S)
    except TimeoutError:
        reconciles = [done for each in operators for done in each.reconciles[first_reconciles.get(each, 0) :]]
        after = loop.time() - began_s if work.is_found else None
        return busiest(requests.after(first_request), reconciles, within_s, endless_after_s=after)
    return ""


def _end(limit: asyncio.Timeout) -> None:
    """End the block of a limit now, unless it ends already."""
    if not limit.expired():
        limit.reschedule(asyncio.get_running_loop().time())
