"""Random writes, compared with a model: lists at exact revisions (row 63 of the dashboard's survey) and histories."""

import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sampan.core.object import Object
from sampan.storage.etcd import EtcdSettings
from sampan.storage.etcd.store import EtcdStore
from sampan.storage.sqlite import SQLiteStore
from sampan.storage.store import Store
from tests.server.cluster import Api, served
from tests.server.history.requests import Line, lines_of, query, writes_of
from tests.server.verbs.objects import config_map

NAMESPACES = ("default", "kube-system")
NAMES = ("a", "b")
ALL = "/api/v1/configmaps"
"""Path of the ConfigMaps of all namespaces. The tests select those with the label `of=model`."""

Key = tuple[str, str]
States = dict[Key, Object]

STEPS = st.lists(
    st.tuples(st.sampled_from(NAMESPACES), st.sampled_from(NAMES), st.sampled_from("wwwd"), st.integers(0, 3)),
    min_size=1,
    max_size=25,
)


def path_of(namespace: str, name: str = "") -> str:
    """Return the path of a ConfigMap, or of the ConfigMaps of a namespace."""
    return f"/api/v1/namespaces/{namespace}/configmaps" + (f"/{name}" if name else "")


class Model:
    """Expected states after each write, and the writes."""

    def __init__(self) -> None:
        self.now: States = {}
        self.at: dict[int, States] = {}
        """States by the revision that led to them."""
        self.writes: list[tuple[int, str, Key, Object]] = []
        """Revision, type, key and state, oldest first."""

    def wrote(self, revision: int, kind: str, key: Key, obj: Object) -> None:
        """Take a write."""
        if kind == "DELETED":
            del self.now[key]
        else:
            self.now[key] = obj
        self.at[revision] = dict(self.now)
        self.writes.append((revision, kind, key, obj))

    def life(self, key: Key) -> list[tuple[int, str, Key, Object]]:
        """Return the writes of the last life of an object, newest first."""
        found: list[tuple[int, str, Key, Object]] = []
        for write in reversed(self.writes):
            if write[2] != key:
                continue
            if found and write[1] == "DELETED":
                break
            found.append(write)
            if write[1] == "ADDED":
                break
        return found


async def do(api: Api, model: Model, steps: list[tuple[str, str, str, int]]) -> None:
    """Send the steps. A write creates an absent object; a deletion of an absent object does nothing."""
    for namespace, name, action, value in steps:
        key = (namespace, name)
        present = model.now.get(key)
        if action == "d":
            if present is not None:
                removed = await api.delete(path_of(*key))
                assert removed.code == 200
                (line, *_) = await lines_of(api, path_of(*key), limit=1)
                model.wrote(int(line["resourceVersion"]), "DELETED", key, present)
            continue
        if present is None:
            obj = await api.create(path_of(namespace), config_map(name, labels={"of": "model"}))
            model.wrote(int(obj["metadata"]["resourceVersion"]), "ADDED", key, obj)
            continue
        obj = (await api.patch(path_of(*key), {"data": {"k": str(value)}})).body
        if obj["metadata"]["resourceVersion"] != present["metadata"]["resourceVersion"]:
            model.wrote(int(obj["metadata"]["resourceVersion"]), "MODIFIED", key, obj)


def shown(line: Line) -> tuple[int, str, Key, Object]:
    """Return a line in the form of the model."""
    metadata = line["object"]["metadata"]
    return int(line["resourceVersion"]), line["type"], (metadata["namespace"], metadata["name"]), line["object"]


async def listed_at(api: Api, revision: int, path: str = ALL) -> States:
    """Return the objects of an exact list."""
    exact = f"resourceVersion={revision}&resourceVersionMatch=Exact&labelSelector=of=model"
    response = await api.get(f"{path}?{exact}")
    assert response.code == 200, response.body
    type_ = {"kind": "ConfigMap", "apiVersion": "v1"}
    return {(each["metadata"]["namespace"], each["metadata"]["name"]): type_ | each for each in response.body["items"]}


