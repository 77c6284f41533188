"""`note_lost_errors`: errors of tasks and callbacks that no code has read, which the event loop only logs."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from sampan.testing.operators.running import Running

_SAMPAN: Final = str(Path(__file__).parents[2])
_ASYNCIO: Final = str(Path(asyncio.__file__).parent)


@contextmanager
def note_lost_errors(operators: Sequence[Running]) -> Iterator[None]:
    """Note each lost error during the block as a failure of the first operator. It is logged as usual."""
    loop = asyncio.get_running_loop()
    before = loop.get_exception_handler()

    def handle(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if operators and isinstance(error, Exception) and _is_of_user(error.__traceback__):
            task = context.get("future") or context.get("task")
            named = isinstance(task, asyncio.Task)
            place = f"task {task.get_coro().__qualname__}" if named else "callback"  # type: ignore[union-attr]
            operators[0].failures.caught(place, error)
        if before is None:
            loop.default_exception_handler(context)
        else:
            before(loop, context)

    loop.set_exception_handler(handle)
    try:
        yield
    finally:
        if loop.get_exception_handler() is handle:
            loop.set_exception_handler(before)


def _is_of_user(trace: TracebackType | None) -> bool:
    """Return True if the outermost code, without that of asyncio, is the user's."""
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if not file.startswith(_ASYNCIO):
            return not file.startswith(_SAMPAN)
        trace = trace.tb_next
    return False
