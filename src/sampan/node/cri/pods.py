"""`CriPods`: in-memory state of the sandboxes and containers of a runtime, by the Pod's uid.

Concurrency: one task lists all sandboxes and containers (`observer.py`); any task adds those that it has just created.
A list that began before an addition does not remove the added object.
"""

import asyncio
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from sampan.node.cri.messages import AnyMessage, value
from sampan.node.runtime import ContainerRecord


@dataclass(slots=True)
class ContainerRun:
    """One container of the runtime: a run of a Pod's container."""

    id: str
    name: str
    attempt: int
    state: int
    record: ContainerRecord | None = None
    """None if it was created but not started."""
    known_at: float = 0.0
    annotations: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Sandbox:
    """One sandbox of the runtime."""

    id: str
    attempt: int
    is_ready: bool
    created_at: int
    known_at: float = 0.0


@dataclass(slots=True)
class CriPod:
    """Sandboxes and containers of a Pod in the runtime."""

    uid: str
    namespace: str
    name: str
    instance: str = ""
    """Agent that has made the newest sandbox."""
    sandboxes: dict[str, Sandbox] = field(default_factory=dict)
    runs: dict[str, ContainerRun] = field(default_factory=dict)
    addresses: tuple[str, ...] = ()
    lost: dict[str, ContainerRecord] = field(default_factory=dict)
    """Ended containers that are only in the Pod's status."""
    cgroup: str = ""
    stops: dict[str, tuple[float, asyncio.Task[None]]] = field(default_factory=dict)
    """Containers that are being stopped, by id: the time until which they may run, and the task."""
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    records: dict[str, ContainerRecord] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """`namespace/name`."""
        return f"{self.namespace}/{self.name}"

    @property
    def newest(self) -> Sandbox | None:
        """Newest sandbox."""
        return max(self.sandboxes.values(), key=lambda each: (each.created_at, each.attempt), default=None)

    @property
    def next_attempt(self) -> int:
        """Number of the next sandbox."""
        return max((each.attempt for each in self.sandboxes.values()), default=-1) + 1

    def runs_of(self, name: str) -> list[ContainerRun]:
        """Return the runs of a container, the newest first."""
        found = [run for run in self.runs.values() if run.name == name]
        return sorted(found, key=lambda run: run.attempt, reverse=True)

    def update(self) -> None:
        """Compute the records from the runs."""
        records = dict(self.lost)
        for name in {run.name for run in self.runs.values()}:
            known = [run.record for run in self.runs_of(name) if run.record is not None]
            if known:
                # Without `previous`, or each restart would keep one more record in memory.
                previous = replace(known[1], previous=None) if len(known) > 1 else self.lost.get(name)
                records[name] = replace(known[0], previous=previous)
        self.records = records

    def run_named(self, name: str) -> ContainerRun | None:
        """Return the running container of a name."""
        return next((run for run in self.runs_of(name) if run.record is not None and run.record.is_running), None)


class CriPods:
    """All Pods that have a sandbox or a container in the runtime."""

    def __init__(self) -> None:
        self._pods: dict[str, CriPod] = {}

    def get(self, uid: str) -> CriPod | None:
        """Return what is known about a Pod; None if the UID is unknown."""
        return self._pods.get(uid)

    def add(self, uid: str, namespace: str, name: str) -> CriPod:
        """Return a Pod, which is added if it is unknown."""
        found = self._pods.get(uid)
        if found is None:
            found = self._pods[uid] = CriPod(uid, namespace, name)
        return found

    def drop(self, uid: str) -> None:
        """Forget a Pod."""
        self._pods.pop(uid, None)

    def __iter__(self) -> Iterator[CriPod]:
        return iter(list(self._pods.values()))


def merge_sandboxes(pod: CriPod, listed: Iterable[AnyMessage], began: float) -> bool:
    """Update a Pod's sandboxes from a list that began at a time. Returns whether anything has changed."""
    ready = value("SANDBOX_READY")
    found = {each.id: Sandbox(each.id, each.metadata.attempt, each.state == ready, each.created_at) for each in listed}
    changed = False
    for id, known in list(pod.sandboxes.items()):
        if id not in found and known.known_at < began:
            del pod.sandboxes[id]
            changed = True
    for id, sandbox in found.items():
        known_before = pod.sandboxes.get(id)
        if known_before is None:
            pod.sandboxes[id] = sandbox
            changed = True
        # A sandbox stopped after the list began may be in the list as ready.
        elif known_before.is_ready != sandbox.is_ready and known_before.known_at < began:
            known_before.is_ready = sandbox.is_ready
            changed = True
    return changed


def addresses_of(status: AnyMessage) -> tuple[str, ...]:
    """Return the addresses of a sandbox: the first of each family."""
    found = [status.network.ip, *(each.ip for each in status.network.additional_ips)]
    return tuple(address for address in found if address)
