"""Random writes through three servers on one store: all answers fit with one history of each key."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from itertools import pairwise
from random import Random
from typing import Any

import pytest

from sampan.storage.encoding import decode
from tests.server.cluster import Api
from tests.server.several.servers import Server, several

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
SERVICES = "/api/v1/namespaces/default/services"
NAMES = ("a", "b", "c")
STEPS = 25


@dataclass(frozen=True)
class Step:
    """A client's request for a key, with the result; `began` and `ended` order all steps."""

    name: str
    verb: str
    began: int
    ended: int
    revision: int
    """The object's resourceVersion; of a deletion its own; 0: there was none."""


class Client:
    """Sends random requests to one server, and writes down the results."""

    def __init__(self, api: Api, random: Random, ticks: list[int], history: list[Step]) -> None:
        self._api = api
        self._random = random
        self._ticks = ticks
        self._history = history

    async def run(self) -> None:
        for _ in range(STEPS):
            verb = self._random.choice((self._create, self._patch, self._delete, self._get, self._list))
            await verb(self._random.choice(NAMES))

    def _tick(self) -> int:
        self._ticks[0] += 1
        return self._ticks[0]

    async def _recorded(self, name: str, verb: str, fetch: Callable[[], Awaitable[Any]]) -> None:
        began = self._tick()
        response = await fetch()
        if response.code in (200, 201):
            revision = int(response.body["metadata"]["resourceVersion"]) if response.body["kind"] == "ConfigMap" else -1
            self._history.append(Step(name, verb, began, self._tick(), revision))
        elif response.code == 404 and verb == "get":
            self._history.append(Step(name, verb, began, self._tick(), 0))
        else:
            assert response.code in (404, 409), response.body

    async def _create(self, name: str) -> None:
        await self._recorded(name, "create", lambda: self._api.post(CONFIG_MAPS, {"metadata": {"name": name}}))

    async def _patch(self, name: str) -> None:
        body = {"data": {"x": str(self._random.random())}}
        await self._recorded(name, "patch", lambda: self._api.patch(f"{CONFIG_MAPS}/{name}", body))

    async def _delete(self, name: str) -> None:
        await self._recorded(name, "delete", lambda: self._api.delete(f"{CONFIG_MAPS}/{name}"))

    async def _get(self, name: str) -> None:
        await self._recorded(name, "get", lambda: self._api.get(f"{CONFIG_MAPS}/{name}"))

    async def _list(self, name: str) -> None:
        began = self._tick()
        items = (await self._api.get(CONFIG_MAPS)).body["items"]
        observed = {item["metadata"]["name"]: int(item["metadata"]["resourceVersion"]) for item in items}
        ended = self._tick()
        self._history.extend(Step(each, "get", began, ended, observed.get(each, 0)) for each in NAMES)


async def stored_history(servers: list[Server]) -> dict[str, list[tuple[int, bool]]]:
    """Return the history of each key: the revisions, and for each of them whether an object was there after it."""
    found: dict[str, list[tuple[int, bool]]] = {name: [(0, False)] for name in NAMES}
    shared = servers[0].late.shared
    end = await shared.revision()
    async with shared.watch("/registry/configmaps/default/", "/registry/configmaps/default0", 1) as watch:
        async for batch in watch:
            for event in batch.events:
                name = event.key.rpartition("/")[2]
                if name in found:
                    found[name].append((event.revision, event.value is not None))
            if batch.revision >= end:
                return found
    raise AssertionError("the watch ended")


def check(steps: list[Step], states: list[tuple[int, bool]]) -> None:
    """Check that one order of the steps explains all answers: that of the revisions, which are the store's.

    Each step has a place: a write at its revision, a read in the state that it saw. No step may have a place before
    that of a step that had ended when it began. Nor may it have one after that of a write that began when it had ended.
    Reads of nothing fit into each state without an object that is between the two.
    """
    present = dict(states)
    place = 0
    steps_in_order = sorted(steps, key=lambda step: step.ended)
    for step in steps_in_order:
        if step.verb != "get":
            wrote = [revision for revision, there in states if there is (step.verb != "delete")]
            assert step.revision == -1 or step.revision in wrote, (step, states)
        elif step.revision:
            assert present.get(step.revision), (step, states)
    for step in steps_in_order:
        before = max((earliest_of(other, states) for other in steps if other.ended < step.began), default=0)
        later = [other.revision for other in steps if other.began > step.ended and other.verb in ("create", "patch")]
        place = latest_of(step, before, [state for state in states if state[0] < min(later, default=1 << 62)])
        assert place >= before, (step, before, states)


