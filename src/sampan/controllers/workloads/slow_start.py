"""Slow start of many similar calls, so that a call that always fails is not attempted hundreds of times.

Source: kube-controller-manager pkg/controller/replicaset/replica_set.go `slowStartBatch` (1.36).
"""

import asyncio
from collections.abc import Awaitable, Callable


async def slow_start(count: int, call: Callable[[int], Awaitable[None]], *, initial: int = 1) -> int:
    """Call `call(0)`, `call(1)`, … `count` times, in concurrent batches of 1, 2, 4, ….

    After a batch with a failure no further batch starts. Returns the number of successful calls. Raises the first error
    of the failed batch, after all of its calls have ended.
    """
    done = 0
    batch = min(count, initial)
    while batch > 0:
        results = await asyncio.gather(*(call(done + index) for index in range(batch)), return_exceptions=True)
        failures = [result for result in results if isinstance(result, BaseException)]
        if failures:
            raise failures[0]
        # Doubling: when the first calls succeed, the others probably do too, and few batches suffice for many calls.
        done += batch
        batch = min(2 * batch, count - done)
    return done
