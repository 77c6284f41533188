"""`run_in_container`: a command in a running container, to its end: for probes and hooks."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from sampan.node.runtime import Runtime
from sampan.node.sessions import Streams
from sampan.node.views import Pod

OUTPUT_BYTES_MAX: Final = 10 * 1024
"""What is kept of the output; the rest is read and dropped."""


async def run_in_container(runtime: Runtime, pod: Pod, container: str, command: Sequence[str]) -> tuple[int, str]:
    """The exit code and what the command wrote. Cancelled, it ends the command.

    Raises `LookupError`, `Unsupported`, `OSError`.
    """
    session = await runtime.exec(pod, container, command, Streams())
    kept = bytearray()
    try:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(_keep(session.read_stdout, kept))
            tasks.create_task(_keep(session.read_stderr, kept))
        code = await session.wait()
    finally:
        await session.close()
    return code, kept.decode(errors="replace")


async def _keep(read: Callable[[], Awaitable[bytes]], kept: bytearray) -> None:
    while data := await read():
        kept += data[: OUTPUT_BYTES_MAX - len(kept)]
