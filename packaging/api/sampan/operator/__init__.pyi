from dataclasses import dataclass, field

__all__ = [
    "add_finalizer",
    "add_parts",
    "AlreadyOwned",
    "and_",
    "AnnotationChanged",
    "BucketRateLimiter",
    "Builder",
    "BuildError",
    "CachedClient",
    "CachedResourceClient",
    "CacheOptions",
    "CacheSyncTimeout",
    "ChannelSource",
    "Condition",
    "Controller",
    "controller_of",
    "ControllerMetrics",
    "ControllerOptions",
    "CoreEventSink",
    "current_reconcile",
    "default_rate_limiter",
    "DisallowedOwner",
    "EnqueueHandler",
    "ensure_controlled",
    "EventBroadcaster",
    "EventLogHandler",
    "EventRecorder",
    "FailingObject",
    "FieldChanged",
    "finalizer",
    "Finalizing",
    "find_condition",
    "for_object",
    "for_owner",
    "GenerationChanged",
    "Group",
    "has_finalizer",
    "has_owner_reference",
    "is_controlled_by",
    "is_deleting",
    "is_false",
    "is_true",
    "ItemExponentialFailureRateLimiter",
    "ItemFastSlowRateLimiter",
    "JobEnded",
    "JobOutcome",
    "JobRunner",
    "JOBS",
    "KindSource",
    "label_selector",
    "LabelChanged",
    "LeaderElectionConfig",
    "LeaderElectionLost",
    "LeaderElector",
    "LeaseLock",
    "LOW_PRIORITY",
    "main",
    "Manager",
    "ManagerOptions",
    "MapFunction",
    "matching",
    "MaxOfRateLimiter",
    "modules_below",
    "NamespaceSelector",
    "NewEventSink",
    "not_",
    "ObjectTasks",
    "OperatorSettings",
    "or_",
    "owner_reference",
    "parse_schedule",
    "patch_condition",
    "patch_finalizer_in",
    "patch_finalizer_out",
    "patch_status",
    "PeriodicSource",
    "Predicate",
    "PredicateFuncs",
    "Probes",
    "QueueShutDown",
    "RateLimiter",
    "ReconcileContext",
    "ReconcileFunction",
    "ReconcileLogFilter",
    "Reconciler",
    "ReconcileTimeout",
    "ReconcileTracer",
    "remove_condition",
    "remove_finalizer",
    "remove_owner_reference",
    "Request",
    "ResourceVersionChanged",
    "Result",
    "RetryLater",
    "run",
    "Runnable",
    "Schedule",
    "set_condition",
    "set_controller_reference",
    "set_owner_reference",
    "ShutdownTimeout",
    "Source",
    "StaleCache",
    "TerminalError",
    "WithMaxWaitRateLimiter",
    "WorkQueue",
    "WorkQueueMetrics",
]

def add_finalizer(obj: Any, name: str) -> bool:
    ...

def add_parts(target: Any, package: ModuleType, function: str='set_up') -> list[str]:
    ...

class AlreadyOwned(ValueError):

    def __init__(self, message: str, owner: OwnerReference) -> None:
        ...

def and_(*predicates: Predicate[T]) -> Predicate[T]:
    ...

class AnnotationChanged(Predicate[Any]):

    def create(self, obj: Ref[T]) -> bool:
        ...

    def update(self, old: Ref[Any], new: Ref[Any]) -> bool:
        ...

    def delete(self, obj: Ref[T]) -> bool:
        ...

class BucketRateLimiter:

    def __init__(self, qps: float=10.0, burst: int=100) -> None:
        ...

    def when(self, item: Hashable) -> float:
        ...

    def forget(self, item: Hashable) -> None:
        ...

    def num_requeues(self, item: Hashable) -> int:
        ...

