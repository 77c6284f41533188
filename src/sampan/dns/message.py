"""DNS messages: reading queries, and writing responses that fit a limit.

It supports only the parts that a server needs. Responses of other servers are relayed as bytes (`relayed.py`).
Source: RFC 1035 (section 4), RFC 6891 (EDNS0), RFC 2782 (SRV).
"""

import enum
import struct
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from sampan.dns.names import MalformedName, Name, encode_name, read_name

MESSAGE_BYTES_MAX: Final = 65535
UDP_BYTES_MIN: Final = 512
"""Size of a UDP response to a client without EDNS."""
UDP_BYTES_MAX: Final = 1232
"""Largest UDP response: it fits into one packet on every network, and limits the amplification of queries with a forged
source.
"""
HEADER: Final = struct.Struct("!6H")
QUESTION_START: Final = HEADER.size
_RECORD: Final = struct.Struct("!HHIH")
_POINTER: Final = 0xC000
_POINTER_TARGET_MAX: Final = 0x3FFF
_ADDITIONAL_MAX: Final = 4
"""Records in the additional section of a query: OPT, and optionally a signature."""

IN: Final = 1
QR: Final = 0x8000
AA: Final = 0x0400
TC: Final = 0x0200
RD: Final = 0x0100
RA: Final = 0x0080
AD: Final = 0x0020
CD: Final = 0x0010
_OPCODE: Final = 0x7800
_DNSSEC_OK: Final = 0x8000


class Type(enum.IntEnum):
    """Types of records that this server handles."""

    A = 1
    NS = 2
    CNAME = 5
    SOA = 6
    PTR = 12
    TXT = 16
    AAAA = 28
    SRV = 33
    OPT = 41
    IXFR = 251
    AXFR = 252
    ANY = 255


class Rcode(enum.IntEnum):
    """Result of a query in a response. Source: RFC 1035, RFC 6891."""

    NOERROR = 0
    FORMERR = 1
    SERVFAIL = 2
    NXDOMAIN = 3
    NOTIMP = 4
    REFUSED = 5
    BADVERS = 16


@dataclass(frozen=True, slots=True)
class Question:
    """Question of a query."""

    name: Name
    type: int
    class_: int = IN
    raw: bytes = field(default=b"", compare=False)
    """Bytes of the question in the query: responses repeat them, so the client's upper and lower case is kept."""

    def encoded(self) -> bytes:
        """Return the bytes of the question. Raises `MalformedName`."""
        return self.raw or encode_name(self.name) + struct.pack("!HH", self.type, self.class_)


@dataclass(frozen=True, slots=True)
class Edns:
    """EDNS options of a query."""

    size: int
    version: int = 0
    dnssec_ok: bool = False


@dataclass(frozen=True, slots=True)
class Query:
    """Question of a client, with the properties of its message that the response depends on."""

    id: int
    flags: int
    question: Question
    edns: Edns | None = None

    @property
    def udp_bytes_max(self) -> int:
        """Largest response over UDP."""
        return UDP_BYTES_MIN if self.edns is None else max(UDP_BYTES_MIN, min(self.edns.size, UDP_BYTES_MAX))


@dataclass(frozen=True, slots=True)
class ResourceRecord:
    """Resource record of class IN. Names in `data` are not compressed."""

    name: Name
    type: int
    ttl: int
    data: bytes


@dataclass(frozen=True, slots=True)
class ResponseSections:
    """Records to encode: answers, authority and additional ones.

    The records may be made while the response is encoded, so that no more are made than fit. Iterate over them once:
    first over the answers.
    """

    rcode: int = Rcode.NOERROR
    answers: Iterable[ResourceRecord] = ()
    authority: Iterable[ResourceRecord] = ()
    additional: Iterable[ResourceRecord] = ()
    authoritative: bool = False
    alias: Name | None = None
    """Target of the CNAME record that ends the answers."""


class NotAQuery(ValueError):
    """Data that gets no response, because it is a response itself or too short."""


class BadQuery(ValueError):
    """Query that gets a response with an error code and without sections."""

    def __init__(self, rcode: int, id: int, flags: int) -> None:
        super().__init__(f"refused with response code {rcode}")
        self.response = HEADER.pack(id, QR | RA | flags & (_OPCODE | RD) | rcode, 0, 0, 0, 0)


