"""`Resolver`: returns the response to a query, from the zone or from upstreams."""

import logging
import struct
from collections.abc import Callable
from dataclasses import replace
from itertools import chain
from typing import Final

from sampan.dns.forwarder import Forwarder, NoResponse
from sampan.dns.message import (
    IN,
    RA,
    RD,
    Query,
    Question,
    Rcode,
    ResourceRecord,
    ResponseSections,
    Type,
    encode_response,
)
from sampan.dns.names import MalformedName, Name, address_of_reverse
from sampan.dns.relayed import failure
from sampan.dns.zone import ClusterZone

ALIASES_MAX: Final = 8
"""Maximum number of CNAME records that are followed for one query."""
_TRANSFERS: Final = (Type.AXFR, Type.IXFR)

_log = logging.getLogger("sampan.dns")


class Resolver:
    """Resolves queries. Names of the cluster are never forwarded."""

    def __init__(self, zone: ClusterZone, forwarder: Forwarder, is_ready: Callable[[], bool] = lambda: True) -> None:
        """`is_ready` returns True when the zone's objects are complete."""
        self._zone = zone
        self._forwarder = forwarder
        self._is_ready = is_ready

    def respond_now(self, query: Query, size_max: int) -> bytes | None:
        """Return the response, or None if an upstream must be queried first."""
        response = self._refusal(query) or self._local(query.question)
        if response is not None:
            return None if self._foreign_alias(query, response) else encode_response(query, response, size_max)
        cached = self._forwarder.cached(query)
        return None if cached is None else cached[0].encode(query, size_max, cached[1])

    async def respond(self, query: Query, size_max: int) -> bytes:
        """Return the response, with the help of upstreams."""
        response = self._local(query.question)
        if response is not None:
            return encode_response(query, await self._with_target(query, response), size_max)
        try:
            return (await self._forwarder.forward(query)).encode(query, size_max)
        except NoResponse as error:
            _log.debug("query not answered: %s", error, extra={"name": ".".join(query.question.name)})
            return failure(query, self._rcode_without_upstream(query.question), size_max)

    def _refusal(self, query: Query) -> ResponseSections | None:
        """Return the error response to a query that this server never resolves; None for other queries."""
        if query.edns is not None and query.edns.version > 0:
            return ResponseSections(Rcode.BADVERS)
        if query.question.type in _TRANSFERS:
            return ResponseSections(Rcode.REFUSED)
        if query.question.class_ != IN and self._zone.contains(query.question.name):
            return ResponseSections(Rcode.REFUSED)
        return None

    def _local(self, question: Question) -> ResponseSections | None:
        """Return the zone's answer with the aliases inside the zone, or None for other names."""
        if self._zone.contains(question.name):
            return self._followed(question) if self._is_ready() else ResponseSections(Rcode.SERVFAIL)
        address = address_of_reverse(question.name)
        if address is None or question.class_ != IN:
            return None
        if not self._is_ready():
            return ResponseSections(Rcode.SERVFAIL)
        found = self._zone.reverse(address)
        if found is None or question.type in (Type.PTR, Type.ANY):
            return found
        return ResponseSections(authoritative=True)

    def _followed(self, question: Question) -> ResponseSections:
        """Return the zone's answer; CNAME records to other names of the zone are followed."""
        response = self._zone.respond(question.name, question.type)
        aliases: tuple[ResourceRecord, ...] = ()
        for _ in range(ALIASES_MAX):
            target = response.alias
            if target is None or not self._zone.contains(target) or question.type in (Type.CNAME, Type.ANY):
                return replace(response, answers=chain(aliases, response.answers))
            aliases = (*aliases, *response.answers)
            response = self._zone.respond(target, question.type)
        return ResponseSections(Rcode.SERVFAIL)

    def _foreign_alias(self, query: Query, response: ResponseSections) -> Name | None:
        """Return the name outside the zone that an answer ends with, if upstreams can resolve it."""
        desired = query.question.type in (Type.A, Type.AAAA) and self._forwarder.has_upstreams
        return response.alias if desired else None

    async def _with_target(self, query: Query, response: ResponseSections) -> ResponseSections:
        """Return the response with the addresses of its target.

        If no upstream responds, return it without the addresses.
        """
        target = self._foreign_alias(query, response)
        if target is None:
            return response
        question = Question(target, query.question.type)
        onward = replace(query, question=question, flags=query.flags | RD | RA)
        try:
            cached = self._forwarder.cached(onward)
            found = cached[0] if cached else await self._forwarder.forward(onward)
            return replace(response, answers=(*response.answers, *found.address_records(question)))
        except (NoResponse, MalformedName, struct.error) as error:
            _log.debug("target of an ExternalName not resolved: %s", error)
            return response

    def _rcode_without_upstream(self, question: Question) -> Rcode:
        """Return the response code for a name that no upstream has resolved.

        Without upstreams, the reverse name of an address does not exist, which is an ordinary result.
        """
        missing = address_of_reverse(question.name) is not None and not self._forwarder.has_upstreams
        return Rcode.NXDOMAIN if missing else Rcode.SERVFAIL