class Builder:

    def __init__(self, manager: Manager) -> None:
        ...

    def for_(self, kind: Kind, *, predicates: Iterable[Predicate[Any]]=(), metadata_only: bool=False, priority: Priority[Any]=0) -> Self:
        ...

    def owns(self, kind: Kind, *, predicates: Iterable[Predicate[Any]]=(), only_controller: bool=True, metadata_only: bool=False, priority: Priority[Any]=0) -> Self:
        ...

    def watches(self, kind: Kind, map_function: MapFunction[Any], *, predicates: Iterable[Predicate[Any]]=(), metadata_only: bool=False, priority: Priority[Any]=0) -> Self:
        ...

    def index(self, kind: Kind, name: str, values: Callable[[Any], Iterable[str]]) -> Self:
        ...

    def writes(self, kind: Kind, *verbs: str, subresource: str='') -> Self:
        ...

    def watches_source(self, source: Source) -> Self:
        ...

    def recheck_every(self, period_s: float) -> Self:
        ...

    def with_predicates(self, *predicates: Predicate[Any]) -> Self:
        ...

    def named(self, name: str) -> Self:
        ...

    def with_options(self, *, max_concurrent_reconciles: int=1, rate_limiter: RateLimiter[Request] | None=None, reconcile_timeout_s: float | None=None, slow_reconcile_s: float=60.0, debounce_s: float=0.0, cache_sync_timeout_s: float=120.0, needs_leader_election: bool=True, warm_up: bool=False) -> Self:
        ...

    def complete(self, reconciler: Reconciler | ReconcileFunction) -> Controller:
        ...

class BuildError(ValueError):
    ...

class CachedClient:

    def __init__(self, direct: Client, *, timeout_s: float=10.0) -> None:
        ...

    def read_from(self, informer: SharedInformer[Any] | InformerGroup[Any], *, namespace: str='', selection: Selection | None=None, is_partial: bool=False) -> None:
        ...

    def read_metadata_from(self, informer: SharedInformer[PartialObjectMetadata] | InformerGroup[PartialObjectMetadata], *, namespace: str='', selection: Selection | None=None) -> None:
        ...

    def is_cached(self, what: ResourceInfo | ObjectType[Any] | type[Any]) -> bool:
        ...

    def resource(self, what: ResourceInfo | ObjectType[Any] | type[Any], *, namespace: str | None=None) -> CachedResourceClient[Any]:
        ...

    def metadata(self, what: ResourceInfo | ObjectType[Any] | type[Any], *, namespace: str | None=None) -> CachedResourceClient[PartialObjectMetadata]:
        ...
    direct = direct

class CachedResourceClient(ResourceClient[T]):

    def __init__(self, endpoint: ResourceEndpoint, object_type: ObjectType[T], caches: Caches, parallel: Caches=_NO_CACHES) -> None:
        ...

    @property
    def info(self) -> ResourceInfo:
        ...

    @property
    def namespace(self) -> str:
        ...

    def in_namespace(self, namespace: str) -> 'CachedResourceClient[T]':
        ...

    def with_timeout(self, request_timeout_s: float) -> 'CachedResourceClient[T]':
        ...

    def metadata_only(self) -> 'ResourceClient[PartialObjectMetadata]':
        ...

    async def get(self, name: str, *, resource_version: str | None=None) -> T:
        ...

    async def list(self, options: ListOptions=ListOptions()) -> ObjectList[T]:
        ...

    async def list_all(self, options: ListOptions=ListOptions(), *, page_size: int=PAGE_SIZE) -> ObjectList[T]:
        ...

    def items(self, options: ListOptions=ListOptions(), *, page_size: int=PAGE_SIZE) -> AsyncGenerator[T, None]:
        ...

    async def pages(self, options: ListOptions=ListOptions(), *, page_size: int=PAGE_SIZE) -> AsyncGenerator[Sequence[T], None]:
        ...

    def watch(self, options: ListOptions=ListOptions()) -> AsyncGenerator[WatchEvent[T], None]:
        ...

    def watch_batches(self, options: ListOptions=ListOptions()) -> AsyncGenerator[Sequence[WatchEvent[T]], None]:
        ...

    def follow(self, options: ListOptions=ListOptions()) -> AsyncGenerator[WatchEvent[T], None]:
        ...

    def follow_batches(self, options: ListOptions=ListOptions()) -> AsyncGenerator[Sequence[WatchEvent[T]], None]:
        ...

    def list_watch(self, *, label_selector: str='', field_selector: str='') -> ResourceListWatch:
        ...

    def list_watch_of(self, name: str) -> ResourceListWatch:
        ...

    async def create(self, obj: T, options: WriteOptions=WriteOptions()) -> T:
        ...

    async def update(self, obj: T, options: WriteOptions=WriteOptions()) -> T:
        ...

    async def update_status(self, obj: T, options: WriteOptions=WriteOptions()) -> T:
        ...

    async def patch(self, name: str, patch: Patch, options: WriteOptions=WriteOptions(), *, subresource: str='') -> T:
        ...

    async def apply(self, obj: T | Object, *, field_manager: str='', force: bool=False, subresource: str='') -> T:
        ...

    async def diff(self, obj: T | Object, *, field_manager: str='', force: bool=False, subresource: str='') -> ApplyDiff:
        ...

    async def delete(self, name: str, options: DeleteOptions=DeleteOptions()) -> T | None:
        ...

    async def delete_collection(self, options: DeleteOptions=DeleteOptions(), selection: ListOptions=ListOptions()) -> None:
        ...

    @property
    def status(self) -> SubresourceClient[T]:
        ...

    @property
    def scale(self) -> SubresourceClient[Scale]:
        ...

    def subresource(self, name: str) -> SubresourceClient[Object]:
        ...

    async def evict(self, name: str, options: DeleteOptions=DeleteOptions()) -> None:
        ...

    def decode(self, body: bytes) -> T:
        ...

    def to_dict(self, obj: T) -> Object:
        ...

    async def find(self, request: Request) -> T | None:
        ...

    async def by_index(self, name: str, *values: str) -> Sequence[T]:
        ...

