from dataclasses import dataclass, field

__all__ = [
    "Check",
    "explore",
    "Finding",
    "PlannedFault",
    "ReplayError",
    "read_replay",
    "replay",
    "replay_text",
    "Report",
    "Scenario",
    "scenario",
    "shrink",
    "State",
    "WriteId",
]

Check = Callable[[State], str | None]

def explore(scenario: Scenario, *, plans_max: int=PLANS_MAX, first_only: bool=False, progress: Progress=lambda _, __: None, seed: int | None=None, jobs: int=1) -> Report:
    ...

@dataclass(frozen=True, slots=True)
class Finding:
    scenario: str
    plan: PlannedFault
    differences: Sequence[str]
    reference: Outcome
    outcome: Outcome

    @property
    def replay(self) -> str:
        ...

@dataclass(frozen=True, slots=True)
class PlannedFault:
    fault: str
    at: WriteId
    until: WriteId | None = None
    without: tuple[WriteId, ...] = ()

class ReplayError(ValueError):
    ...

def read_replay(text: str) -> tuple[str, PlannedFault]:
    ...

def replay(scenario: Scenario, plan: PlannedFault) -> Finding | None:
    ...

def replay_text(scenario: str, plan: PlannedFault) -> str:
    ...

@dataclass(slots=True)
class Report:
    pytest_section: ClassVar[str] = 'exploration'
    scenario: str
    plans: int = 0
    left_out: Mapping[str, int] = field(default_factory=dict)
    missed: int = 0
    seconds: float = 0.0
    findings: list[Finding] = field(default_factory=list)
    survivors: Sequence[str] = ()

    @property
    def skipped(self) -> int:
        ...

@dataclass(frozen=True, slots=True)
class Scenario:
    name: str
    steps: Steps
    operator: Any
    crds: Sequence[str | Path | type[Any] | dict[str, Any]] = ()
    loops: str = DEFAULT
    checks: Sequence[Check] = ()
    system: Callable[[], Any] | None = None
    lease: str = ''
    drift: bool = False
    rbac: Sequence[Mapping[str, Any]] | None = None
    informers: InformerSettings | None = None
    needs: Sequence[Any] = ()
    allow_errors: Allowed = False
    allowed: Sequence[str] = ()

def scenario(operator: Any, *, crds: Sequence[str | Path | type[Any] | dict[str, Any]]=(), loops: str=DEFAULT, checks: Sequence[Check]=(), system: Callable[[], Any] | None=None, lease: str='', drift: bool=False, rbac: Sequence[Mapping[str, Any]] | None=None, informers: InformerSettings | None=None, needs: Sequence[Any]=(), allow_errors: Allowed=False, allowed: Sequence[str]=()) -> Callable[[Steps], Scenario]:
    ...

def shrink(scenario: Scenario, finding: Finding) -> Finding:
    ...

@dataclass(frozen=True, slots=True)
class State:
    objects: Mapping[str, Object]
    before: Object | None
    after: Object | None

    def list(self, kind: str) -> list[Object]:
        ...

@dataclass(frozen=True, slots=True)
class WriteId:
    actor: str
    verb: str
    resource: str
    namespace: str
    name: str
    occurrence: int

    @property
    def place(self) -> tuple[str, str, str]:
        ...
