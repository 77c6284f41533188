"""`run_in_container`: runs a command in a container until it ends, for probes and hooks."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Protocol, runtime_checkable

from sampan.node.runtime import Runtime
from sampan.node.sessions import Streams
from sampan.node.views.pod import Pod

OUTPUT_BYTES_MAX: Final = 10 * 1024
"""Output beyond this size is read and dropped."""


@runtime_checkable
class RunsCommands(Protocol):
    """Runtime that runs a command to its end in one call."""

    async def run_command(self, pod: Pod, container: str, command: Sequence[str]) -> tuple[int, bytes]:
        """Return the exit code and the output. Cancellation kills the command. Raises `LookupError`, `OSError`."""
        ...


async def run_in_container(runtime: Runtime, pod: Pod, container: str, command: Sequence[str]) -> tuple[int, str]:
    """Return the exit code and the output of a command. Cancellation kills the command.

    Raises `LookupError`, `Unsupported`, `OSError`.
    """
    if isinstance(runtime, RunsCommands):
        code, text = await runtime.run_command(pod, container, command)
        return code, text[:OUTPUT_BYTES_MAX].decode(errors="replace")
    session = await runtime.exec(pod, container, command, Streams())
    output = bytearray()
    try:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(_collect(session.read_stdout, output))
            tasks.create_task(_collect(session.read_stderr, output))
        code = await session.wait()
    finally:
        await session.close()
    return code, output.decode(errors="replace")


async def _collect(read: Callable[[], Awaitable[bytes]], output: bytearray) -> None:
    while data := await read():
        output += data[: OUTPUT_BYTES_MAX - len(output)]
