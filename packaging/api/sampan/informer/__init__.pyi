from dataclasses import dataclass, field

__all__ = [
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
    "Indexer",
    "IndexFailed",
    "IndexFunction",
    "Informer",
    "InformerGroup",
    "InformerMetrics",
    "InformerRegistration",
    "InformerSettings",
    "InformerStopped",
    "InformerStore",
    "InOrderQueue",
    "join_key",
    "last_known",
    "Lister",
    "log_watch_error",
    "NAMESPACE_INDEX",
    "NamespaceLister",
    "Queue",
    "ReadableStore",
    "Ref",
    "Reflector",
    "ReflectorSettings",
    "ReflectorStore",
    "RefReader",
    "Registration",
    "Scope",
    "SharedInformer",
    "SharedInformerFactory",
    "split_key",
    "strip_fields",
    "strip_managed_fields",
    "Syncable",
    "Transform",
    "transform_objects",
    "TransformError",
    "UnreadableObject",
    "wait_for_cache_sync",
    "WatchErrorHandler",
    "WatchFailure",
]

class Batch(msgspec.Struct, Generic[T], frozen=True, gc=False, eq=False):
    deltas: Sequence[Delta[T]]
    is_in_initial_list: bool

class DeletedFinalStateUnknown(msgspec.Struct, Generic[T], frozen=True, gc=False, eq=False):
    key: str
    last_known: Ref[T]

    @property
    def namespace(self) -> str:
        ...

    @property
    def name(self) -> str:
        ...

    @property
    def uid(self) -> str:
        ...

Deletion = Ref[T] | DeletedFinalStateUnknown[T]

class Delta(msgspec.Struct, Generic[T], frozen=True, gc=False, eq=False):
    type: DeltaType
    obj: Deletion[T] | None = None
    resource_version: str = ''
    refs: Sequence[Ref[T]] = ()

class DeltaFIFO(Generic[T]):

    def __init__(self, known_objects: KnownObjects[T]) -> None:
        ...

    def add(self, ref: Ref[T], *, ordered: bool=True) -> None:
        ...

    def update(self, ref: Ref[T]) -> None:
        ...

    def delete(self, ref: Ref[T]) -> None:
        ...

    def replace(self, refs: Sequence[Ref[T]], resource_version: str) -> None:
        ...

    def bookmark(self, resource_version: str) -> None:
        ...

    def resync(self) -> None:
        ...

    async def room(self) -> None:
        ...

    def has_synced(self) -> bool:
        ...

    async def pop_batch(self) -> Batch[T]:
        ...

class DeltaType(enum.Enum):
    ADDED = 'Added'
    UPDATED = 'Updated'
    DELETED = 'Deleted'
    REPLACED = 'Replaced'
    SYNC = 'Sync'
    REPLACED_ALL = 'ReplacedAll'
    SYNC_ALL = 'SyncAll'
    BOOKMARK = 'Bookmark'

class EventHandler(Protocol[T]):

    def on_add(self, obj: Ref[T], is_in_initial_list: bool) -> HandlerResult:
        ...

    def on_update(self, old: Ref[T], new: Ref[T]) -> HandlerResult:
        ...

    def on_delete(self, obj: Deletion[T]) -> HandlerResult:
        ...

@dataclass(frozen=True, slots=True)
class EventHandlerFuncs(Generic[T]):
    add: Callable[[Ref[T]], HandlerResult] | None = None
    update: Callable[[Ref[T], Ref[T]], HandlerResult] | None = None
    delete: Callable[[Deletion[T]], HandlerResult] | None = None

    def on_add(self, obj: Ref[T], is_in_initial_list: bool) -> HandlerResult:
        ...

    def on_update(self, old: Ref[T], new: Ref[T]) -> HandlerResult:
        ...

    def on_delete(self, obj: Deletion[T]) -> HandlerResult:
        ...

