"""Random runs in virtual time: two operators, Pods on nodes that come and go, and a store that checks epochs.

    PYTHONPATH=src python tests/world.py 10000         # prints how long failovers took

A world has ten captains, each with its own run. The faults of the two operators are common to all of them.
"""

import asyncio
import datetime as dt
import json
import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field

from sampan.client import HttpResponse, TransportError
from sampan.core.clock import utc_now
from sampan.operator import ManagerOptions
from sampan.resource import Object, ObjectMeta
from sampan.testing import Cluster, ClusterOptions, Running, SentRequest, run_virtual
from sampan.testing.journal import JournalEntry
from sampan.testing.requests import Proceed

from captains.captain.reconcile import set_up
from captains.captain.term import epoch_of, is_labelled
from captains.captain.v1 import Captain, CaptainSpec

LEASE_S = 6
RUNS = 10
"""Runs of a world."""
OPERATORS = ("one", "two")


@dataclass
class SkewedClock:
    """A wall clock that is wrong by some seconds."""

    skew_s: float

    def now(self) -> dt.datetime:
        return utc_now() + dt.timedelta(seconds=self.skew_s)


@dataclass
class Store:
    """The application's store: it refuses a write whose epoch is older than the newest one."""

    newest: int = 0
    writers: dict[int, set[str]] = field(default_factory=dict)
    refused: int = 0

    def write(self, epoch: int, uid: str) -> None:
        if epoch < self.newest:
            self.refused += 1
            return
        self.newest = epoch
        self.writers.setdefault(epoch, set()).add(uid)


@dataclass
class Outcome:
    """Events of a world."""

    faults: list[str] = field(default_factory=list)
    leaders: int = 0
    refused_writes: int = 0
    failovers_s: list[float] = field(default_factory=list)


