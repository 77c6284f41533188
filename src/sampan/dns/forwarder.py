"""`Forwarder`: sends questions to upstreams and caches their responses.

Concurrency: `forward` runs in the caller's task. At most `QUESTIONS_MAX` calls wait at once; more fail at once.
"""

import asyncio
import logging
import secrets
from collections import OrderedDict
from typing import Final, NamedTuple

from sampan.dns.exchange import exchange
from sampan.dns.message import CD, IN, Query, Question, Rcode
from sampan.dns.names import Name
from sampan.dns.relayed import BadResponse, Relayed
from sampan.dns.upstreams import Nameserver, Upstreams

TIMEOUT_S: Final = 1.5
"""Seconds to wait for one upstream. For three upstreams, this is less than the 5 s that resolvers wait."""
ATTEMPTS_MAX: Final = 3
AVOIDED_S: Final = 10.0
"""Seconds for which an upstream that did not respond is tried last."""
CACHE_TTL_S_MAX: Final = 30
CACHE_SIZE_MAX: Final = 5000
CACHED_BYTES_MAX: Final = 4096
"""Largest response that is cached. It limits the cache to 20 MB."""
QUESTIONS_MAX: Final = 500
_HINFO: Final = 13

_log = logging.getLogger("sampan.dns")


class NoResponse(Exception):
    """No upstream has responded. The message contains the reason."""


class _Key(NamedTuple):
    name: Name
    type: int
    class_: int
    dnssec_ok: bool
    checking_disabled: bool


class Forwarder:
    """Resolves questions with the responses of upstreams."""

    def __init__(self, upstreams: Upstreams) -> None:
        self._upstreams = upstreams
        self._cache: OrderedDict[_Key, tuple[float, Relayed]] = OrderedDict()
        self._waiting = 0
        self._avoided: dict[Nameserver, float] = {}
        self._probe: Name = (f"loop-{secrets.token_hex(8)}", "invalid")
        self._loops = False

    @property
    def has_upstreams(self) -> bool:
        """Return True if questions can be forwarded."""
        return not self._loops and bool(self._upstreams.current())

    def cached(self, query: Query) -> tuple[Relayed, int] | None:
        """Return the cached response with its age in seconds; None if there is none."""
        found = self._cache.get(_key_of(query))
        if found is None:
            return None
        age_s = asyncio.get_running_loop().time() - found[0]
        return (found[1], int(age_s)) if age_s < min(found[1].ttl_s, CACHE_TTL_S_MAX) else None

    async def forward(self, query: Query) -> Relayed:
        """Return a response of an upstream. Raises `NoResponse`."""
        self._check_loop(query.question.name)
        if not self.has_upstreams:
            raise NoResponse("there is no upstream")
        if self._waiting >= QUESTIONS_MAX:
            raise NoResponse(f"{QUESTIONS_MAX} questions already wait for upstreams")
        self._waiting += 1
        try:
            found = await self._first(query)
        finally:
            self._waiting -= 1
        if found.rcode in (Rcode.NOERROR, Rcode.NXDOMAIN) and len(found.body) <= CACHED_BYTES_MAX:
            self._store(_key_of(query), found)
        return found

    async def detect_loop(self) -> None:
        """Send a unique question to the upstreams. If this server receives it, stop forwarding."""
        for upstream in self._upstreams.current():
            try:
                question = Question(self._probe, _HINFO, IN)
                await exchange(upstream, question, dnssec_ok=False, checking_disabled=False, timeout_s=TIMEOUT_S)
            except (OSError, BadResponse):
                continue

    def _check_loop(self, name: Name) -> None:
        if name == self._probe and not self._loops:
            self._loops = True
            _log.error(
                "upstreams forward to this server: names outside the cluster do not resolve; set --forward or "
                "--resolv-conf",
                extra={"upstreams": ", ".join(map(str, self._upstreams.current()))},
            )

    async def _first(self, query: Query) -> Relayed:
        """Return the first usable response. If there is none, return the last SERVFAIL or REFUSED response."""
        reasons: list[str] = []
        refused: Relayed | None = None
        edns = query.edns
        for upstream in self._order():
            try:
                found = await exchange(
                    upstream,
                    query.question,
                    dnssec_ok=edns is not None and edns.dnssec_ok,
                    checking_disabled=bool(query.flags & CD),
                    timeout_s=TIMEOUT_S,
                )
            except (OSError, BadResponse) as error:
                self._avoided[upstream] = asyncio.get_running_loop().time() + AVOIDED_S
                reasons.append(f"{upstream}: {str(error) or type(error).__name__}")
                continue
            self._avoided.pop(upstream, None)
            if found.rcode not in (Rcode.SERVFAIL, Rcode.REFUSED):
                return found
            refused = found
        if refused is not None:
            return refused
        raise NoResponse("; ".join(reasons))

    def _order(self) -> list[Nameserver]:
        """Return the upstreams in the order in which to try them.

        A single one is tried twice, because datagrams can be lost.
        """
        now = asyncio.get_running_loop().time()
        current = self._upstreams.current()
        ordered = sorted(current, key=lambda upstream: self._avoided.get(upstream, 0.0) > now)
        return (ordered * 2)[:ATTEMPTS_MAX]

    def _store(self, key: _Key, found: Relayed) -> None:
        if found.ttl_s <= 0:
            return
        self._cache[key] = asyncio.get_running_loop().time(), found
        self._cache.move_to_end(key)
        if len(self._cache) > CACHE_SIZE_MAX:
            self._cache.popitem(last=False)


def _key_of(query: Query) -> _Key:
    question, edns = query.question, query.edns
    secured = edns is not None and edns.dnssec_ok
    return _Key(question.name, question.type, question.class_, secured, bool(query.flags & CD))
