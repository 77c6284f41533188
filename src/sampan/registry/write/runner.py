"""`run`: runs the steps of a write. It repeats them after a conflict, until the result is based on the newest row.

An attempt may begin from an old row of the watch cache. If it writes, the store compares the revision: a conflict
returns the newest row, and the next attempt begins from that. Any other result is valid only if the store confirms that
the row was the newest. So a write calls the store once, and no response is based on an old row.
"""

import logging
from collections.abc import Sequence

from sampan.core import errors
from sampan.core.event_loop.offload import LARGE_BYTES, current_work, offloaded
from sampan.registry.rest.store import TRIES_MAX
from sampan.registry.strategy import Context
from sampan.registry.write.creation import GENERATE_NAME_TRIES, name_taken
from sampan.registry.write.steps import PLANS, Ready, WriteSteps
from sampan.registry.write.write import DeletionOptions, Observer, StoreAction, Write, WriteKind
from sampan.storage.store import Conflict, KeyExists, OutcomeUnknown, StoreUnavailable

_log = logging.getLogger(__name__)


async def run(write: Write) -> Write:
    """Run all steps, and return the write. Raises `StatusError`: 404, 409, 422 and what the change raises."""
    plan = PLANS[write.kind]
    if write.observer is None:
        write.observer = write.store.step_times.observer()
    await _run(write, plan.once)
    known = len(write.warnings)
    if plan.load is None:
        await _create(write, plan, known)
        return write
    origin = write.origin
    for _ in range(TRIES_MAX):
        del write.warnings[known:]
        try:
            await _attempt(write, plan)
        except Conflict as conflict:
            origin.take(conflict.current)
        except KeyExists:
            origin.take(await write.store.store.get(origin.key))
        except (OutcomeUnknown, StoreUnavailable):
            raise
        except Exception:
            if await origin.confirm():
                raise
        else:
            if await origin.confirm():
                return write
    raise errors.conflict(write.store.definition.group_resource, write.name, errors.OPTIMISTIC_LOCK_MESSAGE)


async def _create(write: Write, plan: WriteSteps, known: int) -> None:
    """Create an object, with another generated name if the first is taken. Raises 409."""
    for tries_left in reversed(range(GENERATE_NAME_TRIES if write.generates_name else 1)):
        del write.warnings[known:]
        try:
            await _attempt(write, plan)
            return
        except KeyExists:
            if not tries_left:
                raise name_taken(write) from None


async def _attempt(write: Write, plan: WriteSteps) -> None:
    """Run the steps from "load" (creations: from "name"), then end the allocations."""
    write.begin()
    try:
        if plan.load is not None:
            await _run(write, (plan.load,))
        await _run(write, plan.absent if write.old is None else plan.found)
    finally:
        release = write.release
        if release is not None:
            write.release = None
            await release(write.written)
    if write.outcome is StoreAction.REMOVE and not write.dry_run:
        await _after_removal(write)


async def _run(write: Write, steps: Sequence[Ready]) -> None:
    if write.observer is not None:
        await _observed(write, steps, write.observer)
        return
    work = current_work()
    is_large = work is not None and work.size_bytes >= LARGE_BYTES
    for _, function, waits in steps:
        if is_large and not waits:
            await offloaded(function, write)
            continue
        pending = function(write)
        if pending is not None:
            await pending
            is_large = work is not None and work.size_bytes >= LARGE_BYTES


async def _observed(write: Write, steps: Sequence[Ready], observer: Observer) -> None:
    for name, function, waits in steps:
        with observer.step(name, write):
            pending = function(write) if waits else offloaded(function, write)
            if pending is not None:
                await pending


async def _after_removal(write: Write) -> None:
    """Release the allocations of the removed object, and delete its companion objects of the same name."""
    store, obj = write.store, write.present
    await store.strategy.after_delete(obj, store.allocation)
    if store.others is None:
        return
    metadata = obj["metadata"]
    name = metadata["name"]
    for group, resource in store.strategy.companions:
        ctx = Context(namespace=metadata.get("namespace", ""), name=name)
        companion = Write(
            WriteKind.OWN_DELETE, store.others(group, resource), ctx, write.clock, name=name, deletion=DeletionOptions()
        )
        try:
            await run(companion)
        except errors.StatusError as error:
            if error.reason is not errors.Reason.NOT_FOUND:
                _log.error(
                    "cannot delete the %s %s/%s that was created with the object: %s",
                    resource,
                    ctx.namespace,
                    ctx.name,
                    error.message,
                )
