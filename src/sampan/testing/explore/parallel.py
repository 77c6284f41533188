"""`run_all`: calls a function for each of many items, in this process or in several, with the results in order.

Concurrency: each worker is a fork of this process, so that the function may be a closure, as scenarios are. A worker
takes the number of an item from a pipe, and sends the result through another. The parent gives it the next number then,
so at most one item waits for each worker. Results that are early wait in a dictionary.
"""

import multiprocessing
import multiprocessing.connection
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.context import ForkContext, ForkProcess
from typing import Any, TypeVar

T = TypeVar("T")
R = TypeVar("R")


class WorkerDied(RuntimeError):
    """A worker ended without a result: the operator or the system has killed it."""


def run_all(function: Callable[[T], R], items: Sequence[T], jobs: int = 1) -> Iterator[R]:
    """Yield the result for each item, in the order of the items.

    Raises the error of a call, and `WorkerDied`. Workers end with the iterator.
    """
    if jobs <= 1 or len(items) <= 1 or not hasattr(os, "fork"):
        yield from map(function, items)
        return
    context = multiprocessing.get_context("fork")
    workers = dict(_worker(context, function, items) for _ in range(min(jobs, len(items))))
    try:
        yield from _in_order(workers, len(items))
    finally:
        for connection, process in workers.items():
            connection.close()
            process.terminate()
            process.join()


def _in_order(workers: dict[Connection, ForkProcess], count: int) -> Iterator[Any]:
    numbers = iter(range(count))
    early: dict[int, tuple[bool, Any]] = {}
    for connection in workers:
        connection.send(next(numbers))
    for number in range(count):
        while number not in early:
            for ready in multiprocessing.connection.wait(list(workers)):
                assert isinstance(ready, Connection)
                try:
                    done, *result = ready.recv()
                except (EOFError, ConnectionError):
                    raise WorkerDied(f"a process of the exploration died: pid {workers[ready].pid}") from None
                early[done] = (result[0], result[1])
                following = next(numbers, None)
                if following is not None:
                    ready.send(following)
        is_error, value = early.pop(number)
        if is_error:
            raise value
        yield value


def _worker(context: ForkContext, function: Callable[[T], R], items: Sequence[T]) -> tuple[Connection, ForkProcess]:
    ours, theirs = context.Pipe()
    process = context.Process(target=_work, args=(theirs, ours, function, items), daemon=True)
    process.start()
    theirs.close()
    return ours, process


def _work(connection: Connection, other_end: Connection, function: Callable[[T], R], items: Sequence[T]) -> None:
    other_end.close()
    with suppress(EOFError, ConnectionError, KeyboardInterrupt):  # the parent ends
        while True:
            number = connection.recv()
            try:
                result: tuple[int, bool, Any] = (number, False, function(items[number]))
            except Exception as error:
                result = (number, True, error)
            connection.send(result)
