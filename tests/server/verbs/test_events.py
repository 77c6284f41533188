"""Events last for an hour (C35)."""

from sampan.storage.memory import MemoryStore
from tests.server.cluster import served
from tests.server.verbs.objects import config_map

EVENTS = "/api/v1/namespaces/default/events"
NEW_EVENTS = "/apis/events.k8s.io/v1/namespaces/default/events"
EVENT = {
    "metadata": {"name": "e"},
    "involvedObject": {"kind": "Pod", "name": "p", "namespace": "default"},
    "reason": "Tested",
    "type": "Normal",
}
HOUR_S = 3600


class Clock:
    """Seconds since the epoch, set by hand."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


async def test_times_that_an_event_has_not_are_null_in_both_groups() -> None:
    async with served() as api:
        created = await api.create(EVENTS, EVENT)
        assert [created[name] for name in ("firstTimestamp", "lastTimestamp", "eventTime")] == [None] * 3
        shown = (await api.get(f"{NEW_EVENTS}/e")).body
        assert [shown[f"deprecated{name}Timestamp"] for name in ("First", "Last")] == [None] * 2


async def test_an_event_is_gone_after_an_hour_in_both_its_groups() -> None:
    clock = Clock()
    store = MemoryStore(clock=clock)
    async with served(store) as api:
        await api.create(EVENTS, EVENT)
        await api.create("/api/v1/namespaces/default/configmaps", config_map())
        async with api.watch(f"{NEW_EVENTS}?watch=1") as watch:
            assert await watch.events(1) == [("ADDED", "e")]
            clock.now += HOUR_S - 1
            store.expire()
            assert (await api.get(f"{EVENTS}/e")).code == 200
            clock.now += 1
            store.expire()
            assert await watch.events(1) == [("DELETED", "e")]
        for path in (EVENTS, NEW_EVENTS):
            assert (await api.get(f"{path}/e")).code == 404
        assert len((await api.get("/api/v1/namespaces/default/configmaps")).body["items"]) == 1


async def test_a_change_of_an_event_makes_it_last_for_another_hour() -> None:
    clock = Clock()
    store = MemoryStore(clock=clock)
    async with served(store) as api:
        await api.create(EVENTS, EVENT)
        clock.now += HOUR_S - 1
        assert (await api.patch(f"{EVENTS}/e", {"count": 2})).code == 200
        clock.now += HOUR_S - 1
        store.expire()
        assert (await api.get(f"{EVENTS}/e")).code == 200
        clock.now += 1
        store.expire()
        assert (await api.get(f"{EVENTS}/e")).code == 404
