"""Writes of a server that has not yet received other servers' writes to its store.

Source: apiserver pkg/storage/etcd3/store.go GuaranteedUpdate, conditionalDelete (1.36).
"""

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from sampan.storage.broadcaster import History, WatchBroadcaster
from sampan.storage.memory import MemoryStore
from sampan.storage.store import KeyValue, Revision, StoreEvent
from tests.server.cluster import Api, ApiResponse, served
from tests.server.verbs.objects import CONFIG_MAPS, config_map

KEY = "/registry/configmaps/default/a"
OBJECT = f"{CONFIG_MAPS}/a"


class SlowBroadcaster(WatchBroadcaster):
    """Keeps back what others write, until it is let go."""

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self.holds_back = False
        self._held_back: list[tuple[Sequence[StoreEvent], int]] = []

    def dispatch(self, events: Sequence[StoreEvent], revision: int) -> None:
        if self.holds_back:
            self._held_back.append((events, revision))
        else:
            self.let_go()
            super().dispatch(events, revision)

    def let_go(self) -> None:
        retained, self._held_back = self._held_back, []
        for events, revision in retained:
            super().dispatch(events, revision)


class SharedStore(MemoryStore):
    """The server's watches get others' writes when it reads the revision, or writes itself."""

    def __init__(self) -> None:
        super().__init__()
        self._broadcaster = self._slow = SlowBroadcaster(self._history)
        self._broadcaster.revision = self._revision
        self.requested = 0

    async def revision(self) -> Revision:
        self.requested += 1
        self._slow.let_go()
        return await super().revision()

    @contextmanager
    def elsewhere(self) -> Iterator[None]:
        """Within the block, writes count as those of another server."""
        self._slow.holds_back = True
        yield
        self._slow.holds_back = False

    async def row(self) -> KeyValue:
        row = await self.get(KEY)
        assert row is not None
        return row

    async def write_elsewhere(self, old: bytes, new: bytes) -> str:
        """Another server changes the object; gives its resourceVersion."""
        row = await self.row()
        assert old in row.value
        with self.elsewhere():
            return str(await self.update(KEY, row.value.replace(old, new), row.mod_revision))

    async def create_elsewhere(self, name: str) -> None:
        """Another server creates an object like `a`."""
        row = await self.row()
        with self.elsewhere():
            await self.create(KEY[:-1] + name, row.value.replace(b'"name":"a"', b'"name":"%s"' % name.encode()))

    async def delete_elsewhere(self) -> None:
        """Another server deletes the object."""
        row = await self.row()
        with self.elsewhere():
            await self.delete(KEY, row.mod_revision)


@pytest.fixture
async def store() -> SharedStore:
    return SharedStore()


@pytest.fixture
async def api(store: SharedStore) -> AsyncIterator[Api]:
    """A server that has the object in its cache as it was created."""
    async with served(store) as api:
        await api.create(CONFIG_MAPS, config_map())
        assert (await api.get(OBJECT)).code == 200
        yield api


def _data(response: ApiResponse) -> Any:
    return (response.code, response.body.get("data"))


async def test_a_write_requests_nothing_before_it_is_made(api: Api, store: SharedStore) -> None:
    store.requested = 0
    assert (await api.put(OBJECT, config_map() | {"data": {"k": "x"}})).code == 200
    assert (await api.get(OBJECT)).code == 200
    assert (await api.patch(OBJECT, {"data": {"k": "y"}})).code == 200
    assert (await api.get(OBJECT)).code == 200
    assert (await api.delete(OBJECT)).code == 200
    assert store.requested == 2, "only the two reads request the revision"


async def test_an_unconditional_update_replaces_a_write_of_another_server(api: Api, store: SharedStore) -> None:
    await store.write_elsewhere(b'"k":"v"', b'"k":"w"')
    assert _data(await api.put(OBJECT, config_map() | {"data": {"k": "x"}})) == (200, {"k": "x"})


async def test_an_update_with_the_revision_of_another_server_is_not_a_conflict(api: Api, store: SharedStore) -> None:
    revision = await store.write_elsewhere(b'"k":"v"', b'"k":"w"')
    wish = config_map(resourceVersion=revision) | {"data": {"k": "x"}}
    assert _data(await api.put(OBJECT, wish)) == (200, {"k": "x"})