@dataclass(frozen=True, slots=True)
class CacheOptions:
    namespaces: Namespaces | None = None
    label_selector: str = ''
    field_selector: str = ''
    transform: Transform | None = None

class CacheSyncTimeout(TimeoutError):
    ...

class ChannelSource(Generic[E]):

    def __init__(self, map_function: Callable[[E], Iterable[Request]], *, size_max: int=1024) -> None:
        ...

    async def put(self, event: E) -> None:
        ...

    def put_nowait(self, event: E) -> None:
        ...

    async def run(self, queue: WorkQueue[Request], *, synced: asyncio.Event) -> None:
        ...

class Condition(msgspec.Struct, rename='camel', kw_only=True, omit_defaults=True):
    type: Annotated[str, msgspec.Meta(max_length=316)]
    status: ConditionStatus
    reason: Annotated[str, msgspec.Meta(min_length=1, max_length=1024, pattern=_REASON)]
    message: Annotated[str, msgspec.Meta(max_length=32768)] = ''
    last_transition_time: str = ''
    observed_generation: int = 0

class Controller:

    def __init__(self, name: str, reconciler: Reconciler | ReconcileFunction, *, options: ControllerOptions=ControllerOptions(), metrics: ControllerMetrics | None=None, queue_metrics: WorkQueueMetrics | None=None) -> None:
        ...

    @property
    def queue(self) -> WorkQueue[Request]:
        ...

    @property
    def needs_leader_election(self) -> bool:
        ...

    @property
    def warms_up(self) -> bool:
        ...

    def failing(self) -> list[FailingObject]:
        ...

    def watch(self, source: Source) -> None:
        ...

    async def ready(self) -> None:
        ...

    async def warm_up(self) -> None:
        ...

    async def run(self) -> None:
        ...

    async def drain(self) -> None:
        ...
    tracer: ReconcileTracer | None = None

def controller_of(obj: Any) -> OwnerReference | None:
    ...

class ControllerMetrics:

    def __init__(self, registry: CollectorRegistry) -> None:
        ...

    def of(self, controller: str, workers: int) -> 'ReconcileMetrics':
        ...

@dataclass(frozen=True, slots=True)
class ControllerOptions:
    max_concurrent_reconciles: int = 1
    rate_limiter: RateLimiter[Request] | None = None
    reconcile_timeout_s: float | None = None
    slow_reconcile_s: float = 60.0
    debounce_s: float = 0.0
    cache_sync_timeout_s: float = 120.0
    needs_leader_election: bool = True
    warm_up: bool = False

