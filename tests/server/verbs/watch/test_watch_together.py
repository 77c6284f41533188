"""Watchers that share the sending of events receive the same as each would alone."""

import asyncio
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson
import pytest

from sampan.server.verbs.watch.watch import WatchServer
from sampan.storage.records import Delivery
from tests.loop_turn import counting_per_turn
from tests.server.cluster import Api
from tests.server.verbs.objects import CONFIG_MAPS, PARTIAL, TABLE, config_map, some_config_maps

JSON = "application/json"
QUERIES = ("", "&labelSelector=n%3D1", "&labelSelector=n%3D0")
ALL = "/api/v1/configmaps"
OTHER = "/api/v1/namespaces/kube-system/configmaps"
WRITERS = 4
WRITES = 25


@dataclass
class Received:
    """A watcher that is at times slower than others."""

    path: str
    accept: str
    last: bytes
    """The name of the object after which nothing comes."""
    lines: list[bytes] = field(default_factory=list)

    async def read(self, api: Api, pauses: random.Random | None) -> None:
        """Take chunks until the last object has come."""
        response = await api.client.get(self.path, accept=self.accept)
        assert response.status == 200, response.body
        assert response.stream is not None
        rest = b""
        try:
            while True:
                chunk = await anext(response.stream)
                *lines, rest = (rest + chunk).split(b"\n")
                self.lines += lines
                if any(self.last in line for line in lines):
                    return
                if pauses is not None:
                    await asyncio.sleep(pauses.choice([0, 0, 0.002, 0.03]))
        finally:
            await response.stream.aclose()  # type: ignore[attr-defined]  # every stream of ours is a generator
            if response.finished is not None:
                response.finished()


async def _write(api: Api, writer: int, chance: random.Random) -> None:
    there: dict[str, dict[str, Any]] = {}
    for number in range(WRITES):
        path = chance.choice([CONFIG_MAPS, OTHER])
        name = f"{path.split('/')[4]}-{writer}-{chance.randrange(6)}"
        labels = {"n": str(chance.randrange(2))}
        if name not in there:
            there[name] = await api.create(path, config_map(name, labels=labels))
        elif chance.random() < 0.3:
            del there[name]
            await api.delete(f"{path}/{name}")
        else:
            await api.patch(f"{path}/{name}", {"metadata": {"labels": labels}, "data": {"number": str(number)}})


@pytest.mark.parametrize("seed", range(3))
async def test_each_of_many_watchers_is_reported_what_it_would_be_reported_alone(api: Api, seed: int) -> None:
    begin = (await api.get(CONFIG_MAPS)).body["metadata"]["resourceVersion"]
    watched = [
        Received(
            f"{path}?watch=1&resourceVersion={begin}{query}", accept, b'"end0"' if query.endswith("0") else b'"end1"'
        )
        for path in (CONFIG_MAPS, ALL)
        for query in QUERIES
        for accept in (JSON, PARTIAL, TABLE)
        for _ in range(3)
    ]
    paces = [random.Random(seed * 100 + number) if number % 3 else None for number in range(len(watched))]
    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        for watcher, interval in zip(watched, paces, strict=True):
            group.create_task(watcher.read(api, interval))
        await asyncio.gather(*(_write(api, writer, random.Random(seed * 10 + writer)) for writer in range(WRITERS)))
        for number in "01":  # one for each selector
            await api.create(CONFIG_MAPS, config_map("end" + number, labels={"n": number}))
    alone: dict[tuple[str, str], Received] = {}
    for watcher in watched:
        if (watcher.path, watcher.accept) not in alone:
            single = Received(watcher.path, watcher.accept, watcher.last)
            await asyncio.wait_for(single.read(api, None), 60)
            alone[watcher.path, watcher.accept] = single
        assert _ageless(watcher) == _ageless(alone[watcher.path, watcher.accept])
        revisions = [int(orjson.loads(line)["object"]["metadata"]["resourceVersion"]) for line in watcher.lines]
        assert revisions == sorted(set(revisions))


def _ageless(watcher: Received) -> list[bytes]:
    """Return the events without the cells of ages, which are as old as their rows."""
    if watcher.accept != TABLE:
        return watcher.lines
    events = [orjson.loads(line) for line in watcher.lines]
    for event in events:
        del event["object"]["rows"][0]["cells"][2]
    return [orjson.dumps(event) for event in events]


@pytest.mark.parametrize("accept", [JSON, TABLE])
async def test_many_watches_that_begin_at_once_encode_one_piece_in_each_turn_of_the_event_loop(
    api: Api, accept: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await some_config_maps(api, 40)
    joined = WatchServer._joined
    watchers = [Received(f"{ALL}?watch=1", accept, b'"cm-39"') for _ in range(20)]
    with counting_per_turn() as (pieces, count):

        def counted(server: WatchServer, events: Sequence[Delivery]) -> Any:
            count()
            return joined(server, events)

        monkeypatch.setattr(WatchServer, "_joined", counted)
        await asyncio.gather(*(watcher.read(api, None) for watcher in watchers))
    assert pieces.total() >= len(watchers)
    assert max(pieces.values()) == 1