async def test_an_update_with_the_revision_before_another_server_is_a_conflict(api: Api, store: SharedStore) -> None:
    known = (await api.get(OBJECT)).body
    await store.write_elsewhere(b'"k":"v"', b'"k":"w"')
    response = await api.put(OBJECT, known | {"data": {"k": "x"}})
    assert (response.code, response.reason) == (409, "Conflict")


async def test_an_update_that_once_would_have_changed_nothing_is_written(api: Api, store: SharedStore) -> None:
    await store.write_elsewhere(b'"k":"v"', b'"k":"w"')
    assert _data(await api.put(OBJECT, config_map())) == (200, {"k": "v"})
    assert b'"k":"v"' in (await store.row()).value


async def test_a_patch_is_based_on_a_write_of_another_server(api: Api, store: SharedStore) -> None:
    await store.write_elsewhere(b'"k":"v"', b'"k":"w"')
    assert _data(await api.patch(OBJECT, {"data": {"l": "m"}})) == (200, {"k": "w", "l": "m"})


async def test_a_patch_that_an_old_row_would_not_take_is_taken(api: Api, store: SharedStore) -> None:
    await store.write_elsewhere(b'"k":"v"', b'"k":"w"')
    tested = [{"op": "test", "path": "/data/k", "value": "w"}, {"op": "add", "path": "/data/l", "value": "m"}]
    assert _data(await api.patch(OBJECT, tested, "json")) == (200, {"k": "w", "l": "m"})


async def test_a_warning_about_an_outdated_row_is_not_repeated(api: Api, store: SharedStore) -> None:
    await store.write_elsewhere(b'"k":"v"', b'"k":"w"')
    response = await api.patch(f"{OBJECT}?fieldValidation=Warn", {"strange": 1, "data": {"l": "m"}})
    assert (response.code, len(response.warnings)) == (200, 1)


async def test_a_dry_run_is_based_on_a_write_of_another_server(api: Api, store: SharedStore) -> None:
    await store.write_elsewhere(b'"k":"v"', b'"k":"w"')
    assert _data(await api.patch(f"{OBJECT}?dryRun=All", {"data": {"l": "m"}})) == (200, {"k": "w", "l": "m"})


async def test_a_delete_of_the_newest_state_is_no_conflict(api: Api, store: SharedStore) -> None:
    revision = await store.write_elsewhere(b'"k":"v"', b'"k":"w"')
    assert (await api.delete(OBJECT, {"preconditions": {"resourceVersion": revision}})).code == 200
    assert await store.get(KEY) is None


async def test_a_delete_with_an_old_precondition_is_a_conflict(api: Api, store: SharedStore) -> None:
    known = (await api.get(OBJECT)).metadata["resourceVersion"]
    await store.write_elsewhere(b'"k":"v"', b'"k":"w"')
    assert (await api.delete(OBJECT, {"preconditions": {"resourceVersion": known}})).code == 409
    assert await store.row()


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE"])
async def test_an_object_deleted_by_another_server_is_not_found(api: Api, store: SharedStore, method: str) -> None:
    known = (await api.get(OBJECT)).body
    await store.delete_elsewhere()
    body = {"PUT": known | {"data": {}}, "PATCH": {"data": {"l": "m"}}, "DELETE": b""}[method]
    content_type = "application/merge-patch+json" if method == "PATCH" else "application/json"
    assert (await api.fetch(method, OBJECT, body, content_type=content_type)).code == 404


@pytest.mark.parametrize("method", ["PATCH", "DELETE"])
async def test_an_object_created_by_another_server_is_found(api: Api, store: SharedStore, method: str) -> None:
    await store.create_elsewhere("b")
    body = {"data": {"l": "m"}} if method == "PATCH" else b""
    assert (await api.fetch(method, f"{CONFIG_MAPS}/b", body, content_type="application/merge-patch+json")).code == 200


async def test_an_apply_is_based_on_an_object_created_by_another_server(api: Api, store: SharedStore) -> None:
    await store.create_elsewhere("b")
    response = await api.apply(f"{CONFIG_MAPS}/b", config_map("b") | {"data": {"l": "m"}})
    assert _data(response) == (200, {"k": "v", "l": "m"})
