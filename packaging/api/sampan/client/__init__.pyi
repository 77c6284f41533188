from dataclasses import dataclass, field

__all__ = [
    "all_of",
    "AlreadyExists",
    "any_of",
    "api_error",
    "ApiError",
    "applied_fields",
    "ApplyDiff",
    "ApplyPatch",
    "Backoff",
    "BadRequest",
    "BlockingClient",
    "BlockingResourceClient",
    "Client",
    "ClientError",
    "Condition",
    "condition_is",
    "Config",
    "ConfigError",
    "ConfigOverrides",
    "Conflict",
    "CONFLICT_BACKOFF",
    "connect",
    "connect_transport",
    "create_or_patch",
    "create_or_update",
    "CredentialError",
    "deleted",
    "DeleteOptions",
    "discover",
    "Discovered",
    "exists",
    "Expired",
    "Forbidden",
    "generation_observed",
    "guarded",
    "HttpRequest",
    "HttpResponse",
    "Impersonation",
    "in_cluster_config",
    "InternalError",
    "Invalid",
    "json_path",
    "JsonPatch",
    "list_all",
    "list_pages",
    "ListOptions",
    "ListWatch",
    "load_config",
    "merge_patch_between",
    "MergePatch",
    "MethodNotAllowed",
    "NoMatch",
    "not_",
    "NotAcceptable",
    "NotFound",
    "ObjectList",
    "OperationResult",
    "PartialObjectMetadata",
    "Patch",
    "RawEvent",
    "RawList",
    "RequestEntityTooLarge",
    "ResourceClient",
    "ResourceName",
    "RESTClient",
    "RESTMapper",
    "retry_on_conflict",
    "RetryPolicy",
    "Scale",
    "ServerError",
    "ServerTimeout",
    "ServiceUnavailable",
    "SLOW_CONFLICT_BACKOFF",
    "StrategicMergePatch",
    "SubresourceClient",
    "Timeout",
    "TooManyRequests",
    "Transport",
    "TransportError",
    "TransportTimeout",
    "Unauthorized",
    "Undecodable",
    "Undecoded",
    "UnsupportedMediaType",
    "upgrade_managed_fields",
    "wait_for",
    "WaitTimeout",
    "WatchEvent",
    "WriteOptions",
]

def all_of(*conditions: Condition) -> Condition:
    ...

class AlreadyExists(ApiError):

    @property
    def retry_after_s(self) -> int:
        ...

    def to_status(self) -> dict[str, Any]:
        ...
    stated_reason: str = ''

    @property
    def causes(self) -> list[Details]:
        ...

    def has_cause(self, reason: str) -> bool:
        ...

def any_of(*conditions: Condition) -> Condition:
    ...

def api_error(status: Mapping[str, Any]) -> ApiError:
    ...

class ApiError(StatusError, ClientError):

    @property
    def retry_after_s(self) -> int:
        ...

    def to_status(self) -> dict[str, Any]:
        ...
    stated_reason: str = ''

    @property
    def causes(self) -> list[Details]:
        ...

    def has_cause(self, reason: str) -> bool:
        ...

def applied_fields(obj: Object, manager: str, *, subresource: str='') -> Object:
    ...

@dataclass(frozen=True, slots=True)
class ApplyDiff:
    before: Object | None
    after: Object

    @property
    def changed(self) -> bool:
        ...

@dataclass(frozen=True, slots=True)
class ApplyPatch:
    fields: Mapping[str, Any]
    content_type: ClassVar[str] = 'application/apply-patch+yaml'

    def body(self) -> bytes:
        ...

@dataclass(frozen=True, slots=True)
class Backoff:
    duration_s: float
    factor: float = 1.0
    jitter: float = 0.0
    steps: int | None = None
    cap_s: float = float('inf')

    def delays(self, rand: Callable[[], float]=random.random) -> Iterator[float]:
        ...

class BadRequest(ApiError):

    @property
    def retry_after_s(self) -> int:
        ...

    def to_status(self) -> dict[str, Any]:
        ...
    stated_reason: str = ''

    @property
    def causes(self) -> list[Details]:
        ...

    def has_cause(self, reason: str) -> bool:
        ...