def parse_query(data: bytes) -> Query:
    """Return the query of a message. Raises `NotAQuery` and `BadQuery`."""
    if len(data) < HEADER.size:
        raise NotAQuery("shorter than a header")
    id, flags, questions, answers, authority, additional = HEADER.unpack_from(data)
    if flags & QR:
        raise NotAQuery("a response")
    if flags & _OPCODE:
        raise BadQuery(Rcode.NOTIMP, id, flags)
    if questions != 1 or answers or authority or additional > _ADDITIONAL_MAX:
        raise BadQuery(Rcode.FORMERR, id, flags)
    try:
        question, offset = _read_question(data)
        edns = _read_edns(data, offset, additional)
    except (MalformedName, struct.error):
        raise BadQuery(Rcode.FORMERR, id, flags) from None
    return Query(id, flags, question, edns)


def _read_question(data: bytes) -> tuple[Question, int]:
    name, offset = read_name(data, QUESTION_START)
    type, class_ = struct.unpack_from("!HH", data, offset)
    return Question(name, type, class_, data[QUESTION_START : offset + 4]), offset + 4


def _read_edns(data: bytes, offset: int, count: int) -> Edns | None:
    """Return the values of the OPT record among `count` records. Raises `MalformedName`, `struct.error`."""
    found = None
    for _ in range(count):
        name, offset = read_name(data, offset)
        type, class_, ttl, length = _RECORD.unpack_from(data, offset)
        offset += _RECORD.size + length
        if offset > len(data):
            raise MalformedName("a record ends after the message")
        if type == Type.OPT:
            if found is not None or name:
                raise MalformedName("only one OPT record of the root is allowed")
            found = Edns(class_, ttl >> 16 & 0xFF, bool(ttl & _DNSSEC_OK))
    return found


def encode_response(query: Query, response: ResponseSections, size_max: int) -> bytes:
    """Return the response.

    Records that do not fit are omitted; TC is set if an omitted record belongs to the answer.
    """
    writer = _Writer(query.question, size_max - (_OPT_BYTES if query.edns else 0))
    counts = [writer.write(response.answers), writer.write(response.authority)]
    whole = not writer.is_full
    counts.append(writer.write(response.additional))
    flags = QR | RA | query.flags & (RD | CD) | response.rcode & 0xF
    flags |= (AA if response.authoritative else 0) | (0 if whole else TC)
    return header(query, flags, counts) + writer.body + opt(query, response.rcode)


def header(query: Query, flags: int, counts: list[int]) -> bytes:
    """Return the header of a response with these numbers of records; the server's OPT record is added to the count."""
    answers, authority, additional = counts
    return HEADER.pack(query.id, flags, 1, answers, authority, additional + (query.edns is not None))


_OPT: Final = struct.Struct("!BHHIH")
_OPT_BYTES: Final = _OPT.size


def opt(query: Query, rcode: int = 0) -> bytes:
    """Return the OPT record of the server, if the query has one."""
    if query.edns is None:
        return b""
    dnssec = _DNSSEC_OK if query.edns.dnssec_ok else 0
    return opt_record((rcode >> 4) << 24 | dnssec)


def opt_record(ttl: int) -> bytes:
    """Return an OPT record with these extended flags."""
    return _OPT.pack(0, Type.OPT, UDP_BYTES_MAX, ttl, 0)


class _Writer:
    """Writes the question and records. If a record's name has the same suffix as an earlier name, it is compressed."""

    def __init__(self, question: Question, size_max: int) -> None:
        self.body = bytearray(question.encoded())
        self._left = size_max - HEADER.size - len(self.body)
        self.is_full = False
        """True after a record that does not fit."""
        self._offsets: dict[Name, int] = {}
        self._note(question.name, QUESTION_START)

    def write(self, records: Iterable[ResourceRecord]) -> int:
        """Write records while there is room. Return the number of written records.

        After a record that does not fit, nothing is written.
        """
        written = 0
        for record in () if self.is_full else records:
            name = self._compressed(record.name)
            size = len(name) + _RECORD.size + len(record.data)
            if size > self._left:
                self.is_full = True
                break
            self._note(record.name, HEADER.size + len(self.body))
            self._left -= size
            self.body += name
            self.body += _RECORD.pack(record.type, IN, record.ttl, len(record.data))
            self.body += record.data
            written += 1
        return written

    def _note(self, name: Name, offset: int) -> None:
        """Record the offsets of a name and of its suffixes, unless they are known."""
        for number, label in enumerate(name):
            if name[number:] in self._offsets or offset > _POINTER_TARGET_MAX:
                return
            self._offsets[name[number:]] = offset
            offset += len(label) + 1

    def _compressed(self, name: Name) -> bytes:
        for number in range(len(name)):
            offset = self._offsets.get(name[number:])
            if offset is not None:
                return encode_name(name[:number])[:-1] + struct.pack("!H", _POINTER | offset)
        return encode_name(name)
