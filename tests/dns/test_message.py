"""Wire format: names, queries and responses."""

import struct
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampan.dns.message import (
    HEADER,
    TC,
    BadQuery,
    Edns,
    NotAQuery,
    Query,
    Question,
    Rcode,
    ResourceRecord,
    ResponseSections,
    Type,
    encode_response,
    parse_query,
)
from sampan.dns.names import MalformedName, Name, address_of_reverse, encode_name, parse_name, read_name, reverse_name
from sampan.dns.relayed import read_response

LABELS = st.text("abcdefghijklmnopqrstuvwxyz0123456789-_", min_size=1, max_size=63)
NAMES = st.lists(LABELS, max_size=6).map(tuple).filter(lambda name: sum(len(label) + 1 for label in name) < 255)
RECORDS = st.builds(
    ResourceRecord, NAMES, st.sampled_from([Type.A, Type.TXT]), st.integers(0, 3600), st.binary(max_size=40)
)


def query_bytes(*tail: bytes, flags: int = 0x0100, counts: tuple[int, ...] = (1, 0, 0, 0)) -> bytes:
    """Return a query for the A records of `Web.a`."""
    return HEADER.pack(7, flags, *counts) + b"\3Web\1a\0" + struct.pack("!HH", 1, 1) + b"".join(tail)


OPT = struct.pack("!BHHIH", 0, 41, 4096, 0x8000, 0)


@given(NAMES)
def test_an_encoded_name_is_read_again(name: Name) -> None:
    encoded = encode_name(name)
    assert read_name(b"xx" + encoded + b"yy", 2) == (name, 2 + len(encoded))


# Random bytes alone hardly ever have the header of a query.
BODIES = st.binary(max_size=80) | st.builds(
    lambda name, kind, tail: encode_name(name) + kind + tail,
    NAMES,
    st.binary(min_size=4, max_size=4),
    st.just(b"") | st.just(OPT) | st.binary(max_size=20),
)
QUERIES = st.builds(lambda count, body: HEADER.pack(7, 0x0100, 1, 0, 0, count) + body, st.integers(0, 2), BODIES)


@given(st.binary(max_size=200) | QUERIES)
def test_any_datagram_is_a_query_or_refused(data: bytes) -> None:
    with suppress(BadQuery, NotAQuery):
        assert parse_query(data).question.raw in data


@given(st.lists(RECORDS, max_size=8), NAMES)
def test_records_of_a_response_are_read_again(records: list[ResourceRecord], name: Name) -> None:
    question = Question(name, Type.A)
    data = encode_response(Query(7, 0, question), ResponseSections(answers=tuple(records)), 65535)
    found = read_response(data, 7, question)
    addresses = tuple(record for record in records if record.type == Type.A)
    assert found.counts == (len(records), 0, 0)
    assert found.address_records(question) == addresses


def test_a_query_with_edns_is_parsed() -> None:
    found = parse_query(query_bytes(OPT, counts=(1, 0, 0, 1)))
    assert (found.id, found.question.name, found.edns) == (7, ("web", "a"), Edns(4096, 0, True))


@pytest.mark.parametrize(
    ("data", "rcode"),
    [
        (query_bytes(flags=0x2000), Rcode.NOTIMP),
        (query_bytes(counts=(2, 0, 0, 0)), Rcode.FORMERR),
        (query_bytes(counts=(1, 1, 0, 0)), Rcode.FORMERR),
        (query_bytes(counts=(1, 0, 0, 1)), Rcode.FORMERR),
        (query_bytes(OPT, OPT, counts=(1, 0, 0, 2)), Rcode.FORMERR),
        (query_bytes()[:-1], Rcode.FORMERR),
    ],
    ids=["opcode", "two questions", "an answer", "record missing", "two OPT records", "cut"],
)
def test_a_malformed_query_gets_an_error(data: bytes, rcode: Rcode) -> None:
    with pytest.raises(BadQuery) as refused:
        parse_query(data)
    assert HEADER.unpack(refused.value.response)[1] & 0xF == rcode


@pytest.mark.parametrize("data", [b"", b"1234567", query_bytes(flags=0x8000)], ids=["empty", "short", "response"])
def test_data_that_is_no_query_gets_no_response(data: bytes) -> None:
    with pytest.raises(NotAQuery):
        parse_query(data)


@pytest.mark.parametrize(
    "data",
    [b"\xc0\x00", b"\1a\xc0\x00", b"\xc0\x05\0\0\0\1a\0", b"\x80a\0", b"\3ab", b"\1a" * 200 + b"\0"],
    ids=["itself", "loop", "forward", "unknown label", "cut", "too long"],
)
def test_a_malformed_name_is_refused(data: bytes) -> None:
    with pytest.raises(MalformedName):
        read_name(data, 0)


def test_a_chain_of_many_pointers_is_refused() -> None:
    chain = b"\0\0" + b"".join(struct.pack("!H", 0xC000 | offset) for offset in range(0, 300, 2))
    with pytest.raises(MalformedName):
        read_name(chain, len(chain) - 2)


@pytest.mark.parametrize("text", ["a..b", "a" * 64, ".".join(["a" * 60] * 5), "\u0394x"])
def test_a_text_that_is_no_name_is_refused(text: str) -> None:
    with pytest.raises(MalformedName):
        parse_name(text)


def test_a_response_repeats_the_case_of_the_question() -> None:
    response = ResponseSections(answers=(ResourceRecord(("web", "a"), Type.A, 5, b"\1\2\3\4"),))
    assert b"\3Web\1a\0" in encode_response(parse_query(query_bytes()), response, 512)


@pytest.mark.parametrize("edns", [None, Edns(512), Edns(4096)])
def test_a_response_that_does_not_fit_is_truncated(edns: Edns | None) -> None:
    records = tuple(ResourceRecord(("web", "a"), Type.A, 5, bytes([10, 0, 0, number])) for number in range(200))
    query = Query(1, 0, Question(("web", "a"), Type.A), edns)
    data = encode_response(query, ResponseSections(answers=records), query.udp_bytes_max)
    flags, count = struct.unpack_from("!2xH2xH", data)
    assert len(data) <= query.udp_bytes_max
    assert flags & TC
    assert 0 < count < 200


def test_additional_records_are_omitted_without_truncation() -> None:
    more = tuple(ResourceRecord(("x", "a"), Type.TXT, 5, bytes(200)) for _ in range(3))
    data = encode_response(Query(1, 0, Question(("a",), Type.A)), ResponseSections(additional=more), 512)
    assert not struct.unpack_from("!2xH", data)[0] & TC


@given(st.one_of(st.ip_addresses(v=4), st.ip_addresses(v=6)))
def test_the_name_of_an_address_is_read_again(address: Any) -> None:
    assert address_of_reverse(reverse_name(address)) == address
