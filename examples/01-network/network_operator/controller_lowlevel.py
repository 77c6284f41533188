"""The operator built from its parts: client, informer, work queue and workers.

    python -m network_operator.controller_lowlevel --neutron http://127.0.0.1:9696      (from examples/01-network)

Concurrency: `run` owns all tasks: the factory's informers and the workers. Handlers only add keys to the queue; the
queue passes a key to one worker at a time. Cancellation (Ctrl-C, SIGTERM) ends everything.
"""

import asyncio
import logging
import platform

from network_operator.options import Options, backend_of, main
from network_operator.reconcile import NetworkReconciler
from network_operator.types import Network
from sampan.client import Client, NotFound
from sampan.core.time import SystemClock
from sampan.informer import Deletion, EventHandlerFuncs, Ref, SharedInformerFactory
from sampan.operator.events import EventBroadcaster, EventRecorder, NewEventSink
from sampan.operator.queue import WorkQueue
from sampan.operator.request import Request

log = logging.getLogger("network_operator")

RESYNC_S = 600.0


def enqueue_changes(queue: WorkQueue[Request]) -> EventHandlerFuncs[Network]:
    """Return handlers that add the keys of changed objects to the queue."""

    def add(obj: Ref[Network]) -> None:
        queue.add(Request.of_key(obj.key))

    def update(old: Ref[Network], new: Ref[Network]) -> None:
        if old.resource_version == new.resource_version:
            return  # a resync, not a change
        queue.add(Request.of_key(new.key))

    def delete(obj: Deletion[Network]) -> None:
        queue.add(Request.of_key(obj.key))

    return EventHandlerFuncs(add, update, delete)


async def work(queue: WorkQueue[Request], reconciler: NetworkReconciler) -> None:
    """Process keys from the queue. After a failure, the key returns with a backoff."""
    while True:
        request = await queue.get()
        try:
            result = await reconciler.reconcile(request)
        except Exception:
            log.exception("reconcile of %s failed; retrying", request)
            queue.add_rate_limited(request)
        else:
            queue.forget(request)
            if result is not None and result.requeue_after_s:
                queue.add_after(request, result.requeue_after_s)
        finally:
            queue.done(request)


async def run(client: Client, options: Options) -> None:
    """Run until cancelled."""
    backend = backend_of(options)
    factory = SharedInformerFactory(client, resync_s=RESYNC_S)
    informer = factory.informer_for(Network)
    lister = informer.lister()
    queue: WorkQueue[Request] = WorkQueue("networks")
    informer.add_handler(enqueue_changes(queue))

    async def read(request: Request) -> Network | None:
        return lister.get(request.key)

    async def read_live(request: Request) -> Network | None:
        try:
            return await networks.in_namespace(request.namespace).get(request.name)
        except NotFound:
            return None

    events = EventBroadcaster(NewEventSink(client))
    recorder = EventRecorder(events, "network-operator", platform.node(), SystemClock())
    networks = client.resource(Network, namespace="")
    reconciler = NetworkReconciler(networks, read, read_live, backend, recorder, options.recheck_s)
    try:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(events.run(), name="events")
            await factory.start(tasks)
            await factory.wait_for_cache_sync()
            log.info("cache has synced; starting %d workers", options.workers)
            for number in range(options.workers):
                tasks.create_task(work(queue, reconciler), name=f"worker {number}")
    finally:
        await backend.aclose()


if __name__ == "__main__":
    main(run)