class BlockingClient:

    def __init__(self, make: Callable[[], Client]) -> None:
        ...

    @classmethod
    def connect(cls, path: str | Path | None=None, *, context: str='', namespace: str='', field_manager: str='', request_timeout_s: float=REQUEST_TIMEOUT_S, environ: Mapping[str, str] | None=None) -> Self:
        ...

    @classmethod
    def from_config(cls, config: Config, *, field_manager: str='', request_timeout_s: float=REQUEST_TIMEOUT_S) -> Self:
        ...

    def run(self, coroutine: Coroutine[Any, Any, R]) -> R:
        ...

    def resource(self, what: ResourceInfo | ObjectType[T] | type[T], *, namespace: str | None=None) -> BlockingResourceClient[Object] | BlockingResourceClient[T]:
        ...

    def resource_for(self, what: ResourceName, *, namespace: str | None=None) -> BlockingResourceClient[Object]:
        ...

    def retry_on_conflict(self, attempt: Callable[[], R], *, backoff: Backoff=CONFLICT_BACKOFF) -> R:
        ...

class BlockingResourceClient(Generic[T]):

    def __init__(self, thread: LoopThread, asynchronous: ResourceClient[T]) -> None:
        ...

    @property
    def object_type(self) -> ObjectType[T]:
        ...

    @property
    def info(self) -> ResourceInfo:
        ...

    @property
    def namespace(self) -> str:
        ...

    def in_namespace(self, namespace: str) -> 'BlockingResourceClient[T]':
        ...

    def with_timeout(self, request_timeout_s: float) -> 'BlockingResourceClient[T]':
        ...

    def metadata_only(self) -> 'BlockingResourceClient[PartialObjectMetadata]':
        ...

    def get(self, name: str, *, resource_version: str | None=None) -> T:
        ...

    def list(self, options: ListOptions=ListOptions()) -> ObjectList[T]:
        ...

    def list_all(self, options: ListOptions=ListOptions(), *, page_size: int=PAGE_SIZE) -> ObjectList[T]:
        ...

    def items(self, options: ListOptions=ListOptions(), *, page_size: int=PAGE_SIZE) -> Generator[T, None, None]:
        ...

    def watch(self, options: ListOptions=ListOptions()) -> Generator[WatchEvent[T], None, None]:
        ...

    def follow(self, options: ListOptions=ListOptions()) -> Generator[WatchEvent[T], None, None]:
        ...

    def create(self, obj: T, options: WriteOptions=WriteOptions()) -> T:
        ...

    def update(self, obj: T, options: WriteOptions=WriteOptions()) -> T:
        ...

    def update_status(self, obj: T, options: WriteOptions=WriteOptions()) -> T:
        ...

    def patch(self, name: str, patch: Patch, options: WriteOptions=WriteOptions(), *, subresource: str='') -> T:
        ...

    def apply(self, obj: T | Object, *, field_manager: str='', force: bool=False, subresource: str='') -> T:
        ...

    def diff(self, obj: T | Object, *, field_manager: str='', force: bool=False, subresource: str='') -> ApplyDiff:
        ...

    def delete(self, name: str, options: DeleteOptions=DeleteOptions()) -> T | None:
        ...

    def delete_collection(self, options: DeleteOptions=DeleteOptions(), selection: ListOptions=ListOptions()) -> None:
        ...

    def evict(self, name: str, options: DeleteOptions=DeleteOptions()) -> None:
        ...

    @property
    def status(self) -> 'BlockingSubresourceClient[T]':
        ...

    @property
    def scale(self) -> 'BlockingSubresourceClient[Scale]':
        ...

    def subresource(self, name: str) -> 'BlockingSubresourceClient[Object]':
        ...

    def wait_for(self, name: str, condition: Condition | Callable[[T | None], bool], *, timeout_s: float) -> T | None:
        ...

    def create_or_update(self, name: str, mutate: Mutate[T]) -> tuple[T, OperationResult]:
        ...

    def create_or_patch(self, name: str, mutate: Mutate[T]) -> tuple[T, OperationResult]:
        ...

