from dataclasses import dataclass, field

__all__ = [
    "Cluster",
    "ClusterOptions",
    "Deadlock",
    "elapsed",
    "end_job",
    "exists",
    "field",
    "has_condition",
    "has_status",
    "Interceptor",
    "is_gone",
    "kopf_operator",
    "KopfOperator",
    "Leak",
    "matches",
    "NeedsVirtualTime",
    "NotMet",
    "NotSettled",
    "owned_by",
    "Predicate",
    "quiet_informers",
    "RequestRecord",
    "Requests",
    "run_virtual",
    "Running",
    "SentRequest",
    "ServerWarning",
    "settle",
    "State",
    "virtual_time",
    "VirtualTimeLoop",
]

class Cluster:

    def __init__(self, options: ClusterOptions=ClusterOptions(), state: State | None=None) -> None:
        ...

    @property
    def not_awaited(self) -> list[str]:
        ...

    def admin(self) -> Client:
        ...

    @awaited
    async def crds(self, *sources: str | Path | type[Any] | Mapping[str, Any]) -> None:
        ...

    @awaited
    async def apply(self, what: Any, *, field_manager: str='test', force: bool=True) -> Sequence[Object]:
        ...

    @awaited
    async def create(self, what: Any) -> Sequence[Object]:
        ...

    @awaited
    async def get(self, kind: Any, name: str='', *, namespace: str | None=None) -> Any:
        ...

    @awaited
    async def find(self, kind: Kind, name: str='', *, namespace: str | None=None) -> Any:
        ...

    @awaited
    async def list(self, kind: Any, *, namespace: str | None=None, selector: str='') -> Any:
        ...

    @awaited
    async def delete(self, *names: Any, namespace: str | None=None, propagation: Propagation | None=None) -> None:
        ...

    @awaited
    async def patch(self, kind: Kind, change: Patch | Mapping[str, Any], *, namespace: str | None=None, subresource: str='') -> Object:
        ...

    async def resource(self, kind: Kind, namespace: str | None=None) -> ResourceClient[Any]:
        ...
    journal = Journal()

    @property
    def requests(self) -> Requests:
        ...

    async def begin(self) -> None:
        ...

    def check(self) -> None:
        ...

    @awaited
    async def settled(self, *, pause: float=0.9, within: float=_SETTLE_MAX_S) -> None:
        ...

    def now(self) -> dt.datetime:
        ...

    @property
    def reconciles(self) -> list[ReconcileRecord]:
        ...

    @awaited
    async def eventually(self, what: str | Callable[[], Any], expected: Expected | None=None, *, within: float=WITHIN_S, namespace: str | None=None) -> Any:
        ...

    @awaited
    async def consistently(self, what: str | Callable[[], Any], expected: Expected | None=None, *, during: float=DURING_S, namespace: str | None=None) -> None:
        ...

    @awaited
    async def never(self, what: str | Callable[[], Any], expected: Expected | None=None, *, during: float=DURING_S, namespace: str | None=None) -> None:
        ...

    @asynccontextmanager
    async def no_writes(self, *actors: str) -> AsyncIterator[None]:
        ...

    @awaited
    async def assert_idempotent(self) -> None:
        ...

    @property
    def operators(self) -> list[str]:
        ...

    def privileges(self, actor: str='operator') -> Privileges:
        ...

    def check_rights(self) -> None:
        ...

    def warnings(self) -> list[str]:
        ...

    @property
    def blocking(self) -> Blocking:
        ...

    def close_blocking(self) -> None:
        ...

    def client(self, user: str='', *, groups: Sequence[str]=(), actor: str=TEST, namespace: str='default') -> Client:
        ...

    @property
    def interceptors(self) -> list[Interceptor]:
        ...

    def build(self, kind: Any, name: str='', **fields: Any) -> Any:
        ...

    def run(self, operator: Any, *, name: str='operator', user: str='', groups: Sequence[str]=(), options: ManagerOptions | None=None) -> Running:
        ...

    @property
    def has_operators(self) -> bool:
        ...

    def check_operators(self) -> None:
        ...

    async def check_leaks(self) -> None:
        ...

    @awaited
    async def advance(self, *, days: float=0, hours: float=0, minutes: float=0, seconds: float=0) -> None:
        ...

    @awaited
    async def advance_to(self, instant: dt.datetime | str) -> None:
        ...

    @awaited
    async def fork(self) -> State:
        ...

    @awaited
    async def restore(self, state: State) -> None:
        ...

    @asynccontextmanager
    async def serve(self, user: str='', *, groups: Sequence[str]=(), actor: str='program') -> AsyncIterator[Served]:
        ...

    async def server(self) -> LogicalServer:
        ...

    async def aclose(self) -> None:
        ...
    clock = SystemClock()
    pods = Pods()

