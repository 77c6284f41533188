"""A write with an unknown outcome may be stored all the same.

Either its time ran out while the store was at it, or the store reports that the outcome is unknown.
"""

import asyncio

import pytest

from sampan.storage.memory import MemoryStore
from sampan.storage.store import OutcomeUnknown, Revision
from tests.server.cluster import Api, served

SERVICES = "/api/v1/namespaces/default/services"
HOUR_S = 3600.0
SPEC = {"ports": [{"port": 80}]}


class LateStore(MemoryStore):
    """Writes Services. While `late`, writes never return; while `lost`, they report an unknown outcome."""

    def __init__(self) -> None:
        super().__init__()
        self.late = self.lost = False
        self.written = asyncio.Event()

    async def create(self, key: str, value: bytes, *, ttl_s: int = 0) -> Revision:
        return await self._response(key, await super().create(key, value, ttl_s=ttl_s))

    async def update(self, key: str, value: bytes, expected: int, *, ttl_s: int = 0, frees: bool = False) -> Revision:
        return await self._response(key, await super().update(key, value, expected, ttl_s=ttl_s))

    async def _response(self, key: str, revision: Revision) -> Revision:
        if not key.startswith("/registry/services/"):
            return revision
        if self.late:
            self.written.set()
            await asyncio.Event().wait()
        if self.lost:
            raise OutcomeUnknown("the leader is gone")
        return revision


async def take(api: Api, name: str, ip: str) -> int:
    """Create a Service with this address; gives the code."""
    body = {"metadata": {"name": name}, "spec": {**SPEC, "clusterIP": ip}}
    return (await api.post(SERVICES, body)).code


async def out_of_time(api: Api, store: LateStore) -> None:
    """The store has written, and the time of the request is over."""
    await store.written.wait()
    api.server.deadlines.expire(asyncio.get_running_loop().time() + HOUR_S)


async def test_the_address_of_a_service_that_was_created_late_is_not_given_away() -> None:
    store = LateStore()
    async with served(store) as api:
        store.late = True
        requested = asyncio.create_task(api.post(SERVICES, {"metadata": {"name": "a"}, "spec": SPEC}))
        await out_of_time(api, store)
        assert (await requested).code == 504
        store.late = False
        stored = (await api.get(f"{SERVICES}/a")).body
        assert await take(api, "b", stored["spec"]["clusterIP"]) == 422


async def test_the_address_of_a_service_that_the_store_may_have_is_not_given_away() -> None:
    store = LateStore()
    async with served(store) as api:
        store.lost = True
        response = await api.post(SERVICES, {"metadata": {"name": "a"}, "spec": SPEC})
        assert response.code == 504
        store.lost = False
        stored = (await api.get(f"{SERVICES}/a")).body
        assert await take(api, "b", stored["spec"]["clusterIP"]) == 422


@pytest.mark.parametrize("late", [True, False], ids=["late", "in time"])
async def test_neither_the_old_nor_the_new_node_port_of_a_late_update_is_given_away(late: bool) -> None:
    store = LateStore()
    async with served(store) as api:
        ports = {"port": 80, "nodePort": 30100}
        spec = {"type": "NodePort", "ports": [ports]}
        await api.create(SERVICES, {"metadata": {"name": "a"}, "spec": spec})
        store.late = late
        change = {"spec": {"ports": [{**ports, "nodePort": 30101}]}}
        requested = asyncio.create_task(api.patch(f"{SERVICES}/a", change))
        if late:
            await out_of_time(api, store)
        assert (await requested).code == (504 if late else 200)
        store.late = False
        codes = []
        for port in (30100, 30101):
            body = {
                "metadata": {"name": f"b-{port}"},
                "spec": {"type": "NodePort", "ports": [{**ports, "nodePort": port}]},
            }
            codes.append((await api.post(SERVICES, body)).code)
        assert codes == ([422, 422] if late else [201, 422])
