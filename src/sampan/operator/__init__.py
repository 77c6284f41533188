"""The toolkit to write operators with: queues, controllers, a manager, and writers of status, events and finalizers.

    async def reconcile(request: Request) -> Result | None: ...

    async with connect() as client:
        manager = Manager(client, ManagerOptions(probe_address="0.0.0.0:8081"))
        Builder(manager).for_(Network, predicates=[GenerationChanged()]).recheck_every(300).complete(reconcile)
        await manager.run(handle_signals=True)

The vocabulary is that of controller-runtime and client-go.
"""

from sampan.core.cron import Schedule, parse_schedule
from sampan.operator.builder import Builder, BuildError
from sampan.operator.caches.cache import StaleCache
from sampan.operator.caches.cached_client import CachedClient, CachedResourceClient
from sampan.operator.caches.options import CacheOptions, NamespaceSelector
from sampan.operator.conditions import Condition, find_condition, is_false, is_true, remove_condition, set_condition
from sampan.operator.controller import (
    CacheSyncTimeout,
    Controller,
    ControllerMetrics,
    ControllerOptions,
    FailingObject,
    ReconcileContext,
    ReconcileLogFilter,
    ReconcileTimeout,
    current_reconcile,
)
from sampan.operator.controller.tracing import ReconcileTracer
from sampan.operator.entry import main, run
from sampan.operator.events import CoreEventSink, EventBroadcaster, EventLogHandler, EventRecorder, NewEventSink
from sampan.operator.finalizers import (
    Finalizing,
    add_finalizer,
    finalizer,
    has_finalizer,
    is_deleting,
    patch_finalizer_in,
    patch_finalizer_out,
    remove_finalizer,
)
from sampan.operator.handlers import EnqueueHandler, MapFunction, for_object, for_owner
from sampan.operator.jobs import JOBS, JobEnded, JobOutcome, JobRunner
from sampan.operator.leader_election import LeaderElectionConfig, LeaderElectionLost, LeaderElector, LeaseLock
from sampan.operator.manager import Group, Manager, ManagerOptions, Probes, Runnable, ShutdownTimeout
from sampan.operator.object_tasks import ObjectTasks
from sampan.operator.owners.owned import ensure_controlled
from sampan.operator.owners.references import (
    AlreadyOwned,
    DisallowedOwner,
    controller_of,
    has_owner_reference,
    is_controlled_by,
    owner_reference,
    remove_owner_reference,
    set_controller_reference,
    set_owner_reference,
)
from sampan.operator.parts import add_parts, modules_below
from sampan.operator.predicates import (
    AnnotationChanged,
    FieldChanged,
    GenerationChanged,
    LabelChanged,
    Predicate,
    PredicateFuncs,
    ResourceVersionChanged,
    and_,
    label_selector,
    matching,
    not_,
    or_,
)
from sampan.operator.queue import (
    LOW_PRIORITY,
    BucketRateLimiter,
    ItemExponentialFailureRateLimiter,
    ItemFastSlowRateLimiter,
    MaxOfRateLimiter,
    QueueShutDown,
    RateLimiter,
    WithMaxWaitRateLimiter,
    WorkQueue,
    WorkQueueMetrics,
    default_rate_limiter,
)
from sampan.operator.reconciler import ReconcileFunction, Reconciler
from sampan.operator.request import Request, Result, RetryLater, TerminalError
from sampan.operator.settings import OperatorSettings
from sampan.operator.source import ChannelSource, KindSource, PeriodicSource, Source
from sampan.operator.status import patch_condition, patch_status

__all__ = [
    "JOBS",
    "LOW_PRIORITY",
    "AlreadyOwned",
    "AnnotationChanged",
    "BucketRateLimiter",
    "BuildError",
    "Builder",
    "CacheOptions",
    "CacheSyncTimeout",
    "CachedClient",
    "CachedResourceClient",
    "ChannelSource",
    "Condition",
    "Controller",
    "ControllerMetrics",
    "ControllerOptions",
    "CoreEventSink",
    "DisallowedOwner",
    "EnqueueHandler",
    "EventBroadcaster",
    "EventLogHandler",
    "EventRecorder",
    "FailingObject",
    "FieldChanged",
    "Finalizing",
    "GenerationChanged",
    "Group",
    "ItemExponentialFailureRateLimiter",
    "ItemFastSlowRateLimiter",
    "JobEnded",
    "JobOutcome",
    "JobRunner",
    "KindSource",
    "LabelChanged",
    "LeaderElectionConfig",
    "LeaderElectionLost",
    "LeaderElector",
    "LeaseLock",
    "Manager",
    "ManagerOptions",
    "MapFunction",
    "MaxOfRateLimiter",
    "NamespaceSelector",
    "NewEventSink",
    "ObjectTasks",
    "OperatorSettings",
    "PeriodicSource",
    "Predicate",
    "PredicateFuncs",
    "Probes",
    "QueueShutDown",
    "RateLimiter",
    "ReconcileContext",
    "ReconcileFunction",
    "ReconcileLogFilter",
    "ReconcileTimeout",
    "ReconcileTracer",
    "Reconciler",
    "Request",
    "ResourceVersionChanged",
    "Result",
    "RetryLater",
    "Runnable",
    "Schedule",
    "ShutdownTimeout",
    "Source",
    "StaleCache",
    "TerminalError",
    "WithMaxWaitRateLimiter",
    "WorkQueue",
    "WorkQueueMetrics",
    "add_finalizer",
    "add_parts",
    "and_",
    "controller_of",
    "current_reconcile",
    "default_rate_limiter",
    "ensure_controlled",
    "finalizer",
    "find_condition",
    "for_object",
    "for_owner",
    "has_finalizer",
    "has_owner_reference",
    "is_controlled_by",
    "is_deleting",
    "is_false",
    "is_true",
    "label_selector",
    "main",
    "matching",
    "modules_below",
    "not_",
    "or_",
    "owner_reference",
    "parse_schedule",
    "patch_condition",
    "patch_finalizer_in",
    "patch_finalizer_out",
    "patch_status",
    "remove_condition",
    "remove_finalizer",
    "remove_owner_reference",
    "run",
    "set_condition",
    "set_controller_reference",
    "set_owner_reference",
]
