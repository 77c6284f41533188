"""`UnreadBytes`: the bytes of responses that wait because their clients do not read, and the limits for them.

    with unread.waiting(connection, account, (body,), transport.get_write_buffer_size()):
        await the_client_reads()

A connection or stream is entered only while its client does not read, so a response that is sent at once costs nothing
here. A body that several responses share, such as a cached list, counts once.

Policy at a limit: the response that has waited longest is cut, of the connection or user that exceeds its limit. At the
limit of the server it is one of the user with the most bytes. The only response of a connection or user is not cut, so
a body of any size can be read.

Concurrency: used on the server's loop only.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, Protocol

import msgspec

from sampan.core.settings import setting
from sampan.core.settings.kinds import integer
from sampan.server.request import Request

OVERHEAD_BYTES: Final = 8 << 10
"""Estimated size of a waiting request without its body: its task, its frames and its headers."""
LIMITS: Final = ("connection", "user", "server")


@dataclass(frozen=True, slots=True)
class UnreadLimits:
    """Maximum numbers of bytes that wait for clients, in units of 1,048,576."""

    megabytes: int = setting(
        64,
        "Bytes of all responses that may wait because clients do not read; above it, waiting responses are cut.",
        kind=integer(1, metavar="MB"),
    )
    megabytes_per_user: int = setting(
        32, "Limit of waiting bytes for the responses of one user.", kind=integer(1, metavar="MB")
    )
    megabytes_per_connection: int = setting(
        24, "Limit of waiting bytes for the responses of one connection.", kind=integer(1, metavar="MB")
    )


class StalledConnection(Protocol):
    """Connection or stream whose client does not read."""

    def cut(self) -> None:
        """Abort the response, and release its body."""


class Waiting(msgspec.Struct, eq=False):
    """One response that waits."""

    receiver: StalledConnection
    accounts: "tuple[_Account, ...]"
    bodies: tuple[bytes, ...]
    own_bytes: int


class _Account:
    """Waiting responses of one connection, of one user or of the server."""

    __slots__ = ("_bodies", "bytes", "key", "waiting")

    def __init__(self, key: object) -> None:
        self.key = key
        self.bytes = 0
        self.waiting: dict[Waiting, None] = {}
        """In order of time."""
        self._bodies: dict[int, int] = {}
        """Number of responses that wait with a body, by the identity of the body."""

    def add(self, waiting: Waiting) -> None:
        self.waiting[waiting] = None
        self.bytes += waiting.own_bytes
        for body in waiting.bodies:
            count = self._bodies.get(id(body), 0)
            self._bodies[id(body)] = count + 1
            if not count:
                self.bytes += len(body)

    def remove(self, waiting: Waiting) -> None:
        del self.waiting[waiting]
        self.bytes -= waiting.own_bytes
        for body in waiting.bodies:
            count = self._bodies.pop(id(body)) - 1
            if count:
                self._bodies[id(body)] = count
            else:
                self.bytes -= len(body)


class UnreadBytes:
    """Waiting responses of one server."""

    def __init__(self, limits: UnreadLimits | None = None) -> None:
        self.limits = limits or UnreadLimits()
        self._server = _Account("server")
        self._connections: dict[object, _Account] = {}
        self._users: dict[str, _Account] = {}
        self.cuts = dict.fromkeys(LIMITS, 0)
        """Number of responses that were cut, by the limit that was exceeded."""

    @property
    def total_bytes(self) -> int:
        """Number of bytes that wait."""
        return self._server.bytes

    @property
    def responses(self) -> int:
        """Number of responses that wait."""
        return len(self._server.waiting)

    @contextmanager
    def waiting(
        self, receiver: StalledConnection, connection: object, user: str, bodies: tuple[bytes, ...], own_bytes: int
    ) -> Iterator[None]:
        """Count a response while the block runs. `own_bytes`: those in buffers of the connection."""
        entry = self._enter(receiver, connection, user, bodies, own_bytes)
        try:
            yield
        finally:
            self._leave(entry)

    def _enter(
        self, receiver: StalledConnection, connection: object, user: str, bodies: tuple[bytes, ...], own_bytes: int
    ) -> Waiting:
        of_connection = self._connections.get(connection)
        if of_connection is None:
            of_connection = self._connections[connection] = _Account(connection)
        of_user = self._users.get(user)
        if of_user is None:
            of_user = self._users[user] = _Account(user)
        accounts = (of_connection, of_user, self._server)
        entry = Waiting(receiver, accounts, bodies, own_bytes + OVERHEAD_BYTES)
        for account in accounts:
            account.add(entry)
        limits = self.limits
        self._cut_oldest(of_connection, limits.megabytes_per_connection << 20, "connection")
        self._cut_oldest(of_user, limits.megabytes_per_user << 20, "user")
        while self._server.bytes > limits.megabytes << 20 and len(self._server.waiting) > 1:
            heaviest = max(self._users.values(), key=lambda account: account.bytes)
            self._cut(next(iter(heaviest.waiting)), "server")
        return entry

    def _cut_oldest(self, account: _Account, bytes_max: int, limit: str) -> None:
        while account.bytes > bytes_max and len(account.waiting) > 1:
            self._cut(next(iter(account.waiting)), limit)

    def _cut(self, entry: Waiting, limit: str) -> None:
        self.cuts[limit] += 1
        self._leave(entry)
        entry.receiver.cut()

    def _leave(self, entry: Waiting) -> None:
        accounts, entry.accounts = entry.accounts, ()
        if not accounts:
            return  # it was cut
        for account in accounts:
            account.remove(entry)
        connection, user, _ = accounts
        if not connection.waiting:
            self._connections.pop(connection.key, None)
        if not user.waiting:
            self._users.pop(str(user.key), None)


def account_of(request: Request) -> str:
    """Return the name for which the unread bytes of a request count: its user, or the address of an anonymous one."""
    user = request.impersonator or request.user
    if user is None or user.name == "system:anonymous":
        return f"system:anonymous {request.wire.client_address}"
    return user.name
