"""`Sessions`: browsers that are logged in to the dashboard of this server.

A session exists only in the memory of one server. It keeps the credential of its login, which is verified again for
each request: a session ends no later than its token, and has no more rights than it.

Guarantees: the cookie's value is stored as a digest only; a session that has ended is never valid again, and its
streams end with it.

Concurrency: no tasks except those of `run`, which end sessions and renew their credentials in time. Everything else
happens on the event loop.
"""

import asyncio
import hashlib
import logging
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final

from sampan.core.clock import unix_time
from sampan.core.errors import too_many_requests
from sampan.server.dashboard.settings import DashboardSettings
from sampan.server.request import UserInfo

_log = logging.getLogger("sampan.dashboard")

SESSIONS_MAX: Final = 1000
"""Maximum number of sessions of a server."""
SESSIONS_OF_USER_MAX: Final = 20
"""Maximum number of sessions of a user. The next login ends the one that was used least recently."""
SWEEP_INTERVAL_S: Final = 5.0
RENEWAL_MARGIN_S: Final = 60.0
"""Time before its end at which a credential is renewed; a fifth of its duration, if that is less."""
RENEWAL_RETRY_S: Final = 15.0
_SHOWN_MAX: Final = 256


@dataclass(frozen=True, slots=True)
class Credentials:
    """Credential of a login. It has a token, a certificate, or the user of a one-time link."""

    token: str = field(default="", repr=False)
    certificate: bytes | None = field(default=None, repr=False)
    """Client certificate in DER."""
    intermediates: tuple[bytes, ...] = field(default=(), repr=False)
    user: UserInfo | None = None
    refresh_token: str = field(default="", repr=False)
    """Token with which the issuer renews `token`; empty: it does not."""
    is_oidc: bool = False
    """`token` is an id token of a login at the issuer."""

    @property
    def way(self) -> str:
        """Return the kind of login: `token`, `oidc`, `certificate` or `link`."""
        if self.token:
            return "oidc" if self.is_oidc else "token"
        return "link" if self.certificate is None else "certificate"


class Ending:
    """Something that ends once, and everything that holds it ends with it."""

    __slots__ = ("ended", "holds")

    def __init__(self) -> None:
        self.ended = False
        self.holds: set[Callable[[], object]] = set()

    def hold(self, end: Callable[[], object]) -> Callable[[], None]:
        """Call `end` at the end, at once if it has passed. Return a function that cancels this."""
        if self.ended:
            end()
        else:
            self.holds.add(end)
        return lambda: self.holds.discard(end)

    def end(self) -> None:
        """End this and everything that holds it. Does nothing the second time."""
        self.ended = True
        holds, self.holds = self.holds, set()
        for end in holds:
            end()


class Session(Ending):
    """One browser that is logged in."""

    __slots__ = (
        "address",
        "agent",
        "began",
        "credentials",
        "ends",
        "expires",
        "public_id",
        "renew_at",
        "used",
        "user",
    )

    def __init__(
        self,
        credentials: Credentials,
        user: UserInfo,
        *,
        began: float = 0.0,
        expires: float = 0.0,
        ends: float = 0.0,
        address: str = "",
        agent: str = "",
    ) -> None:
        """`began`, `expires` and `ends` are in seconds since the epoch. Renewals move `expires`, up to `ends`."""
        super().__init__()
        self.public_id = secrets.token_hex(8)
        """Name of the session for administrators. It is not the value of the cookie."""
        self.credentials = credentials
        self.user = user
        self.began = self.used = began
        self.ends = ends
        self.set_expiry(expires)
        self.address = address[:_SHOWN_MAX]
        self.agent = agent[:_SHOWN_MAX]

    def set_expiry(self, expires: float) -> None:
        """Set when the session ends without a renewal, and so when to renew its credential."""
        self.expires = min(expires, self.ends)
        self.renew_at = self.expires - min(RENEWAL_MARGIN_S, (self.expires - self.used) / 5)


Renewer = Callable[[Session], Awaitable[None]]
"""Renews the credential of a session. It raises nothing: without a renewal the session ends with its credential."""

