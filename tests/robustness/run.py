"""One run: traffic, faults, and what came of it.

Concurrency: the clients, the faults and the follower of etcd are tasks of one group, which ends with the run.
"""

import asyncio
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import httpx

from tests.robustness.catalogue import possible
from tests.robustness.history import Call, Kind, Outcome, log_of
from tests.robustness.linearizability import anomalies
from tests.robustness.machines import NAMESPACE, Committed, Machines
from tests.robustness.scene import Fault, Scene
from tests.robustness.traffic import PATH, Clients, Watcher, Writer, now
from tests.robustness.watches import watch_anomalies

RESPONSE_S = 12.0
"""Longest time that a server may take for an answer while it runs, whatever is wrong with etcd."""
RECOVERY_S = 30.0
_WRITERS = 4
_LAST = "last"


@dataclass(frozen=True)
class Report:
    """The result of a run, with all anomalies."""

    faults: tuple[str, ...]
    outcomes: dict[str, int]
    commits: int
    received: int
    slowest_s: float
    recovered_s: float
    anomalies: list[str]

    def __str__(self) -> str:
        return (
            f"{', '.join(self.faults)}: {self.outcomes}, {self.commits} commits, {self.received} events of watches, "
            f"slowest answer {self.slowest_s:.1f} s, well again after {self.recovered_s:.1f} s, "
            f"{len(self.anomalies)} anomalies"
        )


async def run(
    machines: Machines, seed: int, faults: Sequence[Fault] = (), *, number: int = 4, interval: float = 1.0
) -> Report:
    """Run `faults`, or else so many that the seed chooses. The machines are well before and after.

    `interval`: duration of faults, as a part of the usual one.
    """
    chance = random.Random(seed)
    faults = faults or chance.choices(possible(machines), k=number)
    clients = Clients(machines.servers, seed)
    committed = Committed(machines.members)
    scene = Scene(machines, committed, chance, interval)
    await _ensure_namespace(clients)
    watchers = [Watcher(clients, f"watcher {index}") for index in range(3)] + [Watcher(clients, "sleeper", nap_s=2)]
    names = [(server, f"{seed}{server.name}{index}") for server in machines.servers for index in range(_WRITERS)]
    writers = [Writer(clients, server, name) for server, name in names]
    async with asyncio.TaskGroup() as group:
        background = [group.create_task(watcher.run()) for watcher in watchers]
        background.append(group.create_task(committed.run()))
        traffic = [group.create_task(writer.run()) for writer in writers]
        await asyncio.sleep(0.5)
        for fault in faults:
            await fault(scene)
            await scene.hold(0.2, 1)
        recovered_s, found = await _recover(clients)
        clients.stopping = True
        await asyncio.wait(traffic)
        found += await _finish(clients, watchers, committed)
        for task in background:
            task.cancel()
    await clients.close()
    await committed.close()
    log = log_of(committed.changes)
    found += clients.faults + anomalies(clients.calls, log) + watch_anomalies(clients.watches, log)
    slow = [call for call in clients.calls if call.end - call.begin > RESPONSE_S and not _excused(call, machines)]
    found += [f"answered too late: {call}" for call in slow if call.outcome is not Outcome.UNKNOWN]
    return Report(
        tuple(fault.__name__ for fault in faults),
        dict(Counter(call.outcome.value for call in clients.calls)),
        len(log),
        sum(len(watched.received) for watched in clients.watches),
        max((call.end - call.begin for call in clients.calls if call.end < float("inf")), default=0.0),
        recovered_s,
        found,
    )


async def _ensure_namespace(clients: Clients) -> None:
    body = {"metadata": {"name": NAMESPACE}}
    response = await clients.request(clients.servers[0], "POST", "/api/v1/namespaces", body)
    assert response.status_code in (201, 409), response.text
    response = await clients.request(clients.servers[1], "GET", f"/api/v1/namespaces/{NAMESPACE}")
    assert response.status_code == 200, response.text


async def _recover(clients: Clients) -> tuple[float, list[str]]:
    """Wait until each server writes and reads again, by itself."""
    began = now()
    for server in clients.servers:
        while True:
            try:
                name = f"well-{server.name}"
                path = "/api/v1/namespaces/default/configmaps"
                await clients.request(server, "DELETE", f"{path}/{name}")
                body: Any = {"metadata": {"name": name}}
                if (await clients.request(server, "POST", path, body)).status_code == 201:
                    break
            except httpx.HTTPError:
                pass
            if now() - began > RECOVERY_S:
                return now() - began, [f"{server.name} is not well again after {RECOVERY_S:g} s"]
            await asyncio.sleep(0.1)
    return now() - began, []


async def _finish(clients: Clients, watchers: list[Watcher], committed: Committed) -> list[str]:
    """Make a last write, which all watchers have to receive."""
    call = Call(Kind.CREATE, _LAST, now(), value=f"{_LAST} {now()}")
    clients.calls.append(call)
    body = {"metadata": {"name": _LAST}, "data": {"v": call.value}}
    response = await clients.request(clients.servers[0], "POST", PATH, body)
    if response.status_code != 201:
        return [f"the last write: {response.text}"]
    call.end, call.outcome = now(), Outcome.DONE
    call.revision = int(response.json()["metadata"]["resourceVersion"])
    try:
        async with asyncio.timeout(RECOVERY_S):
            for watcher in watchers:
                await watcher.reached(call.revision)
            await committed.reached(call.revision)
    except TimeoutError:
        late = [watcher.name for watcher in watchers if watcher.position < call.revision]
        return [f"the last write did not arrive in {RECOVERY_S:g} s: {late}"]
    return []


def _excused(call: Call, machines: Machines) -> bool:
    """Return whether the server of the call was stopped during the call."""
    away = next(server.away for server in machines.servers if server.name == call.server)
    return any(began <= call.end and ended >= call.begin for began, ended in away)
