"""Exec and attach sessions, independent of the client's protocol.

Concurrency: `run_command` owns a task for each stream. If a client does not read, the stream's task waits, and so does
the process. The session is closed in any case.
Source: cri-streaming pkg/streaming/remotecommand/{exec,attach,status}.go (1.36).
"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any, Final

from sampan.node.server.streams import ByteSource, CommandStreams, Sink
from sampan.node.sessions import ContainerSession, SessionFailed, Unsupported

_SIZE_BYTES_MAX: Final = 4096
_INTERNAL_ERROR: Final = "Internal error occurred: "
_SUCCESS: Final[dict[str, Any]] = {"metadata": {}, "status": "Success"}


OpenSession = Callable[[], Awaitable[ContainerSession]]
"""Opens a session. Raises `LookupError`, `Unsupported`, `OSError`."""


async def run_command(open_session: OpenSession, streams: CommandStreams, *, attached: bool) -> None:
    """Serve a session until its process has ended and all output is sent, then send the exit status.

    `attached`: the session belongs to a container's main process, whose exit code is not sent.
    """
    try:
        session = await open_session()
    except (LookupError, Unsupported, OSError) as error:
        what = "error attaching to container" if attached else "error executing command in container"
        await _send_status(streams, _internal_error(f"{what}: {_text(error)}"))
        return
    try:
        status = await _serve(session, streams)
    finally:
        await session.close()
    await _send_status(streams, _SUCCESS if attached else status)


async def _serve(session: ContainerSession, streams: CommandStreams) -> dict[str, Any]:
    """Serve all streams until the end, and return the status."""
    async with asyncio.TaskGroup() as inputs:
        feeding = [
            inputs.create_task(work)
            for work in (
                _feed(streams.stdin, session) if streams.stdin is not None else None,
                _resize(streams.resize, session) if streams.resize is not None else None,
            )
            if work is not None
        ]
        async with asyncio.TaskGroup() as outputs:
            if streams.stdout is not None:
                outputs.create_task(_send(session.read_stdout, streams.stdout), name="stdout")
            if streams.stderr is not None:
                outputs.create_task(_send(session.read_stderr, streams.stderr), name="stderr")
        status = await _end(session)
        for task in feeding:
            task.cancel()
    return status


async def _end(session: ContainerSession) -> dict[str, Any]:
    try:
        code = await session.wait()
    except SessionFailed as error:
        return _internal_error(str(error).removeprefix(_INTERNAL_ERROR))
    return _SUCCESS if code == 0 else _exit_status(code)


async def _feed(stdin: ByteSource, session: ContainerSession) -> None:
    while data := await stdin.read():
        await session.write_stdin(data)
    await session.close_stdin()


async def _send(read: Callable[[], Awaitable[bytes]], sink: Sink) -> None:
    """Copy output. If the client closes the stream, later output is dropped, and the process keeps running."""
    taken = True
    while data := await read():
        if taken:
            try:
                await sink.write(data)
            except OSError:
                taken = False
    await sink.close()


async def _resize(source: ByteSource, session: ContainerSession) -> None:
    """Read terminal sizes.

    A read may return part of an object, or several objects. Malformed data ends the task without an error.
    """
    decoder = json.JSONDecoder()
    text = ""
    while (data := await source.read()) and len(text) < _SIZE_BYTES_MAX:
        text = (text + data.decode("utf-8", "replace")).lstrip()
        while text:
            try:
                size, end = decoder.raw_decode(text)
            except ValueError:
                break
            text = text[end:].lstrip()
            if not _apply(size, session):
                return


def _apply(size: Any, session: ContainerSession) -> bool:
    if not isinstance(size, dict):
        return False
    columns, rows = size.get("Width"), size.get("Height")
    if not isinstance(columns, int) or not isinstance(rows, int):
        return False
    if 0 < columns < 1 << 16 and 0 < rows < 1 << 16:
        session.resize(columns, rows)
    return True


async def _send_status(streams: CommandStreams, status: dict[str, Any]) -> None:
    try:
        if streams.status_as_json:
            await streams.error.write(json.dumps(status, separators=(",", ":")).encode())
        elif status["status"] != "Success":
            await streams.error.write(status["message"].encode())
        await streams.error.close()
    except OSError:
        pass  # The client has closed the error stream.


def _exit_status(code: int) -> dict[str, Any]:
    return {
        "metadata": {},
        "status": "Failure",
        "message": f"command terminated with non-zero exit code: exit status {code}",
        "reason": "NonZeroExitCode",
        "details": {"causes": [{"reason": "ExitCode", "message": str(code)}]},
    }


def _internal_error(text: str) -> dict[str, Any]:
    message = f"{_INTERNAL_ERROR}{text}"
    return {"metadata": {}, "status": "Failure", "message": message, "reason": "InternalError", "code": 500}


def _text(error: Exception) -> str:
    """Return the text of an error. `str` of a `KeyError` would put quotes around it."""
    return str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
