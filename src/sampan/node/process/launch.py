"""`Launcher`: has programs run by way of launcher.py; the agent's half of its protocol, which is told there.

Guarantees: the program does not run before `recorded` has returned, and not at all when this process dies before.
A launch that fails or is cancelled leaves no process.
Concurrency: must be called in the thread of the loop that runs as long as containers are to run: when that thread
ends, the kernel ends them.
"""

import asyncio
import marshal
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sampan.node.process.process import Process
from sampan.node.process.stdio import Stdio
from sampan.node.sessions import Mount

_LAUNCHER: Final = str(Path(__file__).with_name("launcher.py"))
_TIMEOUT_S: Final = 60.0
_JOIN_ALL: Final = 0x20000 | 0x4000000 | 0x20000000
_JOIN_USERS: Final = 0x10000000


class LaunchError(Exception):
    """A program could not be started. The text is for the container's status."""


@dataclass(frozen=True, slots=True)
class View:
    """How a container in namespaces sees the machine."""

    image: str
    """Its root directory: what is written there goes to `scratch`."""
    scratch: str
    mounts: Sequence[Mount] = ()
    host_name: str = ""
    read_only_root: bool = False
    hidden: str = ""
    """A directory of the machine that the container sees empty: the agent's own."""


@dataclass(frozen=True, slots=True)
class Program:
    """What to run. The descriptors of its streams come with `Stdio`."""

    argv: Sequence[str]
    env: Mapping[str, str]
    cwd: str = ""
    ids: tuple[int, int] | None = None
    """User and group to become; None: those of the agent."""
    groups: Sequence[int] = ()
    """Supplementary groups, which root alone can give."""
    limits: Sequence[tuple[int, int, int]] = ()
    """Of setrlimit: kind, soft, hard."""
    tty: bool = False
    view: View | None = None
    """None: it sees the machine as the agent does."""
    inner_ids: tuple[int, int] | None = None
    """As whom an agent without privileges sees itself in a user namespace; None: there is no such namespace."""
    join: int = 0
    """The process whose namespaces to run in, with `inner_ids` as it was started."""


class Launcher:
    """The process that starts programs; it is started with the first, and again if it has died."""

    def __init__(self, mounts: str = "") -> None:
        """`mounts`: source name of the tmpfs mounts to unmount when this process ends, also if it is killed."""
        self._mounts = mounts
        self._control: socket.socket | None = None

    async def launch(self, program: Program, stdio: Stdio, recorded: Callable[[int], None]) -> Process:
        """Run it. `recorded` is told the process id before anything of the program runs. Raises `LaunchError`."""
        ours, theirs = socket.socketpair()
        with ours:
            ours.setblocking(False)
            with theirs:
                self._send([theirs.fileno(), *stdio.child])
            stdio.release()
            launching = _Launch(ours)
            try:
                async with asyncio.timeout(_TIMEOUT_S):
                    return await launching.run(program, recorded)
            except TimeoutError:
                raise LaunchError(f"the program had not started after {_TIMEOUT_S:.0f} s") from None
            finally:
                await launching.finish()

    def close(self) -> None:
        """No more programs are to be started; those that run are not touched."""
        if self._control is not None:
            self._control.close()
            self._control = None

    def _send(self, fds: list[int]) -> None:
        if self._control is None:
            self._control = _start(self._mounts)
        try:
            socket.send_fds(self._control, [b"L"], fds)
        except ConnectionError:
            self.close()
            self._control = _start(self._mounts)
            socket.send_fds(self._control, [b"L"], fds)


def _start(mounts: str) -> socket.socket:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    command = [sys.executable, "-I", "-S", "-B", _LAUNCHER, str(theirs.fileno()), mounts]
    try:
        with theirs:
            launcher = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                env={},
                cwd="/",
                start_new_session=True,
            )
    except OSError as error:
        ours.close()
        raise LaunchError(f"cannot start a process: {error}") from error
    Process(launcher.pid)
    launcher.returncode = 0  # It is waited for there: subprocess is to forget it.
    return ours


class _Launch:
    """One launch."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._starter: Process | None = None
        self._process: Process | None = None
        self._runs = False
        self._said = b""

    async def run(self, program: Program, recorded: Callable[[int], None]) -> Process:
        loop = asyncio.get_running_loop()
        spec = marshal.dumps(_spec(program))
        with suppress(ConnectionError):  # It has said why before it went.
            await loop.sock_sendall(self._channel, len(spec).to_bytes(8, "big") + spec)
        while self._process is None or b"R\n" not in self._said:
            await self._hear()
        recorded(self._process.pid)
        try:
            await loop.sock_sendall(self._channel, b"G")
            failure = await loop.sock_recv(self._channel, 1 << 16)
        except ConnectionError:
            raise LaunchError("the container ended before the program ran") from None
        if failure:
            raise LaunchError(failure.decode().removeprefix("E").strip())
        self._runs = True
        return self._process

    async def _hear(self) -> None:
        more = await self._read()
        for line in self._said.split(b"\n"):
            if line.startswith(b"E"):
                raise LaunchError(line[1:].decode())
        if not more:
            raise LaunchError("the launcher ended before the program ran")

    async def _read(self) -> bool:
        """Take in what is said next; False at the end."""
        data = await asyncio.get_running_loop().sock_recv(self._channel, 1 << 16)
        self._said += data
        said = self._said
        # Both are children of this process that nobody else waits for: their numbers are theirs until they are reaped.
        if self._starter is None and (pid := _pid_in(said, b"S")):
            self._starter = Process(pid)
        if self._process is None and self._starter is not None and (pid := _pid_in(said, b"P")):
            self._process = self._starter if pid == self._starter.pid else Process(pid)
        return bool(data)

    async def finish(self) -> None:
        """Nothing is left but a program that runs."""
        with suppress(OSError):
            if not self._runs:
                self._channel.shutdown(socket.SHUT_WR)  # Whoever still waits for a word goes.
            while self._process is None and await self._read():
                pass  # It comes at once: who is not known can be neither ended nor reaped.
        for process in (self._process, self._starter):
            if process is None or (self._runs and process is self._process):
                continue
            if not self._runs:
                process.kill_group()
            await process.wait()


def _pid_in(said: bytes, kind: bytes) -> int:
    return next((int(line[1:]) for line in said.split(b"\n")[:-1] if line.startswith(kind)), 0)


def _spec(program: Program) -> dict[str, Any]:
    view = program.view
    return {
        "argv": list(program.argv),
        "env": dict(program.env),
        "cwd": program.cwd,
        "ids": program.ids,
        "groups": list(program.groups),
        "limits": list(program.limits),
        "tty": program.tty,
        "namespaces": view is not None,
        "image": view.image if view else "",
        "scratch": view.scratch if view else "",
        "mounts": [(each.host_path, each.container_path, each.read_only) for each in view.mounts] if view else [],
        "host_name": view.host_name if view else "",
        "read_only_root": view is not None and view.read_only_root,
        "hidden": os.path.realpath(view.hidden) if view and view.hidden else "",
        "inner_ids": program.inner_ids,
        "join": program.join,
        "join_flags": _JOIN_ALL | (_JOIN_USERS if program.inner_ids else 0),
    }
