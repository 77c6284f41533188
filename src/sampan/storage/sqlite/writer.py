"""Writer thread: owns the one connection that writes, and runs jobs in order.

A job is a function of the connection. One call reports its end to the event loop. A thread releases CPython's
lock for each small statement. Then it waits for the busy event loop, up to the switch interval (5 ms). So a job should
be one statement, however many rows it has.
"""

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from queue import SimpleQueue
from typing import Any

Job = Callable[[sqlite3.Connection], Any]
Done = Callable[[Any, Exception | None], None]
Explain = Callable[[Exception, sqlite3.Connection], Exception]
Row = tuple[int, str, int, int, float, bytes | None]
"""Revision, key, create_revision, previous, expires_at, value (None: a delete)."""


class Writer:
    """Runs jobs on a thread. `submit` and `run` must be called on the event loop that created it."""

    def __init__(self, connection: sqlite3.Connection, explain: Explain) -> None:
        """`explain` translates an error of the connection for the callers. It runs on the writer thread."""
        self._explain = explain
        self._connection = connection
        self._loop = asyncio.get_running_loop()
        self._jobs: SimpleQueue[tuple[Job, Done] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="sampan-sqlite-writer", daemon=True)
        self._thread.start()

    def submit(self, job: Job, done: Done) -> None:
        """Queue a job. `done(result, error)` is called on the event loop."""
        self._jobs.put((job, done))

    async def run(self, job: Job) -> Any:
        """Queue a job and wait for its result. Raises the error of the job."""
        future: asyncio.Future[Any] = self._loop.create_future()

        def done(result: Any, error: Exception | None) -> None:
            if future.done():
                return
            if error is not None:
                future.set_exception(error)
            else:
                future.set_result(result)

        self.submit(job, done)
        return await future

    async def close(self) -> None:
        """Finish the queued jobs, close the connection and end the thread."""
        await self.run(sqlite3.Connection.close)
        self._jobs.put(None)
        self._thread.join()

    def _work(self) -> None:
        while (item := self._jobs.get()) is not None:
            job, done = item
            result, error = self._attempt(job)
            with suppress(RuntimeError):  # the loop may be closed: then no task waits
                self._loop.call_soon_threadsafe(done, result, error)

    def _attempt(self, job: Job) -> tuple[Any, Exception | None]:
        try:
            return job(self._connection), None
        except Exception as error:
            with suppress(sqlite3.Error):
                if self._connection.in_transaction:
                    self._connection.rollback()
            return None, self._explain(error, self._connection)


@cache
def _insert(rows: int) -> str:
    return "INSERT INTO log VALUES " + ",".join(["(?,?,?,?,?,?)"] * rows)


def commit(rows: list[Row]) -> Job:
    """Return a job that writes rows in one transaction. It is one statement, so it is never partly done."""
    parameters = [field for row in rows for field in row]

    def job(connection: sqlite3.Connection) -> None:
        connection.execute(_insert(len(rows)), parameters)

    return job
