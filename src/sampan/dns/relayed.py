"""`Relayed`: the response of an upstream, relayed to clients as bytes.

Names in its records contain pointers to offsets in the message. The offsets stay valid, because the lengths of header
and question do not change.
"""

import struct
from dataclasses import dataclass
from typing import Final

from sampan.dns.message import (
    AA,
    AD,
    CD,
    HEADER,
    QR,
    RA,
    RD,
    TC,
    Query,
    Question,
    Rcode,
    ResourceRecord,
    Type,
    encode_response,
    header,
    opt,
)
from sampan.dns.message import ResponseSections as ErrorResponse
from sampan.dns.names import MalformedName, encode_name, read_name

_RECORD: Final = struct.Struct("!HHIH")
_TTL_OFFSET: Final = 4
_ADDRESS_TYPES: Final = (Type.A, Type.AAAA)
NEGATIVE_TTL_S: Final = 5
"""Seconds for which an answer without any record is cached."""


class BadResponse(ValueError):
    """The upstream's message is not a response to the question."""


@dataclass(frozen=True, slots=True)
class _Position:
    """Position and type of a record in a message."""

    type: int
    owner: int
    ttl: int
    data: int
    end: int


@dataclass(frozen=True, slots=True)
class Relayed:
    """Response of an upstream without its OPT record."""

    flags: int
    counts: tuple[int, int, int]
    body: bytes
    """Bytes after the question."""
    ttls: tuple[tuple[int, int], ...]
    """Offset in `body` and value of each TTL."""

    @property
    def rcode(self) -> int:
        """Response code."""
        return self.flags & 0xF

    @property
    def ttl_s(self) -> int:
        """Seconds for which the response may be cached."""
        return min((ttl for _, ttl in self.ttls), default=NEGATIVE_TTL_S)

    def encode(self, query: Query, size_max: int, age_s: int = 0) -> bytes:
        """Return the response for a client: without records and with TC if it is too large.

        `age_s`: seconds since the upstream sent the response. All TTLs are reduced by that.
        """
        flags = QR | RA | query.flags & (RD | CD) | self.flags & (AD | 0xF)
        question, options = query.question.encoded(), opt(query)
        if HEADER.size + len(question) + len(self.body) + len(options) > size_max:
            return header(query, flags | TC, [0, 0, 0]) + question + options
        body = bytearray(self.body)
        for offset, ttl in self.ttls:
            struct.pack_into("!I", body, offset, max(0, ttl - age_s))
        return header(query, flags, list(self.counts)) + question + body + options

    def address_records(self, question: Question) -> tuple[ResourceRecord, ...]:
        """Return the A, AAAA and CNAME records of the answer. Raises `MalformedName`, `struct.error`."""
        data = HEADER.pack(0, 0, 1, *self.counts) + question.encoded() + self.body
        found = []
        for at in _positions(data, HEADER.size + len(question.encoded()), self.counts[0]):
            owner, _ = read_name(data, at.owner)
            (ttl,) = struct.unpack_from("!I", data, at.ttl)
            if at.type in _ADDRESS_TYPES:
                found.append(ResourceRecord(owner, at.type, ttl, data[at.data : at.end]))
            elif at.type == Type.CNAME:
                found.append(ResourceRecord(owner, at.type, ttl, encode_name(read_name(data, at.data)[0])))
        return tuple(found)


def read_response(data: bytes, id: int, question: Question) -> Relayed:
    """Return the response to a question that was sent with an id. Raises `BadResponse`."""
    question_bytes = question.encoded()
    try:
        found, flags, questions, *counts = HEADER.unpack_from(data)
        start = HEADER.size + len(question_bytes)
        same = (
            read_name(data, HEADER.size) == (question.name, start - 4)
            and data[start - 4 : start] == question_bytes[-4:]
        )
        if found != id or not flags & QR or questions != 1 or not same:
            raise BadResponse("the message does not answer the question")
        return _without_opt(data, flags, start, counts)
    except (struct.error, MalformedName) as error:
        raise BadResponse(f"malformed message: {error}") from None


def _without_opt(data: bytes, flags: int, start: int, counts: list[int]) -> Relayed:
    """Return the response up to its OPT record, which is the last one or precedes a signature."""
    answers, authority, _ = counts
    ttls, end, kept = [], start, 0
    for number, at in enumerate(_positions(data, start, sum(counts))):
        if at.type == Type.OPT:
            if number < answers + authority:
                raise BadResponse("an OPT record is in the wrong section")
            break
        ttls.append((at.ttl - start, struct.unpack_from("!I", data, at.ttl)[0] & 0x7FFFFFFF))
        end, kept = at.end, kept + 1
    return Relayed(flags & ~AA, (answers, authority, kept - answers - authority), data[start:end], tuple(ttls))


def _positions(data: bytes, offset: int, count: int) -> list[_Position]:
    """Return the positions of records. Raises `MalformedName`, `struct.error`."""
    found = []
    for _ in range(count):
        owner = offset
        _, offset = read_name(data, offset)
        type, _, _, length = _RECORD.unpack_from(data, offset)
        start = offset + _RECORD.size
        if start + length > len(data):
            raise MalformedName("a record ends after the message")
        found.append(_Position(type, owner, offset + _TTL_OFFSET, start, start + length))
        offset = start + length
    return found


def failure(query: Query, rcode: Rcode, size_max: int) -> bytes:
    """Return a response with an error code."""
    return encode_response(query, ErrorResponse(rcode), size_max)
