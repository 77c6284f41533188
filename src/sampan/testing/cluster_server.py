"""`ClusterServer`: the server and the built-in loops of a `Cluster`. They start with the first request.

Concurrency: it owns the tasks of the server, of the journal and of the loops. A lazy loop starts with the first write
of an object that needs it.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any, Final

from sampan.client import Client
from sampan.core.event_loop.task_scope import TaskScope
from sampan.operator.manager import Manager, ManagerOptions
from sampan.testing.cluster_options import ClusterOptions, State, admission_of
from sampan.testing.control_loops.set_up import quiet_informers, set_up_loops
from sampan.testing.control_loops.sets import LOOPS, chosen_loops, loops_needed
from sampan.testing.journal import Journal, JournalEntry
from sampan.testing.operators.lost_errors import note_lost_errors
from sampan.testing.operators.running import Running
from sampan.testing.servers.cluster_transport import ClusterTransport
from sampan.testing.servers.logical_server import LogicalServer, ServerSettings, template
from sampan.testing.time.virtual_time import VirtualTimeLoop, virtualized

_ENDED: Final = "the cluster has ended, with the test function or with its last asynchronous fixture"


class ClusterServer:
    """Server and built-in loops, from the first request to the end of the cluster."""

    def __init__(
        self,
        options: ClusterOptions,
        state: State | None,
        client: Callable[[str], Client],
        operators: Sequence[Running],
    ) -> None:
        """`state` is the first state; None: a new cluster. `client` returns the client of a loop by its name.

        `operators`: those that run. An error that asyncio reports is theirs.
        """
        self.journal = Journal()
        """All writes to the store."""
        self.running: LogicalServer | None = None
        """The server, while it runs."""
        self._options = options
        self._state = state
        self._client = client
        self._operators = operators
        self._loops = chosen_loops(options.loops)
        self._admission = admission_of(options.admission, self._loops)
        self._starting: asyncio.Lock | None = None
        self._tasks = TaskScope()
        self._background: list[asyncio.Task[None]] = []
        self._started_lazily: set[str] = set()
        self._exit = ExitStack()
        self._ended = False

    async def started(self) -> LogicalServer:
        """Return the running server; start it on the first call. Raises `RuntimeError` after the end."""
        if self.running is None:
            if self._ended:
                raise RuntimeError(_ENDED)
            self._starting = self._starting or asyncio.Lock()
            async with self._starting:
                if self.running is None:
                    self.running = await self._start()
        return self.running

    def end(self) -> None:
        """Refuse further starts."""
        self._ended = True

    def close(self) -> None:
        """Give the event loop its own clock back, after the end."""
        self._exit.close()

    def restore(self, state: State) -> None:
        """Begin the next start with a state and its time. The server does not run."""
        self.journal = Journal()
        self._state, self._started_lazily = state, set()
        loop = asyncio.get_running_loop()
        if isinstance(loop, VirtualTimeLoop):
            loop.set_unix_time(state.at_s)

    def check(self) -> None:
        """Raise the error of the server or of a built-in loop that has failed."""
        if self.running is not None:
            self.running.check()
        for task in self._background:
            if task.done() and not task.cancelled() and (error := task.exception()) is not None:
                raise error

    def hint(self, resource: str) -> str:
        """Return a line about the loop that a resource needs and that does not run, or an empty text."""
        return self._loops.hint(resource)

    async def _start(self) -> LogicalServer:
        loop = asyncio.get_running_loop()
        if self._options.virtual:
            self._exit.enter_context(virtualized(loop, self._options.start))
        made = template(virtual=self._options.virtual)
        store = (made.store if self._state is None else self._state.store).fork()
        settings = ServerSettings(self._admission, authorizers=self._options.authorizers())
        server = LogicalServer(store, made.parts, settings)
        await server.start()
        self._exit.enter_context(note_lost_errors(self._operators))
        self._spawn(self.journal.run(store), "journal")
        if self._loops.lazy:
            self.journal.listen(self._start_lazily)
        self.running = server
        if self._state is not None:
            # The objects may need the lazy loops already.
            self._start_loops(*self._loops.lazy)
        if self._loops.eager:
            self._run_loops(LOOPS, self._loops.eager)
        return server

    async def stop(self, transports: Sequence[ClusterTransport]) -> None:
        """Stop the loops, the connections of the transports, and the server."""
        await self._tasks.aclose()
        self._background.clear()
        server, self.running = self.running, None
        for transport in transports:
            await transport.reset()
        if server is not None:
            await server.stop()

    def _spawn(self, work: Any, name: str) -> None:
        self._background.append(self._tasks.begin(work, name))

    def _start_lazily(self, write: JournalEntry) -> None:
        self._start_loops(*loops_needed(write.key, write.event.value or b""))

    def _start_loops(self, *names: str) -> None:
        for name in names:
            if name in self._loops.lazy and name not in self._started_lazily:
                self._started_lazily.add(name)
                self._run_loops(name, (name,))

    def _run_loops(self, actor: str, names: tuple[str, ...]) -> None:
        options = ManagerOptions(graceful_shutdown_timeout_s=0.0, informer_settings=quiet_informers(), pausable=False)
        manager = Manager(self._client(actor), options)
        set_up_loops(manager, names, self._options.nodes)
        if actor == LOOPS and self.running is not None:
            self.running.api.controllers.source = partial(_report_of, manager)
        self._spawn(manager.run(), actor)


async def _report_of(manager: Manager, query: str, etag: str) -> tuple[int, bytes, str]:
    """Return a report for /debug/controllers."""
    found = manager.reports.report(query, etag)
    return found.code, found.body, found.tag
