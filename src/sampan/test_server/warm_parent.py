"""`WarmParent`: forks a process for each server that a client orders.

Concurrency: one thread and no event loop, because a process with threads cannot fork safely. `run` waits for
connections, for templates, and for ends of processes. It returns after `idle_s` without servers.
"""

import gc
import math
import os
import selectors
import shutil
import signal
import socket
import struct
import sys
import tempfile
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from sampan.core.clock import monotonic
from sampan.test_server.link import Link
from sampan.test_server.loops import import_loops
from sampan.test_server.place import SERVERS, SOCKET
from sampan.test_server.protocol import Order, receive_order
from sampan.test_server.server_process import Inherited, PreparedCluster, is_persistent, serve
from sampan.test_server.spare import Spare, made_cluster, wait_for_order, warm_up
from sampan.test_server.template import decode_template
from sampan.test_server.template_process import make_template, template_credentials

IDLE_S: Final = 300.0
BACKLOG: Final = 128
ORDER_TIMEOUT_S: Final = 5.0
"""Time in which a client must send its order. Other clients wait meanwhile."""
SERVERS_MAX: Final = 500
SPARE_DELAY_S: Final = 0.15
"""Time from an order until the next spare is made, so that the start of the server has the processor."""
_TICK_S: Final = 1.0
_DESCRIPTORS_MAX: Final = 4096