class CoreEventSink:

    def __init__(self, client: Client) -> None:
        ...

    async def post(self, sighting: Sighting) -> None:
        ...

def current_reconcile() -> ReconcileContext | None:
    ...

def default_rate_limiter() -> MaxOfRateLimiter:
    ...

class DisallowedOwner(ValueError):
    ...

class EnqueueHandler(Generic[T]):

    def __init__(self, queue: WorkQueue[Request], map_function: MapFunction[T], predicates: Iterable[Predicate[T]]=(), *, debounce_s: float=0.0, source: str='', priority: Priority[T]=0) -> None:
        ...

    def on_add(self, obj: Ref[T], is_in_initial_list: bool) -> HandlerResult:
        ...

    def on_update(self, old: Ref[T], new: Ref[T]) -> HandlerResult:
        ...

    def on_delete(self, obj: Deletion[T]) -> HandlerResult:
        ...

async def ensure_controlled(client: ResourceClient[T], owner: Any, obj: T, *, field_manager: str='') -> T:
    ...

class EventBroadcaster:

    def __init__(self, sink: EventSink) -> None:
        ...
    needs_leader_election = False

    @property
    def dropped(self) -> int:
        ...

    def put(self, event: Event) -> None:
        ...

    async def drain(self) -> None:
        ...

    async def run(self) -> None:
        ...

class EventLogHandler(logging.Handler):

    def __init__(self, recorder: EventRecorder, find: Callable[[ReconcileContext], Any], *, level: int=logging.INFO) -> None:
        ...

    def emit(self, record: logging.LogRecord) -> None:
        ...

class EventRecorder:

    def __init__(self, broadcaster: EventBroadcaster, controller: str, instance: str, clock: Clock, *, host: str='') -> None:
        ...

    def normal(self, obj: Any, reason: str, note: str, *, action: str='', related: Any=None) -> None:
        ...

    def warning(self, obj: Any, reason: str, note: str, *, action: str='', related: Any=None, annotations: Mapping[str, str] | None=None) -> None:
        ...

@dataclass(frozen=True, slots=True)
class FailingObject:
    controller: str
    key: str
    source: str
    error: str
    tries: int
    since: dt.datetime
    last: dt.datetime
    next_due: dt.datetime | None

class FieldChanged(Predicate[Any]):

    def __init__(self, *paths: str | tuple[str, ...]) -> None:
        ...

    def create(self, obj: Ref[T]) -> bool:
        ...

    def update(self, old: Ref[Any], new: Ref[Any]) -> bool:
        ...

    def delete(self, obj: Ref[T]) -> bool:
        ...

async def finalizer(client: ResourceClient[T], obj: T, name: str, then: Finalizing[T]) -> Result | None:
    ...

@dataclass(frozen=True, slots=True)
class Finalizing(Generic[T]):
    apply: Callable[[T], Awaitable[Result | None]]
    clean_up: Callable[[T], Awaitable[Result | None]]

def find_condition(conditions: list[C], type: str) -> C | None:
    ...

def for_object(ref: Ref[Any]) -> Iterable[Request]:
    ...

def for_owner(owner: ResourceInfo, *, only_controller: bool=True) -> MapFunction[Any]:
    ...

class GenerationChanged(Predicate[Any]):

    def create(self, obj: Ref[T]) -> bool:
        ...

    def update(self, old: Ref[Any], new: Ref[Any]) -> bool:
        ...

    def delete(self, obj: Ref[T]) -> bool:
        ...

class Group(enum.IntEnum):
    HTTP_SERVERS = 0
    WEBHOOKS = 1
    CACHES = 2
    OTHERS = 3
    WARM_UP = 4
    LEADER_ELECTED = 5

def has_finalizer(obj: Any, name: str) -> bool:
    ...

def has_owner_reference(owner: Any, owned: Any) -> bool:
    ...

def is_controlled_by(obj: Any, owner: Any) -> bool:
    ...

def is_deleting(obj: Any) -> bool:
    ...

def is_false(conditions: list[C], type: str, *, generation: int=0) -> bool:
    ...

