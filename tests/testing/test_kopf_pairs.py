"""docs/migrating-from-kopf.md: each kopf handler and its counterpart have the same effect on a cluster."""

import asyncio
import datetime
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from sampan.client.errors import ApiError
from sampan.core.clock import monotonic, utc_now
from sampan.core.tls.certificates import make_authority, make_server_certificate
from sampan.testing import Cluster, ClusterOptions, kopf_operator
from sampan.testing.operators.running import Running

kopf = pytest.importorskip("kopf")

PAGE = (Path(__file__).parents[2] / "docs" / "migrating-from-kopf.md").read_text()
BLOCKS = dict(re.findall(r"^```python\n# (shared|\w+: \w+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
PAIRS = [name.removeprefix("kopf: ") for name in BLOCKS if name.startswith("kopf: ")]
WITHIN_S = 30.0


class Side:
    """One of the two operators on a cluster, and what it records."""

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        self.cluster, self.folder = cluster, folder
        self.notes: list[str] = []
        self.running: Running

    async def record(self, text: str) -> None:
        self.notes.append(text)

    def start(self, kind: str, pair: str) -> None:
        authority = make_authority("test", utc_now(), datetime.timedelta(days=1))
        leaf = make_server_certificate(
            authority, ["127.0.0.1"], utc_now(), datetime.timedelta(days=1), common_name="test"
        )
        for name, content in {
            "ca": authority.certificate_pem(),
            "cert": leaf.certificate_pem(),
            "key": leaf.key_pem(),
        }.items():
            (self.folder / name).write_bytes(content)
        certificate = {"cafile": self.folder / "ca", "certfile": self.folder / "cert", "pkeyfile": self.folder / "key"}
        names: dict[str, Any] = {
            "record": self.record,
            "CERTIFICATE": certificate,
            "CERTIFICATES": self.folder / "issued",
        }
        code = compile(BLOCKS["shared"] + BLOCKS[f"{kind}: {pair}"], f"{kind}-{pair}", "exec")
        if kind == "sampan":
            exec(code, names)
            self.running = self.cluster.run(names["set_up"])
            return
        before = kopf.get_default_registry()
        registry = kopf.OperatorRegistry()
        kopf.set_default_registry(registry)
        try:
            exec(code, names)
        finally:
            kopf.set_default_registry(before)
        self.running = self.cluster.run(kopf_operator(registry))

    async def boat(self, name: str, colour: str) -> None:
        metadata = {"name": name, "labels": {"boat": "yes"}}
        await self.cluster.apply(
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"colour": colour}}
        )

    async def painted(self, name: str, expected: str, key: str = "painted") -> str:
        async def value() -> str:
            box = await self.cluster.get("configmaps", name)
            found: str = box["metadata"].get("annotations", {}).get(key, "")
            return found

        await self.until(lambda: _equals(value, expected))
        return await value()

    async def until(self, holds: Callable[[], Awaitable[bool]]) -> None:
        deadline = monotonic() + WITHIN_S
        while not await holds():
            assert monotonic() < deadline, self.notes
            await asyncio.sleep(0.05)

    async def noted(self, text: str, times: int = 1) -> str:
        async def holds() -> bool:
            return self.notes.count(text) >= times

        await self.until(holds)
        return text


async def _equals(value: Callable[[], Awaitable[str]], expected: str) -> bool:
    return await value() == expected


async def change(side: Side) -> object:
    await side.boat("junk", "red")
    first = await side.painted("junk", "red")
    await side.boat("junk", "blue")
    return first, await side.painted("junk", "blue")


async def delete(side: Side) -> object:
    await side.boat("junk", "red")

    async def held() -> bool:
        return bool((await side.cluster.get("configmaps", "junk"))["metadata"].get("finalizers"))

    await side.until(held)
    await side.cluster.delete("cm/junk")

    async def gone() -> bool:
        return await side.cluster.find("cm/junk") is None

    await side.until(gone)
    return side.notes


async def event(side: Side) -> object:
    await side.boat("junk", "red")
    return await side.noted("junk exists")


async def timer(side: Side) -> object:
    await side.boat("junk", "red")
    return await side.noted("junk checked", 3)


async def daemon(side: Side) -> object:
    await side.boat("junk", "red")
    await side.noted("junk sails", 3)
    await side.cluster.delete("cm/junk")
    await side.noted("junk moored")
    return list(dict.fromkeys(side.notes))


async def index(side: Side) -> object:
    await side.boat("junk", "red")
    await side.boat("dhow", "blue")
    await side.noted("red: 1")
    await side.boat("raft", "red")
    return await side.noted("red: 2")


async def admission(side: Side) -> object:
    kinds = ("validatingwebhookconfigurations", "mutatingwebhookconfigurations")

    async def registered() -> bool:
        found = [
            hook for kind in kinds for each in await side.cluster.list(kind) for hook in each.get("webhooks") or []
        ]
        return len(found) == 2 and all(hook["clientConfig"].get("caBundle") for hook in found)

    await side.until(registered)
    with pytest.raises(ApiError) as refused:
        await side.boat("wreck", "rust")
    await side.boat("junk", "red")
    return (
        refused.value.code,
        "a boat cannot be rusty" in str(refused.value),
        await side.painted("junk", "Wuhan", "home"),
    )


SCENARIOS: dict[str, Callable[[Side], Awaitable[object]]] = {
    "change": change,
    "field": change,
    "delete": delete,
    "event": event,
    "timer": timer,
    "daemon": daemon,
    "index": index,
    "admission": admission,
}


@pytest.fixture
async def cluster() -> AsyncIterator[Cluster]:
    async with Cluster(ClusterOptions(virtual=False)) as cluster:
        yield cluster


@pytest.fixture
async def other() -> AsyncIterator[Cluster]:
    async with Cluster(ClusterOptions(virtual=False)) as cluster:
        yield cluster


@pytest.mark.parametrize("pair", PAIRS)
async def test_both_sides_have_the_same_effect(pair: str, cluster: Cluster, other: Cluster, tmp_path: Path) -> None:
    effects = []
    for kind, used in (("kopf", cluster), ("sampan", other)):
        side = Side(used, tmp_path)
        side.start(kind, pair)
        effects.append(await SCENARIOS[pair](side))
        await side.running.stop()
    assert effects[0] == effects[1]


def test_every_kopf_block_has_a_counterpart_and_a_scenario() -> None:
    assert [name.removeprefix("sampan: ") for name in BLOCKS if name.startswith("sampan: ")] == PAIRS
    assert set(PAIRS) == set(SCENARIOS)
    assert len(BLOCKS) == PAGE.count("```python")