class Client:

    def __init__(self, transport: Transport, *, namespace: str='default', field_manager: str='', mapper: RESTMapper | None=None, counts: RequestCounts | None=None, request_timeout_s: float=REQUEST_TIMEOUT_S) -> None:
        ...

    @classmethod
    def from_config(cls, config: Config, *, field_manager: str='', warnings: WarningHandler | None=None, request_timeout_s: float=REQUEST_TIMEOUT_S) -> Self:
        ...

    def with_defaults(self, *, namespace: str | None=None, field_manager: str | None=None, field_validation: FieldValidation | None=None, dry_run: bool | None=None, request_timeout_s: float | None=None) -> 'Client':
        ...

    def through(self, wrap: Callable[[Transport], Transport]) -> 'Client':
        ...

    def resource(self, what: ResourceInfo | ObjectType[T] | type[T], *, namespace: str | None=None) -> ResourceClient[Object] | ResourceClient[T]:
        ...

    async def resource_for(self, what: ResourceName, *, namespace: str | None=None) -> ResourceClient[Object]:
        ...

    async def aclose(self) -> None:
        ...
    namespace = namespace

class ClientError(Exception):
    ...

@dataclass(frozen=True, slots=True)
class Condition:
    holds: Callable[[Object | None], bool]
    text: str

def condition_is(kind: str, status: str='True') -> Condition:
    ...

@dataclass(frozen=True, slots=True)
class Config:
    server: str
    namespace: str = 'default'
    tls: TlsOptions = field(default_factory=TlsOptions)
    token: str = field(default='', repr=False)
    token_file: str = ''
    username: str = ''
    password: str = field(default='', repr=False)
    exec: ExecConfig | None = None
    exec_cluster_config: Any = field(default=None, repr=False)
    impersonation: Impersonation = field(default_factory=Impersonation)
    proxy_url: str = field(default='', repr=False)
    compression: bool = True
    user_agent: str = ''
    environ: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)
    context: str = ''

class ConfigError(ClientError):
    ...

@dataclass(frozen=True, slots=True)
class ConfigOverrides:
    context: str = ''
    cluster: str = ''
    user: str = ''
    namespace: str = ''
    server: str = ''
    certificate_authority: str = ''
    insecure_skip_tls_verify: bool = False
    token: str = field(default='', repr=False)
    impersonation: Impersonation = field(default_factory=Impersonation)

class Conflict(ApiError):

    @property
    def retry_after_s(self) -> int:
        ...

    def to_status(self) -> dict[str, Any]:
        ...
    stated_reason: str = ''

    @property
    def causes(self) -> list[Details]:
        ...

    def has_cause(self, reason: str) -> bool:
        ...

CONFLICT_BACKOFF: Final = Backoff(0.01, factor=1.0, jitter=0.1, steps=5)

def connect(path: str | Path | None=None, *, context: str='', namespace: str='', field_manager: str='', request_timeout_s: float=REQUEST_TIMEOUT_S, environ: Mapping[str, str] | None=None) -> Client:
    ...

def connect_transport(config: Config, *, settings: HttpSettings | None=None, retry: RetryPolicy | None=None, rate_limit: RateLimit | None=None, warnings: WarningHandler | None=None, counts: RequestCounts | None=None) -> Transport:
    ...

async def create_or_patch(client: ResourceClient[T], name: str, mutate: Mutate[T]) -> tuple[T, OperationResult]:
    ...

async def create_or_update(client: ResourceClient[T], name: str, mutate: Mutate[T]) -> tuple[T, OperationResult]:
    ...

class CredentialError(TransportError):

    def __init__(self, message: str) -> None:
        ...

def deleted(uid: str='') -> Condition:
    ...

@dataclass(frozen=True, slots=True)
class DeleteOptions:
    propagation_policy: Propagation | None = None
    grace_period_seconds: int | None = None
    uid: str = ''
    resource_version: str = ''
    dry_run: bool = False

    def body(self) -> dict[str, Any]:
        ...

async def discover(rest: RESTClient) -> Discovered:
    ...

@dataclass(frozen=True, slots=True)
class Discovered:
    versions: Mapping[GroupVersion, Sequence[ResourceInfo]]
    failed: Mapping[GroupVersion, str] = field(default_factory=dict)

    @property
    def resources(self) -> list[ResourceInfo]:
        ...

def exists() -> Condition:
    ...

class Expired(ApiError):

    @property
    def retry_after_s(self) -> int:
        ...

    def to_status(self) -> dict[str, Any]:
        ...
    stated_reason: str = ''

    @property
    def causes(self) -> list[Details]:
        ...

    def has_cause(self, reason: str) -> bool:
        ...