def is_true(conditions: list[C], type: str, *, generation: int=0) -> bool:
    ...

class ItemExponentialFailureRateLimiter:

    def __init__(self, base_delay_s: float=0.005, max_delay_s: float=1000.0) -> None:
        ...

    def when(self, item: Hashable) -> float:
        ...

    def forget(self, item: Hashable) -> None:
        ...

    def num_requeues(self, item: Hashable) -> int:
        ...

class ItemFastSlowRateLimiter:

    def __init__(self, fast_delay_s: float, slow_delay_s: float, max_fast_attempts: int) -> None:
        ...

    def when(self, item: Hashable) -> float:
        ...

    def forget(self, item: Hashable) -> None:
        ...

    def num_requeues(self, item: Hashable) -> int:
        ...

class JobEnded(Predicate[Object]):

    def create(self, obj: Ref[Object]) -> bool:
        ...

    def update(self, old: Ref[Object], new: Ref[Object]) -> bool:
        ...

    def delete(self, obj: Ref[T]) -> bool:
        ...

@dataclass(frozen=True, slots=True)
class JobOutcome:
    succeeded: bool
    message: str

class JobRunner:

    def __init__(self, manager: Manager) -> None:
        ...

    async def run(self, owner: Any, job: Object) -> JobOutcome | None:
        ...

    async def remove(self, namespace: str, name: str) -> bool:
        ...

JOBS: Final = ...

class KindSource(Generic[T]):

    def __init__(self, informer: HandlerHost[T], map_function: MapFunction[T], predicates: Iterable[Predicate[T]]=(), *, debounce_s: float=0.0, priority: Priority[T]=0) -> None:
        ...

    async def run(self, queue: WorkQueue[Request], *, synced: asyncio.Event) -> None:
        ...

def label_selector(selector: str | Selector) -> Predicate[Any]:
    ...

class LabelChanged(Predicate[Any]):

    def create(self, obj: Ref[T]) -> bool:
        ...

    def update(self, old: Ref[Any], new: Ref[Any]) -> bool:
        ...

    def delete(self, obj: Ref[T]) -> bool:
        ...

@dataclass(frozen=True, slots=True)
class LeaderElectionConfig:
    name: str
    namespace: str
    identity: str = field(default_factory=unique_identity)
    lease_duration_s: float = 15.0
    renew_deadline_s: float = 10.0
    retry_period_s: float = 2.0
    release_on_exit: bool = True

class LeaderElectionLost(RuntimeError):
    ...

class LeaderElector:

    def __init__(self, config: LeaderElectionConfig, lease: Lease, *, on_new_leader: Callable[[str], None] | None=None, metrics: LeaderElectionMetrics | None=None) -> None:
        ...

    def rights(self) -> list[Right]:
        ...

    @property
    def leader(self) -> str:
        ...

    def is_leader(self) -> bool:
        ...

    def is_over(self) -> bool:
        ...

    def check(self, tolerance_s: float=20.0) -> None:
        ...

    async def run(self, lead: Callable[[], Coroutine[Any, Any, None]]) -> None:
        ...

class LeaseLock:

    def __init__(self, client: Client, namespace: str, name: str, clock: Clock) -> None:
        ...

    def rights(self) -> list[Right]:
        ...

    def time(self) -> str:
        ...

    async def get(self) -> LeaseRecord | None:
        ...

    async def create(self, record: LeaseRecord) -> None:
        ...

    async def update(self, record: LeaseRecord) -> None:
        ...

LOW_PRIORITY: Final = -100

def main(set_up: Callable[..., Any], *, name: str, settings: Any=None, about: str=_ABOUT, defaults: OperatorSettings=OperatorSettings(), options: ManagerOptions=ManagerOptions(), arguments: Sequence[str] | None=None, environ: Mapping[str, str] | None=None) -> None:
    ...