@dataclass(frozen=True, slots=True)
class FilteringEventHandler(Generic[T]):
    passes: Callable[[Ref[T]], bool]
    handler: EventHandler[T]

    def on_add(self, obj: Ref[T], is_in_initial_list: bool) -> HandlerResult:
        ...

    def on_update(self, old: Ref[T], new: Ref[T]) -> HandlerResult:
        ...

    def on_delete(self, obj: Deletion[T]) -> HandlerResult:
        ...

class GroupRegistration(Generic[T]):

    def __init__(self, group: 'InformerGroup[T]', handler: EventHandler[T], resync_s: float | None) -> None:
        ...

    @property
    def pending(self) -> int:
        ...

    def has_synced(self) -> bool:
        ...

    async def synced(self) -> None:
        ...

    def remove(self) -> None:
        ...

    async def removed(self) -> None:
        ...

    def join(self, namespace: str, informer: SharedInformer[T]) -> None:
        ...

    def leave(self, namespace: str) -> None:
        ...

class Indexer(Generic[T]):

    def __init__(self, indexers: Mapping[str, IndexFunction[T]] | None=None, *, name: str='') -> None:
        ...

    @property
    def resource_version(self) -> str:
        ...

    def get(self, key: str) -> Ref[T] | None:
        ...

    def keys(self) -> list[str]:
        ...

    def refs(self) -> list[Ref[T]]:
        ...

    def by_index(self, name: str, value: str) -> list[Ref[T]]:
        ...

    def index_keys(self, name: str, value: str) -> list[str]:
        ...

    def index_values(self, name: str) -> list[str]:
        ...

    @property
    def index_names(self) -> frozenset[str]:
        ...

    def add_indexer(self, name: str, function: IndexFunction[T]) -> None:
        ...

    @property
    def unindexed(self) -> list[Unindexed[T]]:
        ...

    async def has_objects(self) -> None:
        ...

    async def at_least(self, resource_version: str, *, timeout_s: float | None=None) -> None:
        ...

    def add(self, ref: Ref[T], *, ordered: bool=True) -> None:
        ...

    def update(self, ref: Ref[T]) -> None:
        ...

    def delete(self, ref: Ref[T]) -> None:
        ...

    def put(self, ref: Ref[T]) -> Ref[T] | None:
        ...

    def remove(self, key: str) -> Ref[T] | None:
        ...

    def replace(self, refs: Sequence[Ref[T]], resource_version: str) -> None:
        ...

    def bookmark(self, resource_version: str) -> None:
        ...

    def close(self, error: Exception) -> None:
        ...

    async def room(self) -> None:
        ...

class IndexFailed(RuntimeError):
    ...

IndexFunction = Callable[[Ref[T]], Iterable[str]]

class Informer(Protocol[T]):

    @property
    def object_type(self) -> ObjectType[T]:
        ...

    @property
    def indexer(self) -> InformerStore[T]:
        ...

    def lister(self) -> Lister[T]:
        ...

    def has_synced(self) -> bool:
        ...

    async def synced(self) -> None:
        ...

    def add_handler(self, handler: EventHandler[T], *, resync_s: float | None=None) -> InformerRegistration:
        ...

    def add_indexer(self, name: str, function: IndexFunction[T]) -> None:
        ...

class InformerGroup(Generic[T]):

    def __init__(self, informers: Mapping[str, SharedInformer[T]], object_type: ObjectType[T], *, complete: bool=True) -> None:
        ...

    @property
    def namespaces(self) -> list[str]:
        ...

    def in_namespace(self, namespace: str) -> SharedInformer[T]:
        ...

    def add_handler(self, handler: EventHandler[T], *, resync_s: float | None=None) -> GroupRegistration[T]:
        ...

    def add_indexer(self, name: str, function: IndexFunction[T]) -> None:
        ...

    def lister(self) -> Lister[T]:
        ...

    @property
    def is_complete(self) -> bool:
        ...

    def has_synced(self) -> bool:
        ...

    async def synced(self) -> None:
        ...

    def join(self, namespace: str, informer: SharedInformer[T]) -> None:
        ...

    def leave(self, namespace: str) -> SharedInformer[T] | None:
        ...

    def has_left(self, namespace: str) -> bool:
        ...

    def set_complete(self) -> None:
        ...

    async def complete(self) -> None:
        ...

    def forget(self, registration: GroupRegistration[T]) -> None:
        ...
    indexer: GroupStore[T] = GroupStore(self._informers, self._functions)