ENDED: Final = Session(Credentials(), UserInfo(""))
"""Session of a cookie that is not valid."""
ENDED.end()


class Sessions:
    """Sessions of one server. `run` must be running for streams to end in time."""

    def __init__(self, settings: DashboardSettings) -> None:
        self._settings = settings
        self._by_digest: dict[bytes, Session] = {}
        self.renewer: Renewer | None = None
        """Renews the credential of a session, if there is an issuer."""

    def __len__(self) -> int:
        return len(self._by_digest)

    def begin(
        self, credentials: Credentials, user: UserInfo, *, until: float | None, address: str, agent: str
    ) -> tuple[str, Session]:
        """Return the cookie's value and the session of a new login. **Raises** `StatusError` 429 at the limit.

        `until` is the end of the credential in seconds since the epoch; None: it has none.
        """
        self.sweep()
        own = [each for each in self._by_digest.values() if each.user.name == user.name]
        if len(own) >= SESSIONS_OF_USER_MAX:
            self.end(min(own, key=lambda each: each.used))
        if len(self._by_digest) >= SESSIONS_MAX:
            raise too_many_requests(f"the dashboard has {SESSIONS_MAX} sessions; try again later", 60)
        value, now = secrets.token_urlsafe(32), unix_time()
        ends = now + self._settings.session_max_s
        expires = ends if until is None else until
        session = Session(credentials, user, began=now, expires=expires, ends=ends, address=address, agent=agent)
        self._by_digest[_digest(value)] = session
        _log.info("session began", extra={"session": session.public_id, "user": user.name, "way": credentials.way})
        return value, session

    def use(self, value: str, *, background: bool = False) -> Session:
        """Return the session of a cookie's value, which is used now; `ENDED` if there is none.

        `background`: the page sends the request by itself, without its user, so the session stays as idle as it is.
        """
        session = self._by_digest.get(_digest(value))
        if session is None:
            return ENDED
        if self.is_valid(session) and not background:
            session.used = unix_time()
        return session

    def is_valid(self, session: Session) -> bool:
        """Return True if a session is valid now. End it if its time is over."""
        if not session.ended and unix_time() >= self.idle_expires(session):
            self.end(session)
        return not session.ended

    def all(self) -> list[Session]:
        """Return the sessions, the oldest first."""
        self.sweep()
        return list(self._by_digest.values())

    def idle_expires(self, session: Session) -> float:
        """Return when the session ends without another request, in seconds since the epoch."""
        return min(session.expires, session.used + self._settings.session_idle_s)

    def end(self, session: Session) -> None:
        """End a session: its cookie is refused from now on, and its streams end."""
        remaining = {digest: each for digest, each in self._by_digest.items() if each is not session}
        if len(remaining) < len(self._by_digest):
            self._by_digest = remaining
            _log.info("session ended", extra={"session": session.public_id, "user": session.user.name})
        session.end()

    def sweep(self) -> None:
        """End the sessions whose time is over."""
        now = unix_time()
        for session in [each for each in self._by_digest.values() if now >= self.idle_expires(each)]:
            self.end(session)

    async def renew_due(self) -> None:
        """Renew the credentials that end soon, of the sessions that are not idle for too long."""
        now = unix_time()
        due = [each for each in self.all() if each.credentials.refresh_token and now >= each.renew_at]
        if self.renewer is not None and due:
            for session in due:
                session.renew_at = now + RENEWAL_RETRY_S
            await asyncio.gather(*map(self.renewer, due))

    async def run(self) -> None:
        """End and renew sessions in time until cancelled, then end all of them."""
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._renew(), name="dashboard renewals")
                while True:
                    await asyncio.sleep(SWEEP_INTERVAL_S)
                    self.sweep()
        finally:
            for session in self.all():
                self.end(session)

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(SWEEP_INTERVAL_S)
            await self.renew_due()


def _digest(value: str) -> bytes:
    return hashlib.sha256(value.encode("utf-8", "surrogatepass")).digest()