class Manager:

    def __init__(self, client: Client, options: ManagerOptions=ManagerOptions()) -> None:
        ...

    @property
    def probes(self) -> Probes:
        ...

    def add(self, runnable: Runnable | Callable[[], Awaitable[None]], *, group: Group | None=None) -> None:
        ...

    @property
    def runnables(self) -> tuple[Any, ...]:
        ...

    def declare_writes(self, what: ResourceInfo | ObjectType[Any] | type[Any], *verbs: str, subresource: str='') -> None:
        ...

    def declare_reads(self, what: ResourceInfo | ObjectType[Any] | type[Any], *verbs: str) -> None:
        ...

    def places_of(self, what: ResourceInfo | ObjectType[Any] | type[Any]) -> list[str]:
        ...

    def rights(self, *, selected: bool=True) -> list[Right]:
        ...

    def new_controller(self, name: str, reconciler: Reconciler | ReconcileFunction, options: ControllerOptions=ControllerOptions()) -> Controller:
        ...

    def controller(self, name: str) -> Controller:
        ...

    def guard(self, transport: Transport) -> Transport:
        ...

    async def drain(self) -> None:
        ...

    def failing(self, *, tries_min: int=1) -> list[FailingObject]:
        ...

    def informer_for(self, what: ResourceInfo | ObjectType[Any] | type[Any]) -> Informer[Any]:
        ...

    def metadata_informer_for(self, what: ResourceInfo | ObjectType[Any] | type[Any]) -> Informer[PartialObjectMetadata]:
        ...

    def event_recorder(self, controller: str) -> EventRecorder:
        ...

    def add_healthz_check(self, name: str, check: Check) -> None:
        ...

    def add_readyz_check(self, name: str, check: Check) -> None:
        ...

    def stop(self) -> None:
        ...

    async def run(self, *, handle_signals: bool=False) -> None:
        ...
    client = CachedClient(guarded, timeout_s=options.read_timeout_s)
    registry = CollectorRegistry()
    elected = asyncio.Event()
    queue_metrics = WorkQueueMetrics(self.registry)

@dataclass(frozen=True, slots=True)
class ManagerOptions:
    namespace: str = ''
    namespaces: Namespaces = ()
    caches: Mapping[ResourceInfo | ObjectType[Any] | type[Any], CacheOptions] = field(default_factory=dict)
    resync_s: float = 0.0
    informer_settings: InformerSettings | None = None
    leader_election: LeaderElectionConfig | None = None
    probe_address: str = ''
    probes_serve_metrics: bool = True
    graceful_shutdown_timeout_s: float = 30.0
    cache_sync_timeout_s: float = 120.0
    read_timeout_s: float = 10.0
    event_sink: Callable[[Client], EventSink] = NewEventSink
    host: str = field(default_factory=socket.gethostname)
    clock: Clock = field(default_factory=SystemClock)
    tracer: ReconcileTracer | None = None
    webhook_service: ServiceReference | None = None
    webhook_address: tuple[str, int] | None = None
    webhook_cert_path: Path | None = None
    webhook_configurations: str = ''
    webhook_conversions: bool = True

MapFunction = Callable[[Ref[T]], Iterable[Request] | Awaitable[Iterable[Request]]]

def matching(matches: Callable[[Ref[T]], bool]) -> Predicate[T]:
    ...

class MaxOfRateLimiter:

    def __init__(self, *limiters: RateLimiter[Hashable]) -> None:
        ...

    def when(self, item: Hashable) -> float:
        ...

    def forget(self, item: Hashable) -> None:
        ...

    def num_requeues(self, item: Hashable) -> int:
        ...

def modules_below(package: ModuleType) -> Iterator[ModuleType]:
    ...

@dataclass(frozen=True, slots=True)
class NamespaceSelector:
    label_selector: str

class NewEventSink:

    def __init__(self, client: Client) -> None:
        ...

    async def post(self, sighting: Sighting) -> None:
        ...

def not_(predicate: Predicate[T]) -> Predicate[T]:
    ...

class ObjectTasks(Generic[T]):

    def __init__(self, informer: HandlerHost[T], function: ObjectFunction, *, restart_on: Predicate[T] | None=None) -> None:
        ...

    async def run(self) -> None:
        ...

    def on_add(self, obj: Ref[T], is_in_initial_list: bool) -> None:
        ...

    def on_update(self, old: Ref[T], new: Ref[T]) -> None:
        ...

    def on_delete(self, obj: Deletion[T]) -> None:
        ...

