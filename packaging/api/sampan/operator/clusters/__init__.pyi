from dataclasses import dataclass, field

__all__ = [
    "ClusterProfiles",
    "ClusterProvider",
    "ClusterRequest",
    "Clusters",
    "ClustersBuilder",
    "ClusterStatus",
    "KubeconfigContexts",
    "ListedClusters",
    "Member",
    "UnknownCluster",
]

class ClusterProfiles:

    def __init__(self, home: Manager, plugins: Mapping[str, ExecConfig], *, namespace: str='') -> None:
        ...

    async def clusters(self) -> AsyncGenerator[Targets, None]:
        ...

class ClusterProvider(Protocol):

    def clusters(self) -> AsyncGenerator[Targets, None]:
        ...

class ClusterRequest(NamedTuple):
    cluster: str
    namespace: str
    name: str

    @property
    def request(self) -> Request:
        ...

class Clusters:

    def __init__(self, home: Manager, provider: ClusterProvider, *, options: ManagerOptions=ManagerOptions(), field_manager: str='') -> None:
        ...
    needs_leader_election = True

    def set_up(self, function: SetUp) -> SetUp:
        ...

    def get(self, name: str) -> Member:
        ...

    @property
    def names(self) -> list[str]:
        ...

    def status(self) -> list[ClusterStatus]:
        ...

    def failing(self, *, tries_min: int=1) -> dict[str, list[FailingObject]]:
        ...

    def enqueue(self, controller: str, cluster: str, request: Request, *, priority: int=0) -> None:
        ...

    async def run(self) -> None:
        ...

    async def drain(self) -> None:
        ...

class ClustersBuilder:

    def __init__(self, clusters: Clusters) -> None:
        ...

    def for_(self, kind: Kind, *, predicates: Iterable[Predicate[Any]]=(), priority: Priority[Any]=0) -> Self:
        ...

    def owns(self, kind: Kind, *, predicates: Iterable[Predicate[Any]]=()) -> Self:
        ...

    def watches(self, kind: Kind, map_function: MapFunction[Any], *, predicates: Iterable[Predicate[Any]]=()) -> Self:
        ...

    def watches_home(self, kind: Kind, map_function: HomeMapFunction, *, predicates: Iterable[Predicate[Any]]=()) -> Self:
        ...

    def named(self, name: str) -> Self:
        ...

    def with_options(self, options: ControllerOptions) -> Self:
        ...

    def complete(self, reconcile: ClusterReconcileFunction) -> None:
        ...

@dataclass(frozen=True, slots=True)
class ClusterStatus:
    name: str
    ready: bool
    error: str = ''

class KubeconfigContexts:

    def __init__(self, path: str | Path | None=None, *, contexts: Sequence[str]=(), period_s: float=30.0) -> None:
        ...

    async def clusters(self) -> AsyncGenerator[Targets, None]:
        ...

class ListedClusters:

    def __init__(self, targets: Targets) -> None:
        ...

    def add(self, name: str, target: Config | Client) -> None:
        ...

    def remove(self, name: str) -> None:
        ...

    async def clusters(self) -> AsyncGenerator[Targets, None]:
        ...

@dataclass(frozen=True, slots=True)
class Member:
    name: str
    manager: Manager

    @property
    def client(self) -> Client:
        ...

    def controller_name(self, name: str) -> str:
        ...

class UnknownCluster(LookupError):
    ...
