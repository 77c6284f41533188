"""Many calls of one kind, begun slowly: what fails for the first one need not be tried five hundred times.

Source: kube-controller-manager pkg/controller/replicaset/replica_set.go `slowStartBatch` (1.36).
"""

import asyncio
from collections.abc import Awaitable, Callable


async def slow_start(count: int, call: Callable[[int], Awaitable[None]], *, initial: int = 1) -> int:
    """Call `call(0)`, `call(1)`, … `count` times in all: in batches of 1, 2, 4 …, each at once.

    After a batch in which a call failed nothing more is called. Gives how many went well; raises the first error of the
    batch in which calls failed, after all of the batch have ended.
    """
    done = 0
    batch = min(count, initial)
    while batch > 0:
        results = await asyncio.gather(*(call(done + index) for index in range(batch)), return_exceptions=True)
        failures = [result for result in results if isinstance(result, BaseException)]
        if failures:
            raise failures[0]
        done += batch
        batch = min(2 * batch, count - done)
    return done
