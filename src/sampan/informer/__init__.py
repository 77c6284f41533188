"""Informers: local copies of collections of objects that follow the server, and handlers for their changes.

factory = SharedInformerFactory(client, namespace="prod")
informer = factory.informer_for(Network)
registration = informer.add_handler(EventHandlerFuncs(add=lambda network: queue.add(network.key)))
async with asyncio.TaskGroup() as tasks:
    await factory.start(tasks)
    await wait_for_cache_sync(informer, registration, timeout_s=120)
    network = informer.lister().namespaced("prod").get("backbone")
"""

from sampan.informer.factory import Scope, SharedInformerFactory
from sampan.informer.group import GroupRegistration, InformerGroup
from sampan.informer.handler import EventHandler, EventHandlerFuncs, FilteringEventHandler
from sampan.informer.informer import Informer, InformerRegistration, InformerStore
from sampan.informer.key import join_key, split_key
from sampan.informer.metrics import InformerMetrics
from sampan.informer.queues.delta import Batch, Delta, DeltaType, Queue, ReflectorStore
from sampan.informer.queues.delta_fifo import DeltaFIFO
from sampan.informer.queues.in_order_queue import InOrderQueue
from sampan.informer.ref import (
    DeletedFinalStateUnknown,
    Deletion,
    Ref,
    RefReader,
    UnreadableObject,
    last_known,
    strip_managed_fields,
)
from sampan.informer.reflector.reflector import Reflector
from sampan.informer.reflector.watch_failure import WatchErrorHandler, WatchFailure, log_watch_error
from sampan.informer.registration import Registration
from sampan.informer.settings import InformerSettings, ReflectorSettings
from sampan.informer.shared_informer import InformerStopped, SharedInformer
from sampan.informer.store.index import IndexFailed, IndexFunction
from sampan.informer.store.indexer import NAMESPACE_INDEX, Indexer
from sampan.informer.store.lister import Lister, NamespaceLister, ReadableStore
from sampan.informer.sync import Syncable, wait_for_cache_sync
from sampan.informer.transform import Transform, TransformError, strip_fields, transform_objects

__all__ = [
    "NAMESPACE_INDEX",
    "Batch",
    "DeletedFinalStateUnknown",
    "Deletion",
    "Delta",
    "DeltaFIFO",
    "DeltaType",
    "EventHandler",
    "EventHandlerFuncs",
    "FilteringEventHandler",
    "GroupRegistration",
    "InOrderQueue",
    "IndexFailed",
    "IndexFunction",
    "Indexer",
    "Informer",
    "InformerGroup",
    "InformerMetrics",
    "InformerRegistration",
    "InformerSettings",
    "InformerStopped",
    "InformerStore",
    "Lister",
    "NamespaceLister",
    "Queue",
    "ReadableStore",
    "Ref",
    "RefReader",
    "Reflector",
    "ReflectorSettings",
    "ReflectorStore",
    "Registration",
    "Scope",
    "SharedInformer",
    "SharedInformerFactory",
    "Syncable",
    "Transform",
    "TransformError",
    "UnreadableObject",
    "WatchErrorHandler",
    "WatchFailure",
    "join_key",
    "last_known",
    "log_watch_error",
    "split_key",
    "strip_fields",
    "strip_managed_fields",
    "transform_objects",
    "wait_for_cache_sync",
]
