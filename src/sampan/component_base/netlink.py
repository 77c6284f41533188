"""Events of the kernel's network, over netlink: links, addresses, routes, and the rules of nftables.

An event means only that something has changed; the receiver compares the kernel's state with the desired one. The
kernel drops events that a full socket cannot take, and sends none for IPv4 routes that vanish with their link. So the
receiver also compares periodically.
Source: include/uapi/linux/{netlink.h,rtnetlink.h,netfilter/nf_tables.h}, net/netfilter/nf_tables_api.c.
"""

import asyncio
import errno
import socket
import struct
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

_NETFILTER: Final = 12
_ROUTE_GROUPS: Final = 0x1 | 0x10 | 0x40 | 0x100 | 0x400
"""Links, and addresses and routes of both families."""
_RULE_GROUP: Final = 1 << 6
_NEW_LINK, _DEL_LINK, _DEL_ADDRESS, _DEL_ROUTE = 16, 17, 21, 25
_LINK_NAME, _NAME = 3, 1
_LINK_SCOPE: Final = 253
_RULES: Final = 10
"""Subsystem of nftables."""
_NEW_GENERATION, _GET_GENERATION = 15, 16
_REQUEST: Final = 1
_BUFFER_BYTES: Final = 1 << 16
_RECEIVE_BUFFER_BYTES: Final = 1 << 20
_RULE_BUFFER_BYTES: Final = 1 << 25
"""For the events of one transaction with 100,000 elements. Only waiting events take memory."""
_SO_RCVBUFFORCE: Final = 33
_TIMEOUT_S: Final = 5.0


@dataclass(slots=True)
class RuleChange:
    """One transaction of nftables, or several if the kernel dropped events of them."""

    generation: int = 0
    """Number of the ruleset after the transaction; 0 if it is unknown."""
    tables: set[str] = field(default_factory=set)
    """Names of the changed tables."""
    is_complete: bool = True
    """False if the kernel dropped events, so that other tables may have changed."""


def open_route_events() -> socket.socket:
    """Return a socket of the thread's network namespace that receives changes of links, addresses and routes."""
    return _opened(socket.NETLINK_ROUTE, _ROUTE_GROUPS)


def open_rule_events() -> socket.socket:
    """Return a socket of the thread's network namespace that receives changes of nftables. Raises `OSError`."""
    found = _opened(_NETFILTER, _RULE_GROUP)
    with suppress(OSError):  # Needs the capability CAP_NET_ADMIN, as changes of rules do.
        found.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, _RULE_BUFFER_BYTES)
    return found


def _opened(protocol: int, groups: int) -> socket.socket:
    found = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, protocol)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _RECEIVE_BUFFER_BYTES)
        found.bind((0, groups))
        found.setblocking(False)
    except OSError:
        found.close()
        raise
    return found


def rule_generation() -> int:
    """Return the number of the current ruleset, which each transaction increases. Raises `OSError`."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, _NETFILTER) as netlink:
        netlink.settimeout(_TIMEOUT_S)
        netlink.send(struct.pack("=IHHIIBBH", 20, _RULES << 8 | _GET_GENERATION, _REQUEST, 1, 0, 0, 0, 0))
        for kind, body in _messages(netlink.recv(_BUFFER_BYTES)):
            if kind == _RULES << 8 | _NEW_GENERATION:
                return _generation(body)
    raise OSError(errno.EPROTO, "the kernel does not report the generation of its rules")


async def receive(events: socket.socket, take: Callable[[bytes | None], None]) -> None:
    """Pass received messages to `take` until cancelled. None stands for messages that the kernel dropped."""
    loop = asyncio.get_running_loop()
    while True:
        try:
            take(await loop.sock_recv(events, _BUFFER_BYTES))
        except OSError as error:
            if error.errno != errno.ENOBUFS:
                raise
            take(None)


def affects_routes(data: bytes | None, protocol: int) -> bool:
    """Return True if messages may mean that routes with a protocol number, or their links, are gone.

    Links of single Pods (`veth…`) do not count.
    """
    if data is None:
        return True
    return any(_affects_routes(kind, body, protocol) for kind, body in _messages(data))


def _affects_routes(kind: int, body: bytes, protocol: int) -> bool:
    if kind in (_NEW_LINK, _DEL_LINK):
        return not dict(_attributes(body[16:])).get(_LINK_NAME, b"").startswith(b"veth")
    if kind == _DEL_ADDRESS:
        return len(body) > 3 and body[3] != _LINK_SCOPE
    return kind == _DEL_ROUTE and len(body) > 5 and body[5] == protocol


class RuleChanges:
    """Collects the messages of transactions."""

    def __init__(self) -> None:
        self._current = RuleChange()

    def take(self, data: bytes | None) -> list[RuleChange]:
        """Return the transactions that messages complete."""
        if data is None:
            self._current.is_complete = False
            change, self._current = self._current, RuleChange()
            return [change]
        found = []
        for kind, body in _messages(data):
            if kind >> 8 != _RULES:
                continue
            if kind & 0xFF == _NEW_GENERATION:
                self._current.generation = _generation(body)
                found.append(self._current)
                self._current = RuleChange()
            else:
                self._current.tables.add(_text(dict(_attributes(body[4:])).get(_NAME, b"")))
        return found


def _generation(body: bytes) -> int:
    with suppress(struct.error, KeyError):
        return int(struct.unpack(">I", dict(_attributes(body[4:]))[_NAME])[0])
    return 0


def _text(value: bytes) -> str:
    return value.rstrip(b"\0").decode(errors="replace")


def _messages(data: bytes) -> Iterator[tuple[int, bytes]]:
    while len(data) >= 16:
        length, kind = struct.unpack_from("=IH", data)
        if length < 16:
            return
        yield kind, data[16:length]
        data = data[_aligned(length) :]


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    while len(data) >= 4:
        length, kind = struct.unpack_from("=HH", data)
        if length < 4:
            return
        # The two highest bits mark nested attributes and the byte order.
        yield kind & 0x3FFF, data[4:length]
        data = data[_aligned(length) :]


def _aligned(length: int) -> int:
    # Netlink aligns messages and attributes to four bytes.
    return (length + 3) & ~3