class Harbour:
    """One run. `views` has what each process reads; that of a node without a network does not change."""

    def __init__(self, cluster: Cluster, name: str, chance: random.Random) -> None:
        self.cluster, self.name, self.chance = cluster, name, chance
        self.pods = [f"{name}-{number}" for number in range(3)]
        self.cut_off: set[str] = set()
        self.views: dict[str, tuple[str, bool, int]] = {}
        self.labelled: set[str] = set()
        self.labelled_max = 0
        self.led: dict[int, set[str]] = {}
        """Pods that had the label, by epoch."""
        self.lowered = 0
        self.store = Store()
        self.lost_at: float | None = None
        self.failovers_s: list[float] = []

    async def run(self) -> None:
        """Begin, and let things happen."""
        for pod in self.pods:
            await self._make(pod)
        spec = CaptainSpec(selector={"app": self.name}, lease_seconds=LEASE_S)
        await self.cluster.apply(Captain(metadata=ObjectMeta(name=self.name), spec=spec))
        for _ in range(self.chance.randint(3, 6)):
            if self.chance.random() < 0.7:
                await self.until_led()
            await self._pause(self.chance.choice((0.0, 0.01, 1.0, LEASE_S)))
            await self.chance.choice((self._kill, self._kill, self._cut_off, self._flap, self.connect))()

    async def until_led(self) -> None:
        for tries in range(1000):
            if self.labelled:
                return
            if tries > 40:
                await self.connect()
            await self._pause(1.0)

    async def lose(self, identity: str) -> None:
        """Cut off the Pod that a Lease names."""
        name = identity.partition("/")[0]
        if name and name not in self.cut_off:
            self._lose(name)
            self.cut_off.add(name)
            await self._ready(name, "False")

    def faults(self) -> list[str]:
        """Return what is wrong with the run."""
        writers = max(map(len, self.store.writers.values()), default=0)
        found = {
            f"{self.labelled_max} Pods were labelled at once": self.labelled_max > 1,
            f"{writers} Pods wrote with one epoch": writers > 1,
            "two Pods were labelled in one epoch": any(len(each) > 1 for each in self.led.values()),
            f"an epoch became lower {self.lowered} times": self.lowered > 0,
            f"{len(self.labelled)} Pods are labelled at the end": len(self.labelled) != 1,
        }
        return [f"{self.name}: {text}" for text, wrong in found.items() if wrong]

    def saw(self, name: str, before: Object | None, after: Object | None) -> None:
        """Note a change of a Pod."""
        uid = (after or before or {})["metadata"]["uid"]
        led = bool(self.labelled)
        self.labelled.discard(uid)
        if after is not None and is_labelled(after):
            self.labelled.add(uid)
            self.led.setdefault(epoch_of(after), set()).add(uid)
        self.lowered += before is not None and after is not None and epoch_of(after) < epoch_of(before)
        if name not in self.cut_off and after is not None:
            self.views[name] = (uid, is_labelled(after), epoch_of(after))
        self.labelled_max = max(self.labelled_max, len(self.labelled))
        if not led and self.labelled and self.lost_at is not None:
            self.failovers_s.append(asyncio.get_running_loop().time() - self.lost_at)
            self.lost_at = None

    async def _pause(self, at_most_s: float) -> None:
        """Let time pass; every process writes now and then if it thinks that it leads."""
        for _ in range(3):
            await asyncio.sleep(self.chance.uniform(0, at_most_s) / 3)
            for uid, leads, epoch in self.views.values():
                if leads:
                    self.store.write(epoch, uid)

    async def _make(self, name: str) -> None:
        spec = {"containers": [{"name": "main", "image": "harbour"}]}
        head = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {"app": self.name}}}
        await self.cluster.create({**head, "spec": spec})
        await self._ready(name, "True")

    async def _ready(self, name: str, status: str) -> None:
        condition = {"type": "Ready", "status": status}
        await self.cluster.patch(f"pod/{name}", {"status": {"conditions": [condition]}}, subresource="status")

    def _victim(self) -> str:
        """Return a Pod, more often the leader."""
        leaders = [name for name, (uid, _, _) in self.views.items() if uid in self.labelled]
        return self.chance.choice([*self.pods, *2 * leaders])

    def _lose(self, name: str) -> None:
        if self.views.get(name, ("",))[0] in self.labelled:
            self.lost_at = asyncio.get_running_loop().time()

    async def _kill(self) -> None:
        """Delete a Pod; its controller makes another one with the same name. A process without a network goes on."""
        name = self._victim()
        self._lose(name)
        self.cut_off.discard(name)
        await self.cluster.delete(f"pod/{name}")
        await self._pause(self.chance.choice((0.0, 2.0)))
        await self._make(name)

    async def _cut_off(self) -> None:
        """Cut a node off: its Pod is not ready any more, but its process continues with its old epoch."""
        name = self._victim()
        if name not in self.cut_off:
            self._lose(name)
            self.cut_off.add(name)
            await self._ready(name, "False")

    async def _flap(self) -> None:
        """A Pod is not ready, and ready again: before the lease ends, or shortly after it."""
        name = self._victim()
        if name not in self.cut_off:
            await self._ready(name, "False")
            await self._pause(self.chance.choice((0.1, LEASE_S, 2 * LEASE_S)))
            await self._ready(name, "True")

    async def connect(self) -> None:
        for name in sorted(self.cut_off):
            self.cut_off.discard(name)
            await self._ready(name, "True")