@dataclass(slots=True)
class InformerMetrics:
    lists: int = 0
    list_pages: int = 0
    list_failures: int = 0
    streams: int = 0
    stream_fallbacks: int = 0
    watches: int = 0
    watch_failures: int = 0
    short_watches: int = 0
    idle_watches: int = 0
    events: int = 0
    bookmarks: int = 0
    unreadable: int = 0
    stale: int = 0
    backoffs: int = 0

class InformerRegistration(Protocol):

    @property
    def pending(self) -> int:
        ...

    def has_synced(self) -> bool:
        ...

    async def synced(self) -> None:
        ...

    def remove(self) -> None:
        ...

    async def removed(self) -> None:
        ...

@dataclass(frozen=True, slots=True)
class InformerSettings:
    reflector: ReflectorSettings = field(default_factory=ReflectorSettings)
    keep_managed_fields: bool = False
    compress_deltas: bool = False

class InformerStopped(RuntimeError):
    ...

class InformerStore(ReadableStore[T], Protocol[T]):

    def get(self, key: str) -> Ref[T] | None:
        ...

    def refs(self) -> list[Ref[T]]:
        ...

    def by_index(self, name: str, value: str) -> list[Ref[T]]:
        ...

    def keys(self) -> list[str]:
        ...

    async def has_objects(self) -> None:
        ...

class InOrderQueue(Generic[T]):

    def __init__(self) -> None:
        ...

    def add(self, ref: Ref[T], *, ordered: bool=True) -> None:
        ...

    def update(self, ref: Ref[T]) -> None:
        ...

    def delete(self, ref: Ref[T]) -> None:
        ...

    def replace(self, refs: Sequence[Ref[T]], resource_version: str) -> None:
        ...

    def bookmark(self, resource_version: str) -> None:
        ...

    def resync(self) -> None:
        ...

    async def room(self) -> None:
        ...

    def has_synced(self) -> bool:
        ...

    async def pop_batch(self) -> Batch[T]:
        ...

def join_key(namespace: str, name: str) -> str:
    ...

def last_known(obj: Deletion[T]) -> Ref[T]:
    ...

class Lister(Generic[T]):

    def __init__(self, store: ReadableStore[T]) -> None:
        ...

    def get(self, key: str) -> T | None:
        ...

    def list(self, selector: str | Selector='') -> list[T]:
        ...

    def refs(self, selector: str | Selector='') -> Sequence[Ref[T]]:
        ...

    def by_index(self, name: str, value: str) -> Sequence[T]:
        ...

    def namespaced(self, namespace: str) -> 'NamespaceLister[T]':
        ...

def log_watch_error(failure: WatchFailure) -> None:
    ...

NAMESPACE_INDEX: Final = 'namespace'

class NamespaceLister(Generic[T]):

    def __init__(self, store: ReadableStore[T], namespace: str) -> None:
        ...

    def get(self, name: str) -> T | None:
        ...

    def list(self, selector: str | Selector='') -> list[T]:
        ...

    def refs(self, selector: str | Selector='') -> Sequence[Ref[T]]:
        ...

class Queue(ReflectorStore[T], Protocol[T]):

    def add(self, ref: Ref[T], *, ordered: bool=True) -> None:
        ...

    def update(self, ref: Ref[T]) -> None:
        ...

    def delete(self, ref: Ref[T]) -> None:
        ...

    def replace(self, refs: Sequence[Ref[T]], resource_version: str) -> None:
        ...

    def bookmark(self, resource_version: str) -> None:
        ...

    async def room(self) -> None:
        ...

    def resync(self) -> None:
        ...

    async def pop_batch(self) -> Batch[T]:
        ...

    def has_synced(self) -> bool:
        ...

