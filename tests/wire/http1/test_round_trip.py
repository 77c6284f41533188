"""Messages of the writer of one role, read by the reader of the other role in random pieces."""

from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sampan.wire.http1 import (
    BODILESS,
    CONTINUE,
    BodyWriter,
    Repeated,
    RequestReader,
    ResponseReader,
    joined,
    request_head,
    response_head,
    values_of,
)
from tests.wire.http1.received import Events

TOKENS = st.text("abcdefghijklmnopqrstuvwxyz-", min_size=1, max_size=8).map(lambda text: f"x-{text}")
TEXTS = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=1, max_size=20)
VALUES = TEXTS | st.lists(TEXTS, min_size=2, max_size=3).map(Repeated.of)
HEADERS = st.dictionaries(TOKENS, VALUES, max_size=5)
METHODS = st.sampled_from(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "PROPFIND", "FOO"])
TARGETS = st.sampled_from(["/", "/api?watch=1&a=%20", "/a/b/c"])
BODIES = st.lists(st.binary(min_size=1, max_size=40), max_size=4)
STATUSES = st.sampled_from([200, 201, 204, 304, 404, 500, 599])
CUTS = st.lists(st.integers(0, 2000), max_size=12)


def cut(data: bytes, cuts: list[int]) -> list[bytes]:
    """Data in pieces."""
    borders = sorted({0, len(data), *(at % (len(data) + 1) for at in cuts)})
    return [data[begin:end] for begin, end in pairwise(borders)]


def framed(body: list[bytes], *, chunked: bool) -> tuple[dict[str, str], bytes]:
    """The field that frames a body, and its bytes."""
    length = sum(map(len, body))
    writer = BodyWriter(chunked=chunked, length=None if chunked else length)
    written = b"".join(writer.data(piece) for piece in body) + writer.end()
    assert writer.complete
    return ({"transfer-encoding": "chunked"} if chunked else {"content-length": str(length)}), written


def shown(headers: dict[str, str]) -> dict[str, Any]:
    return {name: values_of(value) for name, value in headers.items() if name.startswith("x-")}


REQUESTS = st.lists(st.tuples(METHODS, TARGETS, HEADERS, BODIES, st.booleans()), min_size=1, max_size=4)


@given(sent=REQUESTS, cuts=CUTS)
def test_requests_survive_any_split(
    sent: list[tuple[str, str, dict[str, str], list[bytes], bool]], cuts: list[int]
) -> None:
    events = Events()
    reader = RequestReader(events)
    for method, target, headers, body, chunked in sent:
        field, written = framed(body, chunked=chunked)
        data = request_head(method, target, {"host": "h", **headers, **field}.items()) + written
        for piece in cut(data, cuts):
            reader.feed(piece)
    found = iter(events.events)
    for method, target, headers, body, _ in sent:
        head = next(found)
        assert (head.method, head.target, shown(head.headers)) == (method, target.encode(), shown(headers))
        assert head.keep_alive
        if body:
            assert next(found) == b"".join(body)
        assert next(found) == ("end", True)
    assert next(found, None) is None


@given(sent=st.lists(st.tuples(TARGETS, HEADERS), min_size=2, max_size=6), cuts=CUTS)
def test_pipelined_gets_survive_any_split(sent: list[tuple[str, dict[str, str]]], cuts: list[int]) -> None:
    data = b"".join(request_head("GET", target, {"host": "h", **headers}.items()) for target, headers in sent)
    events = Events()
    reader = RequestReader(events)
    for piece in cut(data, cuts):
        reader.feed(piece)
    heads = events.events[::2]
    assert [(head.target.decode(), shown(head.headers)) for head in heads] == [
        (target, shown(headers)) for target, headers in sent
    ]


RESPONSES = st.lists(
    st.tuples(METHODS, STATUSES, HEADERS, BODIES, st.booleans(), st.booleans()), min_size=1, max_size=4
)


@given(sent=RESPONSES, cuts=CUTS)
def test_responses_survive_any_split(
    sent: list[tuple[str, int, dict[str, str], list[bytes], bool, bool]], cuts: list[int]
) -> None:
    events = Events()
    reader = ResponseReader(events)
    for method, status, headers, body, chunked, interim in sent:
        field, written = framed(body, chunked=chunked)
        lines = [(name, value) for name, values in shown(headers).items() for value in values]
        empty = method == "HEAD" or status in BODILESS
        data = (CONTINUE if interim else b"") + response_head(
            status, [*lines, *(() if status in BODILESS else field.items())]
        )
        reader.expect(method)
        for piece in cut(data + (b"" if empty else written), cuts):
            reader.feed(piece)
        head = events.events.pop(0)
        assert (head.status, shown(head.headers)) == (status, shown(headers))
        if body and not empty:
            assert events.events.pop(0) == b"".join(body)
        assert events.events == [("end", True)]
        events.events.clear()


@given(body=st.binary(max_size=50), cuts=CUTS)
def test_a_body_may_end_with_the_connection(body: bytes, cuts: list[int]) -> None:
    events = Events()
    reader = ResponseReader(events)
    reader.expect("GET")
    for piece in cut(b"HTTP/1.1 200 OK\r\n\r\n" + body, cuts):
        reader.feed(piece)
    reader.end()
    assert events.events[1:] == ([body] if body else []) + [("end", False)]


@given(status=st.sampled_from([101, 200]), ahead=st.binary(max_size=50), cuts=CUTS)
def test_bytes_after_a_protocol_switch_are_not_parsed_in_the_client_role(
    status: int, ahead: bytes, cuts: list[int]
) -> None:
    reader = ResponseReader(Events())
    reader.expect("CONNECT" if status == 200 else "GET")
    upgrade = {"upgrade": "x", "connection": "Upgrade"} if status == 101 else {}
    for piece in cut(response_head(status, upgrade.items()) + ahead, cuts):
        reader.feed(piece)
    assert reader.take_ahead() == ahead


@given(ahead=st.binary(max_size=50), cuts=CUTS)
def test_bytes_after_a_protocol_switch_are_not_parsed_in_the_server_role(ahead: bytes, cuts: list[int]) -> None:
    events = Events()
    reader = RequestReader(events)
    head = request_head("GET", "/", [("host", "h"), ("connection", "Upgrade"), ("upgrade", "x")])
    for piece in cut(head + ahead, cuts):
        reader.feed(piece)
    assert (events.events[0].upgrade, reader.take_ahead()) == (True, ahead)


@given(name=TOKENS, values=st.lists(TEXTS, min_size=2, max_size=4))
def test_both_roles_join_repeated_fields_by_one_rule(name: str, values: list[str]) -> None:
    lines = "".join(f"{name}: {value}\r\n" for value in values)
    requested, responses = Events(), Events()
    RequestReader(requested).feed(f"GET / HTTP/1.1\r\nhost: h\r\n{lines}\r\n".encode())
    reader = ResponseReader(responses)
    reader.expect("GET")
    reader.feed(f"HTTP/1.1 200 OK\r\n{lines}content-length: 0\r\n\r\n".encode())
    for events in (requested, responses):
        assert events.events[0].headers[name] == joined(name, values)
        assert values_of(events.events[0].headers[name]) == tuple(values)