class World:
    """A cluster with two operators, whose clocks are wrong, and `RUNS` harbours."""

    def __init__(self, cluster: Cluster, seed: int) -> None:
        self.cluster, self.chance = cluster, random.Random(seed)
        self.running: dict[str, Running] = {}
        self.paused_until = dict.fromkeys(OPERATORS, 0.0)
        self.calm = False
        self.doomed: dict[str, str] = {}
        """Operators that stop before they list Pods, or before they label one."""
        names = [f"h{seed}-{number}" for number in range(RUNS)]
        self.harbours = {name: Harbour(cluster, name, random.Random(name)) for name in names}

    async def run(self) -> Outcome:
        """Run all harbours at once."""
        self.cluster.interceptors.append(self._through)
        await self.cluster.crds(Captain)
        self.cluster.journal.listen(self._saw)
        for name in OPERATORS:
            options = ManagerOptions(clock=SkewedClock(self.chance.uniform(-3600, 3600)), graceful_shutdown_timeout_s=0)
            self.running[name] = self.cluster.run(set_up, name=name, options=options)
        faults = asyncio.ensure_future(self._faults())
        async with asyncio.TaskGroup() as group:
            for harbour in self.harbours.values():
                group.create_task(harbour.run())
        faults.cancel()
        self.calm = True
        for harbour in self.harbours.values():
            await harbour.connect()
            await harbour.until_led()
        runs = self.harbours.values()
        return Outcome(
            [text for each in runs for text in each.faults()],
            sum(len(each.store.writers) for each in runs),
            sum(each.store.refused for each in runs),
            [time_s for each in runs for time_s in each.failovers_s],
        )

    def _saw(self, write: JournalEntry) -> None:
        if write.key.startswith("/registry/pods/"):
            name = write.key.rpartition("/")[2]
            self.harbours[name.rpartition("-")[0]].saw(name, write.before, write.after)

    async def _faults(self) -> None:
        """Kill or stop operators now and then."""
        while True:
            await asyncio.sleep(self.chance.uniform(0, 6 * LEASE_S))
            if self.chance.random() < 0.3:
                self._stop(self.chance.choice(OPERATORS))
                continue
            running = self.running[self.chance.choice(OPERATORS)]
            await running.crash()
            await asyncio.sleep(self.chance.uniform(0, 1))
            running.restart()

    async def _through(self, sent: SentRequest, proceed: Proceed) -> HttpResponse:
        """Delay requests and responses of operators, and stop an operator at the worst moments."""
        if sent.actor not in OPERATORS:
            return await proceed()
        await asyncio.sleep(self.chance.uniform(0, 0.005))
        labels = sent.info.verb == "patch" and b'"role":"leader"' in sent.request.body
        moment = "label" if labels else sent.info.verb
        if sent.info.resource == "pods" and self.doomed.get(sent.actor) == moment:
            del self.doomed[sent.actor]
            self._stop(sent.actor)
        elects = sent.info.resource == "leases" and sent.info.verb == "update"
        if elects and self._strikes(0.1):
            # The operator stops before it writes the term, and the Pod of this term is lost.
            self._stop(sent.actor)
            await self.harbours[sent.info.name].lose(json.loads(sent.request.body)["spec"]["holderIdentity"])
        await self._gate(sent.actor)
        if sent.is_write and self._strikes(0.02):
            raise TransportError("connection refused", sent=False)
        response = await proceed()
        if sent.is_write and self._strikes(0.02):
            raise TransportError("the connection was lost before the response", sent=True)
        if elects and response.status < 300 and self._strikes(0.3):
            # The Pod that was just elected is lost, and the operator stops before it labels it.
            self.doomed[sent.actor] = self.chance.choice(("list", "label", "label"))
            await self.harbours[sent.info.name].lose(json.loads(sent.request.body)["spec"]["holderIdentity"])
        await self._gate(sent.actor)
        return response

    def _strikes(self, share: float) -> bool:
        return not self.calm and self.chance.random() < share

    def _stop(self, name: str) -> None:
        """Stop an operator as SIGSTOP does, also for longer than the lease."""
        self.paused_until[name] = asyncio.get_running_loop().time() + self.chance.uniform(LEASE_S, 3 * LEASE_S)

    async def _gate(self, actor: str) -> None:
        left_s = self.paused_until.get(actor, 0.0) - asyncio.get_running_loop().time()
        if left_s > 0:
            await asyncio.sleep(left_s)


def outcome_of(seed: int) -> Outcome:
    """Run a world to its end."""

    async def main() -> Outcome:
        async with Cluster(ClusterOptions(loops="none", allow_errors=True)) as cluster:
            return await World(cluster, seed).run()

    return run_virtual(main())


def main(worlds: Sequence[int]) -> int:
    """Run many worlds, and print how long failovers took. Return the number of faults."""
    outcomes = [outcome_of(seed) for seed in worlds]
    times = sorted(time_s for each in outcomes for time_s in each.failovers_s)
    faults = [text for each in outcomes for text in each.faults]
    shares = ", ".join(f"{share:.0%}: {times[int(share * (len(times) - 1))]:.2f} s" for share in (0.5, 0.9, 0.99, 1))
    refused = sum(each.refused_writes for each in outcomes)
    print(f"{len(worlds) * RUNS} runs, {refused} writes with an old epoch refused, {len(times)} failovers: {shares}")
    print("\n".join(faults) or "never two leaders")
    return len(faults)


if __name__ == "__main__":
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    sys.exit(bool(main(range(first, first + int(sys.argv[1]) // RUNS))))