class ReadableStore(Protocol[T]):

    def get(self, key: str) -> Ref[T] | None:
        ...

    def refs(self) -> list[Ref[T]]:
        ...

    def by_index(self, name: str, value: str) -> list[Ref[T]]:
        ...

class Ref(msgspec.Struct, Generic[T], frozen=True, gc=False, eq=False):
    object_type: ObjectType[T]
    key: str
    uid: str
    resource_version: str
    generation: int
    labels: Mapping[str, str]
    raw: bytes

    @property
    def namespace(self) -> str:
        ...

    @property
    def name(self) -> str:
        ...

    @property
    def metadata(self) -> ObjectMeta:
        ...

    @property
    def annotations(self) -> dict[str, str]:
        ...

    @property
    def owner_references(self) -> list[OwnerReference]:
        ...

    @property
    def deletion_timestamp(self) -> str | None:
        ...

    def decode(self) -> T:
        ...

class Reflector(Generic[T]):

    def __init__(self, list_watch: ListWatch, store: ReflectorStore[T], reader: RefReader[T], *, settings: ReflectorSettings | None=None, metrics: InformerMetrics | None=None) -> None:
        ...

    @property
    def last_resource_version(self) -> str:
        ...

    @property
    def streaming(self) -> bool:
        ...

    async def run(self) -> None:
        ...
    last_failure: WatchFailure | None = None

@dataclass(frozen=True, slots=True)
class ReflectorSettings:
    page_size: int = 500
    streaming: bool = True
    newest: bool = False
    stream_stall_s: float = 10.0
    stream_s_max: float = 300.0
    bookmarks: bool = True
    watch_s_min: float = 300.0
    watch_s_max: float = 600.0
    idle_timeout_s: float = IDLE_S
    idle_timeout_without_bookmarks_s: float = IDLE_WITHOUT_BOOKMARKS_S
    short_watch_s: float = 1.0
    short_watches_max: int = 3
    internal_error_s: float = 60.0
    backoff: Backoff = LIST_WATCH_BACKOFF
    backoff_reset_s: float = BACKOFF_RESET_S
    rand: Callable[[], float] = random.random

class ReflectorStore(Protocol[T]):

    def add(self, ref: Ref[T], *, ordered: bool=True) -> None:
        ...

    def update(self, ref: Ref[T]) -> None:
        ...

    def delete(self, ref: Ref[T]) -> None:
        ...

    def replace(self, refs: Sequence[Ref[T]], resource_version: str) -> None:
        ...

    def bookmark(self, resource_version: str) -> None:
        ...

    async def room(self) -> None:
        ...

class RefReader(Generic[T]):

    def __init__(self, object_type: ObjectType[T], *, transform: Transform | None=None, keep_managed_fields: bool=False) -> None:
        ...

    def read(self, body: bytes) -> Ref[T]:
        ...

class Registration(Generic[T]):

    def __init__(self, handler: EventHandler[T], *, resync_s: float, on_remove: 'Callable[[Registration[T]], None]'):
        ...

    @property
    def pending(self) -> int:
        ...

    def has_synced(self) -> bool:
        ...

    async def synced(self) -> None:
        ...

    def remove(self) -> None:
        ...

    async def removed(self) -> None:
        ...

    def finish(self) -> None:
        ...

    def notify_added(self, ref: Ref[T], is_in_initial_list: bool) -> None:
        ...

    def notify_updated(self, old: Ref[T], new: Ref[T]) -> None:
        ...

    def notify_deleted(self, obj: Deletion[T]) -> None:
        ...

    def notify_synced(self) -> None:
        ...

    async def run(self) -> None:
        ...
    resync_s = resync_s
    resync_at = 0.0
    resyncing = False