def earliest_of(step: Step, states: list[tuple[int, bool]]) -> int:
    """The first place that a step may have, by itself."""
    return max(step.revision, 0)


def latest_of(step: Step, before: int, states: list[tuple[int, bool]]) -> int:
    """The last place that a step may have: where the state that it saw ends."""
    if step.verb != "get":
        return before if step.revision < 0 else step.revision
    ends = [(one, other[0] - 1) for one, other in pairwise([*states, (1 << 62, False)])]
    if step.revision:
        return next((end for (revision, _), end in ends if revision == step.revision), -1)
    return max(end for (_, there), end in ends if not there)  # before the first revision there was nothing


@pytest.mark.parametrize("seed", range(6))
async def test_responses_of_three_servers_fit_one_history(seed: int) -> None:
    random, history, ticks = Random(seed), list[Step](), [0]
    async with several(3) as servers:
        clients = [Client(servers[n % 3], Random(random.random()), ticks, history) for n in range(6)]
        await asyncio.gather(*(client.run() for client in clients))
        states = await stored_history(servers)
    for name in NAMES:
        check([step for step in history if step.name == name], states[name])


def test_the_check_finds_a_stale_response() -> None:
    states = [(0, False), (5, True), (7, True)]
    written = Step("a", "patch", 1, 2, 7)
    check([written, Step("a", "get", 3, 4, 7)], states)
    for stale in (5, 0):
        with pytest.raises(AssertionError):
            check([written, Step("a", "get", 3, 4, stale)], states)
    with pytest.raises(AssertionError):
        check([written, Step("a", "get", 3, 4, 0), Step("a", "patch", 5, 6, 8)], [*states, (8, True), (9, False)])


@pytest.mark.parametrize("seed", range(4))
async def test_no_address_or_port_is_held_twice_at_any_time(seed: int) -> None:
    random = Random(seed)
    async with several(3) as servers:
        await asyncio.gather(*(_churn(server, Random(random.random()), n) for n, server in enumerate(servers * 2)))
        shared = servers[0].late.shared
        end = await shared.revision()
        held: dict[str, tuple[str, ...]] = {}
        async with shared.watch("/registry/services/specs/", "/registry/services/specs0", 1) as watch:
            async for batch in watch:
                for event in batch.events:
                    held[event.key] = () if event.value is None else _holds(event.value)
                    everything = [each for what in held.values() for each in what]
                    assert len(everything) == len(set(everything))
                if batch.revision >= end:
                    break


async def _churn(api: Api, random: Random, number: int) -> None:
    """Make, change and delete Services, some with addresses and ports that others want, too."""
    for step in range(8):
        name = f"s{number}-{step % 3}"
        spec: dict[str, Any] = {"ports": [{"port": 80}], "type": random.choice(("ClusterIP", "NodePort"))}
        if random.random() < 0.5:
            spec["clusterIP"] = f"10.96.9.{random.randrange(4)}"
        if spec["type"] == "NodePort" and random.random() < 0.5:
            spec["ports"][0]["nodePort"] = 31000 + random.randrange(4)
        response = await api.post(SERVICES, {"metadata": {"name": name}, "spec": spec})
        assert response.code in (201, 409, 422), response.body
        if random.random() < 0.3:
            kind = random.choice(("ClusterIP", "NodePort"))
            assert (await api.patch(f"{SERVICES}/{name}", {"spec": {"type": kind}})).code in (200, 404, 422)
        if random.random() < 0.5:
            assert (await api.delete(f"{SERVICES}/{name}")).code in (200, 404)


def _holds(value: bytes) -> tuple[str, ...]:
    spec = decode(value)["spec"]
    ports = [str(port["nodePort"]) for port in spec["ports"] if port.get("nodePort")]
    return (*spec.get("clusterIPs", ()), *ports)