class Forbidden(ApiError):

    @property
    def retry_after_s(self) -> int:
        ...

    def to_status(self) -> dict[str, Any]:
        ...
    stated_reason: str = ''

    @property
    def causes(self) -> list[Details]:
        ...

    def has_cause(self, reason: str) -> bool:
        ...

def generation_observed() -> Condition:
    ...

def guarded(object_type: ObjectType[T]) -> ObjectType[T | Undecoded]:
    ...

@dataclass(frozen=True, slots=True)
class HttpRequest:
    method: str
    target: str
    headers: Headers = field(default_factory=dict)
    body: bytes = b''
    timeout_s: float | None = None
    idle_timeout_s: float | None = None
    stream: bool = False

class HttpResponse(Protocol):

    @property
    def status(self) -> int:
        ...

    @property
    def headers(self) -> Headers:
        ...

    async def read(self) -> bytes:
        ...

    def chunks(self) -> AsyncIterator[bytes]:
        ...

    async def aclose(self) -> None:
        ...

@dataclass(frozen=True, slots=True)
class Impersonation:
    user: str = ''
    uid: str = ''
    groups: tuple[str, ...] = ()
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def headers(self) -> dict[str, str]:
        ...

def in_cluster_config(environ: Mapping[str, str], mounted: Path=SERVICE_ACCOUNT) -> Config:
    ...

class InternalError(ServerError):

    @property
    def retry_after_s(self) -> int:
        ...

    def to_status(self) -> dict[str, Any]:
        ...
    stated_reason: str = ''

    @property
    def causes(self) -> list[Details]:
        ...

    def has_cause(self, reason: str) -> bool:
        ...

class Invalid(ApiError):

    @property
    def retry_after_s(self) -> int:
        ...

    def to_status(self) -> dict[str, Any]:
        ...
    stated_reason: str = ''

    @property
    def causes(self) -> list[Details]:
        ...

    def has_cause(self, reason: str) -> bool:
        ...

def json_path(path: str, value: Any=_ANYTHING) -> Condition:
    ...

@dataclass(frozen=True, slots=True)
class JsonPatch:
    operations: Sequence[Mapping[str, Any]]
    content_type: ClassVar[str] = 'application/json-patch+json'

    def body(self) -> bytes:
        ...

async def list_all(list_page: ListPage, options: ListOptions, *, page_size: int=PAGE_SIZE) -> RawList:
    ...

async def list_pages(list_page: ListPage, options: ListOptions, *, page_size: int=PAGE_SIZE) -> AsyncGenerator[RawList, None]:
    ...

@dataclass(frozen=True, slots=True)
class ListOptions:
    label_selector: str = ''
    field_selector: str = ''
    resource_version: str | None = None
    resource_version_match: str = ''
    limit: int = 0
    continue_token: str = ''
    timeout_seconds: int | None = None
    allow_watch_bookmarks: bool = False
    send_initial_events: bool | None = None

    def query(self) -> dict[str, str]:
        ...

class ListWatch(Protocol):

    async def list(self, options: ListOptions) -> RawList:
        ...

    def watch(self, options: ListOptions) -> AsyncIterator[Sequence[RawEvent]]:
        ...

def load_config(path: str | Path | None=None, *, overrides: ConfigOverrides | None=None, environ: Mapping[str, str] | None=None, mounted: Path=SERVICE_ACCOUNT) -> Config:
    ...

def merge_patch_between(old: Object, new: Object, *, optimistic_lock: bool=False) -> MergePatch:
    ...

@dataclass(frozen=True, slots=True)
class MergePatch:
    fields: Mapping[str, Any]
    content_type: ClassVar[str] = 'application/merge-patch+json'

    def body(self) -> bytes:
        ...

class MethodNotAllowed(ApiError):

    @property
    def retry_after_s(self) -> int:
        ...

    def to_status(self) -> dict[str, Any]:
        ...
    stated_reason: str = ''

    @property
    def causes(self) -> list[Details]:
        ...

    def has_cause(self, reason: str) -> bool:
        ...

class NoMatch(ClientError):
    ...

def not_(condition: Condition) -> Condition:
    ...