async def exact_history(api: Api, key: Key) -> list[Object]:
    """Return the states of a present object from exact lists, as `kubectl sampan history` reads them elsewhere."""
    found: list[Object] = []
    obj: Any = (await api.get(path_of(*key))).body
    while obj is not None and (not found or obj["metadata"]["uid"] == found[0]["metadata"]["uid"]):
        found.append(obj)
        obj = (await listed_at(api, int(obj["metadata"]["resourceVersion"]) - 1)).get(key)
    return found


async def check_lists(api: Api, model: Model, page: int) -> None:
    """Compare the lists at all revisions."""
    for revision, states in model.at.items():
        assert await listed_at(api, revision) == states
        of_default = {key: obj for key, obj in states.items() if key[0] == "default"}
        assert await listed_at(api, revision, path_of("default")) == of_default


async def check_histories(api: Api, model: Model, page: int) -> None:
    """Compare the history of each object, read in pages, with the model and with exact lists."""
    for key in {write[2] for write in model.writes}:
        found = await writes_of(api, path_of(*key), limit=page)
        assert [shown(line) for line in found] == model.life(key)
        if key in model.now:
            assert [line["object"] for line in found] == await exact_history(api, key)


async def check_collections(api: Api, model: Model, page: int) -> None:
    """Compare changes and deletions, read in pages, with the model."""
    newest_first = model.writes[::-1]
    for path, namespace in ((ALL, ""), (path_of("default"), "default")):
        expected = [write for write in newest_first if not namespace or write[2][0] == namespace]
        for mode in ("changes", "deleted"):
            found = await writes_of(api, path, mode, limit=page, labelSelector="of=model")
            kinds = [write for write in expected if mode == "changes" or write[1] == "DELETED"]
            assert [shown(line) for line in found] == kinds


async def check_compacted(api: Api, model: Model, page: int) -> None:
    """Compact in the middle: what is left is the newest part of each history, and the state at that revision."""
    compacted = model.writes[len(model.writes) // 2][0]
    await api.cluster.store.compact(compacted)
    for key in {write[2] for write in model.writes}:
        life = model.life(key)
        expected = [write for write in life if write[0] > compacted]
        if not expected and key not in model.now:
            assert (await api.get(f"{path_of(*key)}?{query('revisions')}")).code == 404
            continue
        older = [write for write in life if write[0] <= compacted]
        expected += older[:1]  # the state at the compaction
        assert [shown(line) for line in await writes_of(api, path_of(*key), limit=page)] == expected
        end = (await lines_of(api, path_of(*key), limit=500))[-1]
        assert end["reason"] == ("Created" if expected[-1][1] == "ADDED" else "Expired")
    found = await writes_of(api, ALL, "changes", limit=page, labelSelector="of=model")
    assert [shown(line) for line in found] == [write for write in model.writes[::-1] if write[0] > compacted]


@asynccontextmanager
async def server(engine: str, etcd_url: str) -> AsyncIterator[Api]:
    """Start a server on a new store."""
    with tempfile.TemporaryDirectory() as folder:
        store: Store | None = None
        if engine == "sqlite":
            store = SQLiteStore(Path(folder) / "store.db")
        elif engine == "etcd":
            store = EtcdStore(EtcdSettings((etcd_url,), prefix=f"/{uuid4()}"))
        async with served(store) as api:
            yield api


@pytest.fixture
def etcd_url(engine: str, request: pytest.FixtureRequest) -> str:
    """Return the address of an etcd, if the engine is etcd."""
    return str(request.getfixturevalue("etcd").url) if engine == "etcd" else ""


@pytest.mark.parametrize("check", [check_lists, check_histories, check_collections, check_compacted])
@given(steps=STEPS, page=st.integers(1, 7))
@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
async def test_what_is_read_of_the_past_equals_what_was_written(
    engine: str,
    etcd_url: str,
    check: Callable[[Api, Model, int], Awaitable[None]],
    steps: list[tuple[str, str, str, int]],
    page: int,
) -> None:
    async with server(engine, etcd_url) as api:
        model = Model()
        await do(api, model, [("default", "a", "w", 0), *steps])
        await check(api, model, page)
