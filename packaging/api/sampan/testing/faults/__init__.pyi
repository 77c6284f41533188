from dataclasses import dataclass, field

__all__ = [
    "change_a_field",
    "Crash",
    "EndStream",
    "ErrorResponse",
    "external",
    "ExternalError",
    "Fault",
    "fault_points",
    "FaultInjector",
    "Fired",
    "give_lease",
    "Latency",
    "LostResponse",
    "Plan",
    "PlanError",
    "Points",
    "read_plan",
    "Suspension",
    "take_lease",
    "What",
    "Which",
]

async def change_a_field(client: Client, kind: ResourceInfo, name: str, written: Mapping[str, Any]) -> str:
    ...

class Crash(_Part, frozen=True):
    ...

class EndStream(_Part, frozen=True):
    after_events: int = 0
    error: ErrorResponse | None = None

class ErrorResponse(_Part, frozen=True):
    code: int
    reason: str = ''
    message: str = 'injected fault'
    retry_after_seconds: int = 0

def external(name: str, *, failure: Callable[[str], Exception]=ExternalError) -> Callable[[Callable[P, Awaitable[T]]], Callable[P, Coroutine[Any, Any, T]]]:
    ...

class ExternalError(Exception):
    ...

class Fault(_Part, frozen=True):
    what: What
    which: Which = Which()
    when: Literal['before', 'after'] = 'before'
    name: str = ''
    optional: bool = False

    @property
    def title(self) -> str:
        ...

@contextmanager
def fault_points(points: Points) -> Iterator[None]:
    ...

class FaultInjector:

    def __init__(self, plan: Plan, *, objects: Objects, crash: Callable[[], Awaitable[None]] | None=None, on_fire: Callable[[Fired], None] | None=None) -> None:
        ...

    def unfired(self) -> list[Fault]:
        ...

    def filter(self, handler: Handler) -> Handler:
        ...
    active = True

@dataclass(frozen=True, slots=True)
class Fired:
    fault: Fault
    verb: str
    path: str
    user: str
    at_s: float

async def give_lease(client: Client, namespace: str, name: str) -> None:
    ...

class Latency(_Part, frozen=True):
    seconds: float
    jitter_seconds: float = 0.0

class LostResponse(_Part, frozen=True):
    ...

class Plan(_Part, frozen=True):
    version: int = VERSION
    seed: int = 0
    faults: tuple[Fault, ...] = ()

class PlanError(ValueError):
    ...

class Points(Protocol):

    def suspended(self, at: Suspension) -> None:
        ...

    async def call(self, name: str, function: Callable[[], Awaitable[Any]], failure: Callable[[str], Exception]) -> Any:
        ...

def read_plan(path: Path) -> Plan:
    ...

@dataclass(frozen=True, slots=True)
class Suspension:
    controller: str
    namespace: str
    name: str
    place: tuple[str, ...]

async def take_lease(client: Client, namespace: str, name: str, *, seconds: int=3600) -> None:
    ...

class What(_Part, frozen=True):
    error: ErrorResponse | None = None
    latency: Latency | None = None
    lost_response: LostResponse | None = None
    crash: Crash | None = None
    end_stream: EndStream | None = None

    @property
    def action(self) -> ErrorResponse | Latency | LostResponse | Crash | EndStream:
        ...

class Which(_Part, frozen=True):
    verbs: tuple[str, ...] = ()
    resource: str = '*'
    subresource: str | None = None
    namespace: str = '*'
    name: str = '*'
    user: str = '*'
    user_agent: str = '*'
    object: dict[str, Any] = {}
    changed: tuple[str, ...] = ()
    occurrence: int = 1
    times: int = 1