@dataclass(frozen=True, slots=True)
class Scope:
    namespace: str | None = None
    label_selector: str = ''
    field_selector: str = ''

class SharedInformer(Generic[T]):

    def __init__(self, list_watch: ListWatch, object_type: ObjectType[T], *, resync_s: float=0.0, transform: Transform | None=None, indexers: Mapping[str, IndexFunction[T]] | None=None, settings: InformerSettings | None=None) -> None:
        ...

    def lister(self) -> Lister[T]:
        ...

    def has_synced(self) -> bool:
        ...

    async def synced(self) -> None:
        ...

    @property
    def last_resource_version(self) -> str:
        ...

    async def at_least(self, resource_version: str, *, timeout_s: float | None=None) -> None:
        ...

    @property
    def size_bytes(self) -> int:
        ...

    @property
    def pending(self) -> int:
        ...

    @property
    def last_failure(self) -> WatchFailure | None:
        ...

    @property
    def stopped(self) -> bool:
        ...

    def add_indexer(self, name: str, function: IndexFunction[T]) -> None:
        ...

    def add_handler(self, handler: EventHandler[T], *, resync_s: float | None=None) -> Registration[T]:
        ...

    @property
    def registrations(self) -> list[Registration[T]]:
        ...

    def set_watch_error_handler(self, handler: WatchErrorHandler) -> None:
        ...

    async def run(self) -> None:
        ...

    async def end(self) -> None:
        ...
    indexer: Indexer[T] = Indexer(indexers, name=str(object_type.info.gvr.group_resource))

class SharedInformerFactory:

    def __init__(self, client: Resources, *, namespace: str='', resync_s: float=0.0, settings: InformerSettings | None=None) -> None:
        ...

    @property
    def informers(self) -> list[SharedInformer[Any]]:
        ...

    @property
    def collections(self) -> list[tuple[ResourceInfo, Scope]]:
        ...

    def informer_for(self, what: ResourceInfo | ObjectType[Any] | type[Any], scope: Scope=Scope(), *, transform: Transform | None=None) -> SharedInformer[Any]:
        ...

    def metadata_informer_for(self, what: ResourceInfo | ObjectType[Any] | type[Any], scope: Scope=Scope(), *, transform: Transform | None=None) -> SharedInformer[PartialObjectMetadata]:
        ...

    def informers_for(self, what: ResourceInfo | ObjectType[Any] | type[Any], namespaces: Iterable[str], scope: Scope=Scope()) -> InformerGroup[Any]:
        ...

    async def start(self, task_group: asyncio.TaskGroup) -> None:
        ...

    async def wait_for_cache_sync(self, *, timeout_s: float | None=None) -> None:
        ...

    async def remove(self, informer: SharedInformer[Any]) -> None:
        ...

    async def retire(self, informer: SharedInformer[Any]) -> None:
        ...

    async def shutdown(self) -> None:
        ...

def split_key(key: str) -> tuple[str, str]:
    ...

def strip_fields(*paths: str | Sequence[str]) -> Transform:
    ...

def strip_managed_fields(body: bytes) -> bytes:
    ...

class Syncable(Protocol):

    def has_synced(self) -> bool:
        ...

    async def synced(self) -> None:
        ...

Transform = Callable[[bytes], bytes]

def transform_objects(object_type: ObjectType[T], function: Callable[[T], T]) -> Transform:
    ...

class TransformError(Exception):
    ...

class UnreadableObject(ValueError):
    ...

async def wait_for_cache_sync(*caches: Syncable, timeout_s: float | None=None) -> None:
    ...

WatchErrorHandler = Callable[[WatchFailure], None]

@dataclass(frozen=True, slots=True)
class WatchFailure:
    resource: str
    error: Exception
    next_step: str
    delay_s: float

    @property
    def cause(self) -> str:
        ...
