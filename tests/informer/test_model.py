"""Random changes and random faults: in the end every informer agrees with the server, and so does every handler."""

import asyncio
from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from sampan.client.errors import TransportError
from sampan.informer import InformerSettings, ReflectorSettings, Registration, SharedInformer
from sampan.resource import Object
from sampan.testing.time.virtual_time import run_virtual
from tests.informer.server import (
    WIDGETS,
    FakeServer,
    Plan,
    Recorder,
    expired,
    running,
    state_of,
    store_of,
    too_large,
    too_many,
)
from tests.informer.test_faults import FAULTS, QUIET_S
from tests.properties import examples

LIST_FAULTS = {
    "410": expired(),
    "429": too_many(3),
    "504": too_large(7),
    "refused": TransportError("refused", sent=False),
}

names = st.sampled_from("abc")
steps = st.one_of(
    st.tuples(st.just("put"), names),
    st.tuples(st.just("delete"), names),
    st.tuples(st.just("sleep"), st.sampled_from(["0", "1", "30", "400"])),
    st.tuples(st.just("watch fault"), st.sampled_from(sorted(FAULTS))),
    st.tuples(st.just("cut after"), st.sampled_from(["0", "1", "2", "3"])),
    st.tuples(st.just("list fault"), st.sampled_from(sorted(LIST_FAULTS))),
    st.tuples(st.sampled_from(["bookmark", "compact", "handler", "remove", "resync"]), st.just("")),
)
modes = st.sampled_from(["lists", "streams", "pages", "delta-fifo"])


class Run:
    """One server, one informer, and handlers that come and go."""

    def __init__(self, mode: str) -> None:
        self.server = FakeServer(page=mode == "pages", has_streaming_lists=mode == "streams")
        reflector = ReflectorSettings(page_size=2, streaming=mode == "streams")
        informer_settings = InformerSettings(reflector, compress_deltas=mode == "delta-fifo")
        self.informer = SharedInformer(self.server, WIDGETS, settings=informer_settings)
        self.handlers: list[tuple[Recorder, Registration[Object]]] = []

    async def take(self, step: str, what: str) -> None:
        server = self.server
        if step == "put":
            server.put(what)
        elif step == "delete" and f"ns/{what}" in server.objects:
            server.delete(what)
        elif step == "sleep":
            await asyncio.sleep(float(what))
        elif step == "watch fault":
            server.plans.append(FAULTS[what])
        elif step == "cut after":
            server.plans.append(Plan(events=int(what), end=TransportError("cut", sent=True)))
        elif step == "list fault":
            server.list_faults.append(LIST_FAULTS[what])
        elif step == "bookmark":
            server.bookmark()
        elif step == "compact":
            server.compact()
        elif step in ("handler", "resync"):
            self.add_handler(resync_s=7 if step == "resync" else 0)
        elif step == "remove" and self.handlers:
            self.handlers.pop()[1].remove()

    def add_handler(self, *, resync_s: float = 0) -> None:
        recorder = Recorder()
        self.handlers.append((recorder, self.informer.add_handler(recorder, resync_s=resync_s)))

    async def run(self, taken: Sequence[tuple[str, str]]) -> None:
        self.server.put("a")
        self.add_handler()
        async with running(self.informer):
            for step, what in taken:
                await self.take(step, what)
            self.server.plans.clear()
            self.server.list_faults.clear()
            await asyncio.sleep(QUIET_S)
            self.check()

    def check(self) -> None:
        assert store_of(self.informer) == state_of(self.server)
        assert self.informer.last_resource_version == str(self.server.version)
        for recorder, registration in self.handlers:
            assert registration.has_synced()
            assert registration.pending == 0
            assert recorder.present() == state_of(self.server)
            for key, states in recorder.states.items():
                assert is_subsequence(states, self.server.truth[key])
            for notifications in recorder.notifications:
                if notifications.startswith("delete"):
                    assert notifications.rpartition("@")[2] in self.server.deletions, "a deletion bears its own version"


def is_subsequence(part: Sequence[str], whole: Sequence[str]) -> bool:
    """Return True if all states are states of the server, in its order. A resync may repeat one."""
    rest = iter(whole)
    return all(one in rest for at, one in enumerate(part) if at == 0 or one != part[at - 1])


@settings(max_examples=examples(150))
@given(taken=st.lists(steps, max_size=25), mode=modes)
def test_after_any_changes_and_faults_store_and_handlers_agree_with_the_server(
    taken: list[tuple[str, str]], mode: str
) -> None:
    async def check() -> None:
        await Run(mode).run(taken)

    run_virtual(check())