@dataclass(frozen=True, slots=True)
class OperatorSettings:
    log: LogSettings = nested(LogSettings, prefix='log-', group='Log')
    log_levels: tuple[tuple[str, str], ...] = ...
    kubeconfig: Path | None = ...
    context: str = ...
    namespaces: tuple[str, ...] = setting((), 'Namespaces to watch. Default: all.', kind=NAMES, group='Cluster')
    leader_elect: bool = ...
    leader_election_id: str = ...
    leader_election_namespace: str = ...
    health_probe_bind_address: str = ...
    metrics_bind_address: str = ...
    metrics_secure: bool = ...
    metrics_cert_path: Path | None = ...
    webhook_service: str = ...
    webhook_cert_path: Path | None = ...
    webhook_configurations: str = ...
    webhook_conversions: bool = ...
    profiling: bool = ...
    tracing_endpoint: str = ...
    tracing_sampling_rate: float = ...
    tracing_insecure: bool = setting(True, 'Export spans without TLS.', group='Tracing')
    graceful_shutdown_timeout_s: float = ...

def or_(*predicates: Predicate[T]) -> Predicate[T]:
    ...

def owner_reference(owner: Any, *, controller: bool=False, block_owner_deletion: bool=False) -> OwnerReference:
    ...

def parse_schedule(text: str) -> Schedule:
    ...

async def patch_condition(client: ResourceClient[T], obj: T, condition: Condition, fields: Mapping[str, Any] | None=None, *, clock: Clock | None=None) -> bool:
    ...

async def patch_finalizer_in(client: ResourceClient[T], obj: T, name: str) -> T:
    ...

async def patch_finalizer_out(client: ResourceClient[T], obj: T, name: str) -> T | None:
    ...

async def patch_status(client: ResourceClient[T], before: T, after: T, *, optimistic_lock: bool=False) -> T:
    ...

class PeriodicSource:

    def __init__(self, requests: Callable[[], Iterable[Request]], period_s: float, *, jitter: float=0.1, available: Callable[[], Awaitable[None]] | None=None) -> None:
        ...

    async def run(self, queue: WorkQueue[Request], *, synced: asyncio.Event) -> None:
        ...

class Predicate(Generic[T]):

    def create(self, obj: Ref[T]) -> bool:
        ...

    def update(self, old: Ref[T], new: Ref[T]) -> bool:
        ...

    def delete(self, obj: Ref[T]) -> bool:
        ...

@dataclass(frozen=True)
class PredicateFuncs(Predicate[T]):

    def create(self, obj: Ref[T]) -> bool:
        ...

    def update(self, old: Ref[T], new: Ref[T]) -> bool:
        ...

    def delete(self, obj: Ref[T]) -> bool:
        ...
    on_create: Callable[[Ref[T]], bool] | None = None
    on_update: Callable[[Ref[T], Ref[T]], bool] | None = None
    on_delete: Callable[[Ref[T]], bool] | None = None

class Probes:

    def __init__(self, registry: CollectorRegistry | None, address: str) -> None:
        ...
    needs_leader_election = False

    @property
    def port(self) -> int:
        ...

    def add_healthz_check(self, name: str, check: Check) -> None:
        ...

    def add_readyz_check(self, name: str, check: Check) -> None:
        ...

    async def ready(self) -> None:
        ...

    async def run(self) -> None:
        ...

    async def respond(self, request: Request) -> Response:
        ...

class QueueShutDown(Exception):
    ...

class RateLimiter(Protocol[K_contra]):

    def when(self, item: K_contra) -> float:
        ...

    def forget(self, item: K_contra) -> None:
        ...

    def num_requeues(self, item: K_contra) -> int:
        ...

class ReconcileContext(NamedTuple):
    controller: str
    request: Request
    reconcile_id: str
    priority: int = 0

    def fields(self) -> dict[str, str]:
        ...

ReconcileFunction = Callable[[Request], Awaitable[Result | None] | Result | None]

class ReconcileLogFilter(logging.Filter):

    def filter(self, record: logging.LogRecord) -> bool:
        ...

