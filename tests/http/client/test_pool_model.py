"""The pool under any order of events: bounds hold, no request waits for a place that is free, and none is lost."""

import asyncio
from typing import Any, cast

from hypothesis import example, given, settings
from hypothesis import strategies as st

from sampan.client.errors import TransportError
from sampan.http.client.connection import Connection
from sampan.http.client.pool import ConnectionPool
from sampan.http.client.settings import HttpClientSettings
from sampan.testing import run_virtual, settle
from tests.properties import examples


class Server:
    """An origin."""

    key = "server"


class FakeConnection:
    """A connection as the pool sees it."""

    def __init__(self, pool: "Pool") -> None:
        self.pool = pool
        self.closed = False
        self.retired = False
        self.idle_since = 0.0

    def close(self) -> None:
        self.cut()

    def cut(self) -> None:
        if not self.closed:
            self.closed = True
            asyncio.get_running_loop().call_soon(self.pool.pool.lost, cast(Connection, self))


class Pool:
    """A pool whose dials the test lets succeed or fail."""

    def __init__(self, connections_max: int) -> None:
        self.pool = ConnectionPool(HttpClientSettings(connections_max=connections_max), self.dial)
        self.dials: list[asyncio.Future[None]] = []
        self.users: list[asyncio.Task[Connection]] = []
        self.held: list[Connection] = []

    async def dial(self, origin: "Server") -> Connection:
        dial = asyncio.get_running_loop().create_future()
        self.dials.append(dial)
        await dial
        return cast(Connection, FakeConnection(self))

    async def use(self) -> Connection:
        connection = await self.pool.acquire(Server(), stream=False)
        self.held.append(connection)
        return connection

    def event(self, kind: str, which: int) -> None:
        """One event; `which` selects the dial, task or connection that it happens to."""
        pending = [dial for dial in self.dials if not dial.done()]
        waiting = [user for user in self.users if not user.done()]
        live = [connection for connection in self.held if not connection.closed]
        if kind == "come":
            self.users.append(asyncio.get_running_loop().create_task(self.use()))
        elif kind == "dialled" and pending:
            pending[which % len(pending)].set_result(None)
        elif kind == "refused" and pending:
            pending[which % len(pending)].set_exception(TransportError("refused", sent=False))
        elif kind == "cancel" and waiting:
            waiting[which % len(waiting)].cancel()
        elif kind == "release" and live:
            connection = live[which % len(live)]
            self.held.remove(connection)
            self.pool.release(connection)
        elif kind == "cut" and live:
            connection = live[which % len(live)]
            self.held.remove(connection)
            connection.cut()
        elif kind == "retire":
            self.pool.retire()
        elif kind == "drop":
            self.pool.drop_idle()

    @property
    def working(self) -> int:
        """Connections in use, or being made."""
        return len([c for c in self.held if not c.closed]) + len([d for d in self.dials if not d.done()])


KINDS = [
    "come",
    "come",
    "come",
    "dialled",
    "dialled",
    "refused",
    "cancel",
    "release",
    "release",
    "cut",
    "retire",
    "drop",
]
EVENTS = st.lists(st.tuples(st.sampled_from(KINDS), st.integers(0, 9), st.booleans()), max_size=30)
CANCELLED_WHEN_SERVED = [
    ("come", 0, True),
    ("dialled", 0, True),
    ("come", 0, True),
    ("come", 0, True),
    ("release", 0, False),
    ("cancel", 0, False),
    ("come", 0, True),
]


@given(connections_max=st.integers(1, 3), events=EVENTS)
@example(1, CANCELLED_WHEN_SERVED)
@settings(max_examples=examples(100))
def test_bounds_hold_and_no_place_is_lost(connections_max: int, events: list[tuple[str, int, bool]]) -> None:
    async def scenario() -> None:
        pool = Pool(connections_max)
        for kind, which, at_rest in events:
            pool.event(kind, which)
            assert pool.working <= connections_max
            if at_rest:
                await settle(rounds=25)
                waiting = [user for user in pool.users if not user.done()]
                dialling = [dial for dial in pool.dials if not dial.done()]
                if len(waiting) > len(dialling):
                    assert pool.working == connections_max, "a request waits, and there is a place"
        await settle(rounds=25)
        # All tasks that still wait are served in the end, when all others are done.
        for _ in range(len(pool.users)):
            for kind in ("dialled", "release"):
                pool.event(kind, 0)
                await settle(rounds=25)
        done: list[Any] = await asyncio.gather(*pool.users, return_exceptions=True)
        assert all(isinstance(result, FakeConnection | TransportError | asyncio.CancelledError) for result in done)
        await pool.pool.aclose()

    run_virtual(scenario())


def test_places_are_given_in_the_order_of_coming() -> None:
    async def scenario() -> None:
        pool = Pool(3)
        order: list[int] = []

        async def come(number: int) -> None:
            connection = await pool.pool.acquire(Server(), stream=False)
            order.append(number)
            await asyncio.sleep(1)
            pool.pool.release(connection)

        async with asyncio.TaskGroup() as group:
            for number in range(12):
                group.create_task(come(number))
            await settle(rounds=25)
            for _ in range(3):
                pool.event("dialled", 0)
        assert order == list(range(12))
        await pool.pool.aclose()

    run_virtual(scenario())