class NotAcceptable(ApiError):

    @property
    def retry_after_s(self) -> int:
        ...

    def to_status(self) -> dict[str, Any]:
        ...
    stated_reason: str = ''

    @property
    def causes(self) -> list[Details]:
        ...

    def has_cause(self, reason: str) -> bool:
        ...

class NotFound(ApiError):

    @property
    def retry_after_s(self) -> int:
        ...

    def to_status(self) -> dict[str, Any]:
        ...
    stated_reason: str = ''

    @property
    def causes(self) -> list[Details]:
        ...

    def has_cause(self, reason: str) -> bool:
        ...

@dataclass(frozen=True, slots=True)
class ObjectList(Generic[T]):
    items: list[T]
    resource_version: str
    continue_token: str = ''
    remaining: int | None = None

class OperationResult(enum.StrEnum):
    NONE = 'unchanged'
    CREATED = 'created'
    UPDATED = 'updated'
    UPDATED_STATUS = 'updatedStatus'
    UPDATED_STATUS_ONLY = 'updatedStatusOnly'

class PartialObjectMetadata(msgspec.Struct, rename='camel', omit_defaults=True):
    api_version: str = ''
    kind: str = ''
    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)

class Patch(Protocol):

    @property
    def content_type(self) -> str:
        ...

    def body(self) -> bytes:
        ...

class RawEvent(msgspec.Struct, frozen=True):
    type: str
    object: msgspec.Raw

@dataclass(frozen=True, slots=True)
class RawList:
    items: Sequence[bytes]
    resource_version: str
    continue_token: str = ''
    remaining: int | None = None

class RequestEntityTooLarge(ApiError):

    @property
    def retry_after_s(self) -> int:
        ...

    def to_status(self) -> dict[str, Any]:
        ...
    stated_reason: str = ''

    @property
    def causes(self) -> list[Details]:
        ...

    def has_cause(self, reason: str) -> bool:
        ...

class ResourceClient(Generic[T]):

    def __init__(self, endpoint: ResourceEndpoint, object_type: ObjectType[T]) -> None:
        ...

    @property
    def info(self) -> ResourceInfo:
        ...

    @property
    def namespace(self) -> str:
        ...

    def in_namespace(self, namespace: str) -> 'ResourceClient[T]':
        ...

    def with_timeout(self, request_timeout_s: float) -> 'ResourceClient[T]':
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

ResourceName = ...

class RESTClient:

    def __init__(self, transport: Transport, *, request_timeout_s: float=REQUEST_TIMEOUT_S) -> None:
        ...

    def with_timeout(self, request_timeout_s: float) -> 'RESTClient':
        ...

    async def call(self, method: str, path: str, *, query: Mapping[str, str]=_NOTHING, body: bytes=b'', headers: Mapping[str, str]=_NOTHING) -> bytes:
        ...

    async def stream(self, path: str, *, query: Mapping[str, str], accept: str=JSON, idle_timeout_s: float | None=None) -> HttpResponse:
        ...

class RESTMapper:

    def __init__(self, discover: Callable[[], Awaitable[Discovered]], *, refresh_interval_s: float=REFRESH_INTERVAL_S) -> None:
        ...

    async def resource_for(self, what: ResourceName) -> ResourceInfo:
        ...

    async def resources_for(self, what: ResourceName) -> Sequence[ResourceInfo]:
        ...

    async def category(self, name: str) -> Sequence[ResourceInfo]:
        ...

    async def discovered(self) -> Discovered:
        ...

    def invalidate(self) -> None:
        ...

async def retry_on_conflict(attempt: Callable[[], Awaitable[R]], *, backoff: Backoff=CONFLICT_BACKOFF) -> R:
    ...

@dataclass(frozen=True, slots=True)
class RetryPolicy:
    responses_max: int = 10
    errors_max: int = 3
    base_s: float = 0.1
    cap_s: float = 5.0
    jitter: float = 0.5
    total_s: float = 60.0

    def delay_s(self, attempt: int, chance: float) -> float:
        ...

class Scale(msgspec.Struct, rename='camel', omit_defaults=True):
    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    spec: ScaleSpec = msgspec.field(default_factory=ScaleSpec)
    status: ScaleStatus = msgspec.field(default_factory=ScaleStatus)