class WarmParent:
    """Serves orders at the socket in `directory`. `is_current` reports if the imported code is still that on disk."""

    def __init__(self, directory: Path, inherited: Inherited, is_current: Callable[[], bool], idle_s: float) -> None:
        self._directory, self._inherited = directory, inherited
        self._is_current, self._idle_s = is_current, idle_s
        self._children: dict[int, Path] = {}
        """Data directories of servers, by process id."""
        self._templates: dict[int, tuple[tuple[str, ...], bytearray]] = {}
        """Ranges and received bytes, by the pipe of the process that makes the template."""
        self._desired: set[tuple[str, ...]] = set()
        self._used = monotonic()
        self._selector = selectors.DefaultSelector()
        self._spare: Spare | None = None
        self._ranges: tuple[str, ...] = ()
        """Ranges of Services of the last order."""
        self._spare_at = math.inf
        """Time at which the next spare is made: when the last server has started."""

    def run(self) -> None:
        """Serve until idle, or until the code on disk has changed."""
        servers = self._directory / SERVERS
        shutil.rmtree(servers, ignore_errors=True)  # of a parent that was killed
        servers.mkdir(mode=0o700)
        # A child's end must interrupt `select` at once.
        waker, woken = os.pipe()
        for end in (waker, woken):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(woken)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        listener = self._listen()
        try:
            self._selector.register(listener, selectors.EVENT_READ)
            self._selector.register(waker, selectors.EVENT_READ)
            gc.freeze()
            while self._has_servers() or monotonic() - self._used < self._idle_s:
                for key, _ in self._selector.select(max(0.0, min(_TICK_S, self._spare_at - monotonic()))):
                    if key.fileobj is listener:
                        if not self._accept(listener):
                            return
                    elif key.fd == waker:
                        os.read(waker, 4096)
                    else:
                        self._read_template(key.fd)
                self._reap()
                if monotonic() >= self._spare_at:
                    self._fork_spare()
        finally:
            self._remove_socket()
            listener.close()
            self._end_spare()
            shutil.rmtree(servers, ignore_errors=True)

    def _remove_socket(self) -> None:
        with suppress(OSError):
            (self._directory / SOCKET).unlink()

    def _has_servers(self) -> bool:
        return len(self._children) > (self._spare is not None)

    def _listen(self) -> socket.socket:
        path = self._directory / SOCKET
        path.unlink(missing_ok=True)
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(str(path))
        path.chmod(0o600)
        listener.listen(BACKLOG)
        return listener

    def _accept(self, listener: socket.socket) -> bool:
        """Serve one order. Return False if this parent is out of date: the client then starts another one."""
        connection, _ = listener.accept()
        with connection:
            if not _is_own_user(connection):
                return True
            if not self._is_current():
                self._remove_socket()  # before the client notices: its successor must not find this parent
                return False
            connection.settimeout(ORDER_TIMEOUT_S)
            try:
                order, descriptors = receive_order(connection)
            except (OSError, ValueError):
                return True
            connection.settimeout(None)
            self._used = monotonic()
            self._ranges = _ranges(order)
            self._start(order, connection, descriptors)
            for descriptor in descriptors:
                os.close(descriptor)
            return True

    def _start(self, order: Order, connection: socket.socket, descriptors: list[int]) -> None:
        """Start a server: in the spare process, or in a new one."""
        spare, self._spare = self._spare, None
        self._spare_at = monotonic() + SPARE_DELAY_S if self._ranges in self._inherited.templates else math.inf
        handed_over = spare is not None and spare.hand_over(order, connection, descriptors)
        if not handed_over and len(self._children) < SERVERS_MAX:
            self._fork(order, connection, descriptors)
        self._prepare_template(order)

    def _fork_spare(self) -> None:
        """Make a process for the next order. The spare process of an idle parent ends with the parent."""
        self._spare_at = math.inf
        self._end_spare()
        ours, theirs = socket.socketpair()
        data = Path(tempfile.mkdtemp(dir=self._directory / SERVERS))
        pid = os.fork()
        if pid:
            theirs.close()
            self._children[pid] = data
            self._spare = Spare(pid, data, ours, self._ranges)
            return
        code = 1
        try:
            _default_signals()
            _close_all_but(theirs.fileno())
            code = self._serve_as_spare(theirs, data)
        except BaseException:
            traceback.print_exc()
        finally:
            _exit(code)

    def _serve_as_spare(self, channel: socket.socket, data: Path) -> int:
        inherited, ranges = self._inherited, self._ranges
        warm_up(inherited.schemas)
        prepared = PreparedCluster(ranges, made_cluster(inherited.templates.get(ranges), inherited.schemas, ranges))
        wait_for_order(channel)
        order, (*descriptors, number) = receive_order(channel, 3)
        connection = socket.socket(fileno=number)
        _become_server(descriptors, number)
        Link(connection).send("started")
        return serve(order, connection, data, inherited, prepared)

    def _end_spare(self) -> None:
        if self._spare is not None:
            self._spare.end()
            self._spare = None

    def _fork(self, order: Order, connection: socket.socket, descriptors: list[int]) -> None:
        data = Path(tempfile.mkdtemp(dir=self._directory / SERVERS))
        pid = os.fork()
        if pid:
            self._children[pid] = data
            return
        code = 1
        try:
            _become_server(descriptors, connection.fileno())
            Link(connection).send("started")
            code = serve(order, connection, data, self._inherited, PreparedCluster())
        except BaseException:
            traceback.print_exc()
        finally:
            _exit(code)

    def _prepare_template(self, order: Order) -> None:
        """Start a process that makes the template for the next server like this one, unless there is one."""
        ranges = _ranges(order)
        if ranges in self._desired or is_persistent(order):
            return
        self._desired.add(ranges)
        reader, writer = os.pipe()
        data = Path(tempfile.mkdtemp(dir=self._directory / SERVERS))
        pid = os.fork()
        if pid:
            os.close(writer)
            self._children[pid] = data
            self._templates[reader] = (ranges, bytearray())
            self._selector.register(reader, selectors.EVENT_READ)
            return
        code = 1
        try:
            _default_signals()
            _close_all_but(writer)
            os.nice(5)
            make_template(ranges, data, self._inherited, writer)
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            _exit(code)

    def _read_template(self, descriptor: int) -> None:
        ranges, received = self._templates[descriptor]
        data = os.read(descriptor, 1 << 20)
        if data:
            received += data
            return
        self._selector.unregister(descriptor)
        os.close(descriptor)
        del self._templates[descriptor]
        if received:  # a process that failed has sent nothing, and has logged why
            self._inherited.templates[ranges] = decode_template(bytes(received))
            found = self._inherited.credentials or template_credentials(self._inherited.template_data)
            self._inherited = replace(self._inherited, credentials=found)
            import_loops()  # now, because the first server must not wait for it
            self._spare_at = monotonic()
            gc.freeze()

    def _reap(self) -> None:
        while self._children:
            pid, _ = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            data = self._children.pop(pid, None)
            if self._spare is not None and self._spare.pid == pid:
                self._end_spare()
            if data is not None:
                shutil.rmtree(data, ignore_errors=True)
            self._used = monotonic()


def _ranges(order: Order) -> tuple[str, ...]:
    """Return the ranges of Services in the arguments, without the cost of reading them all."""
    prefix = "--service-cluster-ip-range="
    found = [argument.removeprefix(prefix) for argument in order.arguments if argument.startswith(prefix)]
    return tuple(found[-1].split(",")) if found else ()


def _is_own_user(connection: socket.socket) -> bool:
    """Return True if the client is this user.

    On systems other than Linux, only the permissions of the directory protect the socket.
    """
    if not hasattr(socket, "SO_PEERCRED"):
        return True
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return bool(struct.unpack("3i", credentials)[1] == os.getuid())


def _become_server(descriptors: list[int], connection: int) -> None:
    os.setsid()
    _default_signals()
    for number, descriptor in enumerate(descriptors, 1):
        os.dup2(descriptor, number)
    _close_all_but(connection)


def _close_all_but(descriptor: int) -> None:
    """Close the parent's open files, in particular its lock, which would prevent the start of a later parent."""
    os.closerange(3, descriptor)
    os.closerange(descriptor + 1, _DESCRIPTORS_MAX)


def _default_signals() -> None:
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)


def _exit(code: int) -> None:
    """End a forked process without the handlers of the parent."""
    with suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)