@dataclass(frozen=True, slots=True)
class ClusterOptions:
    loops: str = DEFAULT
    admission: str = ''
    nodes: int = 1
    virtual: bool = True
    start: dt.datetime = START
    leaks: tuple[str, ...] = ()
    allow_errors: Allowed = False
    roles: str | Sequence[Mapping[str, Any]] = ()

    def authorizers(self) -> tuple[Authorizer, ...]:
        ...

class Deadlock(RuntimeError):
    ...

async def elapsed(awaitable: Awaitable[Any]) -> float:
    ...

async def end_job(cluster: Cluster, name: str, *, message: str='', exit_code: int=0, namespace: str='') -> None:
    ...

def exists() -> Predicate:
    ...

def field(path: str) -> Field:
    ...

def has_condition(kind: str, status: str='True', *, reason: str='') -> Predicate:
    ...

def has_status(**fields: Any) -> Predicate:
    ...

Interceptor = Callable[[SentRequest, Proceed], Awaitable[HttpResponse]]

def is_gone() -> Predicate:
    ...

def kopf_operator(source: Source, **options: Any) -> KopfOperator:
    ...

class KopfOperator:

    def __init__(self, source: Source, options: dict[str, Any]) -> None:
        ...

    def begin(self) -> None:
        ...

    async def run(self, served: Served, stopping: asyncio.Event) -> None:
        ...
    module: ModuleType | None = source if isinstance(source, ModuleType) else None

class Leak(AssertionError):
    ...

def matches(part: Mapping[str, Any]) -> Predicate:
    ...

class NeedsVirtualTime(RuntimeError):
    ...

class NotMet(AssertionError):
    ...

class NotSettled(AssertionError):
    ...

def owned_by(owner: Mapping[str, Any]) -> Predicate:
    ...

@dataclass(frozen=True, slots=True)
class Predicate:
    text: str
    explain: Explain

def quiet_informers() -> InformerSettings:
    ...

class RequestRecord(msgspec.Struct, frozen=True, gc=False):
    actor: str
    number: int
    verb: str
    group: str
    resource: str
    subresource: str
    namespace: str
    name: str
    at_s: float
    code: int = 0
    limited: bool = False
    warnings: tuple[str, ...] = ()
    checked: tuple[Checked, ...] = ()

    @property
    def is_write(self) -> bool:
        ...

class Requests(Sequence[RequestRecord]):

    def __init__(self, records: Iterable[RequestRecord]=()) -> None:
        ...

    def by(self, actor: str) -> Self:
        ...

    def of(self, resource: str, name: str='') -> Self:
        ...

    def verb(self, *verbs: str) -> Self:
        ...

    async def quiet(self, pause_s: float) -> None:
        ...

    def after(self, number: int) -> Self:
        ...

    @property
    def writes(self) -> Self:
        ...

    @property
    def refused(self) -> Self:
        ...

    @property
    def warned(self) -> Self:
        ...

    @property
    def warnings(self) -> list[str]:
        ...

    def add(self, record: RequestRecord) -> None:
        ...

    def put(self, record: RequestRecord) -> None:
        ...

def run_virtual(main: Coroutine[Any, Any, T], start: dt.datetime=START) -> T:
    ...

class Running:

    def __init__(self, name: str, begin: Callable[[], Awaitable[Any]], *, repeatable: bool=True, stop: Callable[[], None] | None=None) -> None:
        ...

    @property
    def is_running(self) -> bool:
        ...

    def restart(self) -> None:
        ...

    async def crash(self) -> None:
        ...

    async def stop(self) -> None:
        ...

    async def ended(self) -> BaseException | None:
        ...

    def check(self) -> None:
        ...
    repeatable = repeatable
    reconciles: list[ReconcileRecord] = []
    manager: Manager | None = None
    failures = Failures()
    excused: tuple[type[BaseException], ...] = ()

@dataclass(frozen=True, slots=True)
class SentRequest:
    actor: str
    number: int
    info: RequestInfo
    request: HttpRequest

    @property
    def is_write(self) -> bool:
        ...

class ServerWarning(UserWarning):
    ...

async def settle(until: Callable[[], bool] | None=None, *, rounds: int=100) -> None:
    ...

@dataclass(frozen=True, slots=True)
class State:
    store: MemoryStore
    at_s: float

def virtual_time(test: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    ...

class VirtualTimeLoop(LoopClock, asyncio.SelectorEventLoop, running=running_loop):

    def __init__(self, start: dt.datetime=START, selector: JumpingSelector | None=None) -> None:
        ...

    def unix_time(self) -> float:
        ...

    def time(self) -> float:
        ...

    def call_at(self, when: float, callback: Callable[[Unpack[Ts]], object], *args: *Ts, context: contextvars.Context | None=None) -> asyncio.TimerHandle:
        ...

    def set_unix_time(self, seconds: float) -> None:
        ...

    async def idle(self, pause_s: float=0.0) -> None:
        ...

    def run_in_executor(self, executor: Executor | None, func: Callable[[Unpack[Ts]], T], *args: *Ts) -> asyncio.Future[T]:
        ...
