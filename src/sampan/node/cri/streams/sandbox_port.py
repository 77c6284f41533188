"""Connections to a port inside a Pod's network namespace.

Source: containerd internal/cri/server/sandbox_portforward_linux.go (2.1).
"""

import asyncio
import ctypes
import json
import os
import socket
import threading
from collections.abc import Mapping
from typing import Final

from sampan.node.sessions import Connection

_CLONE_NEWNET: Final = 0x40000000
_TIMEOUT_S: Final = 10.0
_libc = ctypes.CDLL(None, use_errno=True)


def network_namespace(info: Mapping[str, str]) -> str:
    """Return the path of a sandbox's network namespace from the verbose part of its status; empty if it has none."""
    try:
        known = json.loads(info.get("info", "{}"))
        for each in known["runtimeSpec"]["linux"]["namespaces"]:
            if each["type"] == "network" and each.get("path"):
                return str(each["path"])
        return f"/proc/{int(known['pid'])}/ns/net" if known.get("pid") else ""
    except (ValueError, KeyError, TypeError):
        return ""


async def connect_in(namespace: str, port: int) -> Connection:
    """Connect to a port of localhost in a network namespace.

    `namespace`: its path; empty for this process's namespace. Raises `OSError`.
    """
    made = await asyncio.wait_for(_in_thread(namespace, port), _TIMEOUT_S)
    try:
        return await asyncio.open_connection(sock=made)
    except BaseException:
        made.close()
        raise


async def _in_thread(namespace: str, port: int) -> socket.socket:
    """Connect in a new thread, because a thread that has entered a namespace must not do any other work."""
    loop = asyncio.get_running_loop()
    result: asyncio.Future[socket.socket] = loop.create_future()

    def settle(made: socket.socket | None, error: OSError | None) -> None:
        if result.done():
            if made is not None:
                made.close()
        elif made is not None:
            result.set_result(made)
        else:
            result.set_exception(error or OSError("no connection"))

    def work() -> None:
        made, fault = None, None
        try:
            _enter(namespace)
            made = _connected(port)
        except OSError as error:
            fault = error
        loop.call_soon_threadsafe(settle, made, fault)

    threading.Thread(target=work, name=f"port {port}", daemon=True).start()
    return await result


def _enter(namespace: str) -> None:
    if not namespace:
        return
    fd = os.open(namespace, os.O_RDONLY | os.O_CLOEXEC)
    try:
        if _libc.setns(fd, _CLONE_NEWNET) != 0:
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code), namespace)
    finally:
        os.close(fd)


def _connected(port: int) -> socket.socket:
    try:
        return socket.create_connection(("127.0.0.1", port), _TIMEOUT_S)
    except OSError as first:
        try:
            return socket.create_connection(("::1", port), _TIMEOUT_S)
        except OSError:
            raise first from None
