"""`Launcher`: starts programs through `launcher.py`, which documents the protocol between the two.

Guarantees: the program does not run before `recorded` has returned, and never if this process dies before that.
A launch that fails or is cancelled leaves no process.
Concurrency: call it in the thread of the loop that runs as long as the containers: when that thread ends, the kernel
kills them.
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
from sampan.node.process.streams.stdio import Stdio
from sampan.node.sessions import Mount

_LAUNCHER: Final = str(Path(__file__).with_name("launcher.py"))
_TIMEOUT_S: Final = 60.0
_JOIN_ALL: Final = 0x20000 | 0x4000000 | 0x20000000
_JOIN_USERS: Final = 0x10000000


class LaunchError(Exception):
    """A program could not be started. The text is for the container's status."""


@dataclass(frozen=True, slots=True)
class View:
    """File system of a container in namespaces."""

    image: str
    """Root directory. Writes to it are stored in `scratch`."""
    scratch: str
    mounts: Sequence[Mount] = ()
    host_name: str = ""
    read_only_root: bool = False
    hidden: str = ""
    """Directory of the machine that appears empty in the container: the agent's directory."""


@dataclass(frozen=True, slots=True)
class LaunchSpec:
    """Program to run. `Stdio` contains the descriptors of its streams."""

    argv: Sequence[str]
    env: Mapping[str, str]
    cwd: str = ""
    ids: tuple[int, int] | None = None
    """User and group of the program; None for those of the agent."""
    groups: Sequence[int] = ()
    """Supplementary groups, which only root can set."""
    limits: Sequence[tuple[int, int, int]] = ()
    """Arguments of setrlimit: kind, soft, hard."""
    tty: bool = False
    view: View | None = None
    """None: the program sees the machine's file system."""
    inner_ids: tuple[int, int] | None = None
    """User and group in a user namespace, for an agent without privileges; None for no such namespace."""
    join: int = 0
    """Process whose namespaces to join, with the `inner_ids` that it was started with."""


class Launcher:
    """Process that starts programs. It is started with the first program, and again if it has died."""

    def __init__(self, mounts: str = "") -> None:
        """`mounts`: source name of tmpfs mounts. They are unmounted when this process ends, even if it is killed."""
        self._mounts = mounts
        self._control: socket.socket | None = None

    async def launch(self, program: LaunchSpec, stdio: Stdio, recorded: Callable[[int], None]) -> Process:
        """Start a program. `recorded` is called with its process id before the program runs. Raises `LaunchError`."""
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
                raise LaunchError(f"the program did not start within {_TIMEOUT_S:.0f} s") from None
            finally:
                await launching.finish()

    def close(self) -> None:
        """Refuse to start more programs. Running programs are not affected."""
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
    launcher.returncode = 0  # launcher.py's process is reaped elsewhere; a return code makes subprocess forget it.
    return ours


class _Launch:
    """State of one launch."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._starter: Process | None = None
        self._process: Process | None = None
        self._runs = False
        self._received = b""

    async def run(self, program: LaunchSpec, recorded: Callable[[int], None]) -> Process:
        loop = asyncio.get_running_loop()
        spec = marshal.dumps(_spec(program))
        with suppress(ConnectionError):  # The launcher has sent the error before it closed the channel.
            await loop.sock_sendall(self._channel, len(spec).to_bytes(8, "big") + spec)
        while self._process is None or b"R\n" not in self._received:
            await self._read_messages()
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

    async def _read_messages(self) -> None:
        more = await self._read()
        for line in self._received.split(b"\n"):
            if line.startswith(b"E"):
                raise LaunchError(line[1:].decode())
        if not more:
            raise LaunchError("the launcher ended before the program ran")

    async def _read(self) -> bool:
        """Read the next message. Returns False at the end of the channel."""
        data = await asyncio.get_running_loop().sock_recv(self._channel, 1 << 16)
        self._received += data
        received = self._received
        # Both are unreaped children of this process, so the kernel cannot have reused their numbers.
        if self._starter is None and (pid := _pid_in(received, b"S")):
            self._starter = Process(pid)
        if self._process is None and self._starter is not None and (pid := _pid_in(received, b"P")):
            self._process = self._starter if pid == self._starter.pid else Process(pid)
        return bool(data)

    async def finish(self) -> None:
        """Release everything except a program that runs."""
        with suppress(OSError):
            if not self._runs:
                self._channel.shutdown(socket.SHUT_WR)  # A launcher that still waits for a command ends now.
            while self._process is None and await self._read():
                pass  # The pid arrives at once. Without it, the process could neither be killed nor reaped.
        for process in (self._process, self._starter):
            if process is None or (self._runs and process is self._process):
                continue
            if not self._runs:
                process.kill_group()
            await process.wait()


def _pid_in(received: bytes, kind: bytes) -> int:
    return next((int(line[1:]) for line in received.split(b"\n")[:-1] if line.startswith(kind)), 0)


def _spec(program: LaunchSpec) -> dict[str, Any]:
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
        "mounts": [_mount(each) for each in view.mounts] if view else [],
        "host_name": view.host_name if view else "",
        "read_only_root": view is not None and view.read_only_root,
        "hidden": os.path.realpath(view.hidden) if view and view.hidden else "",
        "inner_ids": program.inner_ids,
        "join": program.join,
        "join_flags": _JOIN_ALL | (_JOIN_USERS if program.inner_ids else 0),
    }


def _mount(mount: Mount) -> tuple[str, str, bool, tuple[int, int] | None]:
    return mount.host_path, mount.container_path, mount.read_only, mount.identity