class ServerError(ApiError):

    @property
    def retry_after_s(self) -> int:
        ...

    def to_status(self) -> dict[str, Any]:
        ...
    stated_reason: str = ''

    @property
    def causes(self) -> list[Details]:
        ...

    def has_cause(self, reason: str) -> bool:
        ...

class ServerTimeout(ServerError):

    @property
    def retry_after_s(self) -> int:
        ...

    def to_status(self) -> dict[str, Any]:
        ...
    stated_reason: str = ''

    @property
    def causes(self) -> list[Details]:
        ...

    def has_cause(self, reason: str) -> bool:
        ...

class ServiceUnavailable(ServerError):

    @property
    def retry_after_s(self) -> int:
        ...

    def to_status(self) -> dict[str, Any]:
        ...
    stated_reason: str = ''

    @property
    def causes(self) -> list[Details]:
        ...

    def has_cause(self, reason: str) -> bool:
        ...

SLOW_CONFLICT_BACKOFF: Final = Backoff(0.01, factor=5.0, jitter=0.1, steps=4)

@dataclass(frozen=True, slots=True)
class StrategicMergePatch:
    fields: Mapping[str, Any]
    content_type: ClassVar[str] = 'application/strategic-merge-patch+json'

    def body(self) -> bytes:
        ...

class SubresourceClient(Generic[T]):

    def __init__(self, endpoint: ResourceEndpoint, subresource: str, object_type: ObjectType[T]) -> None:
        ...

    async def get(self, name: str) -> T:
        ...

    async def create(self, name: str, obj: T, options: WriteOptions=WriteOptions()) -> T:
        ...

    async def update(self, name: str, obj: T, options: WriteOptions=WriteOptions()) -> T:
        ...

    async def patch(self, name: str, patch: Patch, options: WriteOptions=WriteOptions()) -> T:
        ...

class Timeout(ServerError):

    @property
    def retry_after_s(self) -> int:
        ...

    def to_status(self) -> dict[str, Any]:
        ...
    stated_reason: str = ''

    @property
    def causes(self) -> list[Details]:
        ...

    def has_cause(self, reason: str) -> bool:
        ...

class TooManyRequests(ApiError):

    @property
    def retry_after_s(self) -> int:
        ...

    def to_status(self) -> dict[str, Any]:
        ...
    stated_reason: str = ''

    @property
    def causes(self) -> list[Details]:
        ...

    def has_cause(self, reason: str) -> bool:
        ...

class Transport(Protocol):

    async def send(self, request: HttpRequest) -> HttpResponse:
        ...

    async def aclose(self) -> None:
        ...

class TransportError(ClientError):

    def __init__(self, message: str, *, sent: bool) -> None:
        ...

class TransportTimeout(TransportError):
    ...

class Unauthorized(ApiError):

    @property
    def retry_after_s(self) -> int:
        ...

    def to_status(self) -> dict[str, Any]:
        ...
    stated_reason: str = ''

    @property
    def causes(self) -> list[Details]:
        ...

    def has_cause(self, reason: str) -> bool:
        ...

class Undecodable(ClientError, ValueError):

    def __init__(self, message: str, body: bytes) -> None:
        ...

@dataclass(frozen=True, slots=True)
class Undecoded:
    metadata: HeadMeta
    body: bytes
    error: str

class UnsupportedMediaType(ApiError):

    @property
    def retry_after_s(self) -> int:
        ...

    def to_status(self) -> dict[str, Any]:
        ...
    stated_reason: str = ''

    @property
    def causes(self) -> list[Details]:
        ...

    def has_cause(self, reason: str) -> bool:
        ...

def upgrade_managed_fields(obj: Object, updaters: Sequence[str], manager: str, *, subresource: str='') -> JsonPatch | None:
    ...

async def wait_for(client: Watchable[T], name: str, condition: Condition | Callable[[T | None], bool], *, timeout_s: float) -> T | None:
    ...

class WaitTimeout(ClientError, TimeoutError):
    ...

@dataclass(frozen=True, slots=True)
class WatchEvent(Generic[T]):
    type: EventType
    object: T

@dataclass(frozen=True, slots=True)
class WriteOptions:
    field_manager: str = ''
    field_validation: FieldValidation | None = None
    dry_run: bool = False
    force: bool = False

    def query(self) -> dict[str, str]:
        ...