class Reconciler(Protocol):

    def reconcile(self, request: Request) -> Awaitable[Result | None] | Result | None:
        ...

class ReconcileTimeout(TimeoutError):
    ...

class ReconcileTracer(Protocol):

    def reconcile(self, context: ReconcileContext) -> AbstractContextManager[None]:
        ...

    def transport(self, inner: Transport) -> Transport:
        ...

def remove_condition(conditions: list[C], type: str) -> bool:
    ...

def remove_finalizer(obj: Any, name: str) -> bool:
    ...

def remove_owner_reference(owner: Any, owned: Any) -> bool:
    ...

class Request(NamedTuple):
    namespace: str
    name: str

    @property
    def key(self) -> str:
        ...

    @classmethod
    def of_key(cls, key: str) -> 'Request':
        ...

class ResourceVersionChanged(Predicate[Any]):

    def create(self, obj: Ref[T]) -> bool:
        ...

    def update(self, old: Ref[Any], new: Ref[Any]) -> bool:
        ...

    def delete(self, obj: Ref[T]) -> bool:
        ...

@dataclass(frozen=True, slots=True)
class Result:
    requeue_after_s: float | None = None
    priority: int | None = None

class RetryLater(Exception):

    def __init__(self, *args: object, after_s: float | None=None) -> None:
        ...
    after_s: float | None = None

async def run(manager: Manager, settings: OperatorSettings=OperatorSettings()) -> None:
    ...

class Runnable(Protocol):

    async def run(self) -> None:
        ...

@dataclass(frozen=True, slots=True)
class Schedule:
    fields: tuple[CronField, ...] = ()
    every_ns: int = 0
    time_zone: str = ''

    def next_after(self, instant: dt.datetime) -> dt.datetime | None:
        ...

    def latest(self, since: dt.datetime, until: dt.datetime) -> dt.datetime | None:
        ...

def set_condition(conditions: list[C], new: C, clock: Clock | None=None) -> bool:
    ...

def set_controller_reference(owner: Any, controlled: Any, *, block_owner_deletion: bool=True) -> None:
    ...

def set_owner_reference(owner: Any, owned: Any, *, block_owner_deletion: bool=False) -> None:
    ...

class ShutdownTimeout(TimeoutError):
    ...

class Source(Protocol):

    async def run(self, queue: WorkQueue[Request], *, synced: asyncio.Event) -> None:
        ...

class StaleCache(TimeoutError):
    ...

class TerminalError(Exception):
    ...

class WithMaxWaitRateLimiter:

    def __init__(self, limiter: RateLimiter[Hashable], max_delay_s: float) -> None:
        ...

    def when(self, item: Hashable) -> float:
        ...

    def forget(self, item: Hashable) -> None:
        ...

    def num_requeues(self, item: Hashable) -> int:
        ...

class WorkQueue(Generic[K]):

    def __init__(self, name: str='', *, rate_limiter: RateLimiter[K] | None=None, metrics: WorkQueueMetrics | None=None) -> None:
        ...

    @property
    def shutting_down(self) -> bool:
        ...

    @property
    def processing(self) -> frozenset[K]:
        ...

    def add(self, key: K, *, priority: int=0) -> None:
        ...

    def add_after(self, key: K, delay_s: float, *, priority: int=0) -> None:
        ...

    def add_rate_limited(self, key: K, *, priority: int=0, at_least_s: float=0.0) -> float | None:
        ...

    def forget(self, key: K) -> None:
        ...

    def num_requeues(self, key: K) -> int:
        ...

    async def get(self) -> K:
        ...

    async def get_with_priority(self) -> tuple[K, int]:
        ...

    def done(self, key: K) -> None:
        ...

    def shut_down(self) -> None:
        ...

    async def shut_down_with_drain(self) -> None:
        ...

class WorkQueueMetrics:

    def __init__(self, registry: CollectorRegistry) -> None:
        ...

    def of(self, name: str) -> QueueMetrics:
        ...

    def describe(self) -> list[Metric]:
        ...

    def collect(self) -> Iterator[Metric]:
        ...
