from dataclasses import dataclass, field

__all__ = [
    "Endpoint",
    "ServerFailed",
    "serving",
]

@dataclass(slots=True)
class Endpoint:
    url: str
    kubeconfig: Path
    log: Path
    fired: list[str] = field(default_factory=list)
    unfired: list[str] = field(default_factory=list)

    def environment(self, present: Mapping[str, str] | None=None) -> dict[str, str]:
        ...

class ServerFailed(RuntimeError):
    ...

@contextmanager
def serving(*, loops: str=DEFAULT_LOOPS, plan: Path | None=None, arguments: Sequence[str]=(), crash: Callable[[], None] | None=None) -> Iterator[Endpoint]:
    ...
