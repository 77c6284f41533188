"""However the network cuts requests, the same requests come out."""

from hypothesis import given
from hypothesis import strategies as st

from sampan.http.server.exchange import HttpLimits, Request
from sampan.http.server.parser import RequestParser
from sampan.server.connections.owner import HEADER_BYTES_MAX

LIMITS = HttpLimits(body_bytes_max=lambda path: 1000)


def written(request: Request, *, chunked: bool) -> bytes:
    headers = "".join(f"{name}: {value}\r\n" for name, value in request.headers.items())
    head = f"{request.method} {request.target} HTTP/1.1\r\n{headers}"
    if not chunked:
        return f"{head}content-length: {len(request.body)}\r\n\r\n".encode() + request.body
    chunk = f"{len(request.body):x}\r\n".encode() + request.body + b"\r\n" if request.body else b""
    return f"{head}transfer-encoding: chunked\r\n\r\n".encode() + chunk + b"0\r\n\r\n"


REQUESTS = st.builds(
    Request,
    st.sampled_from(["POST", "PUT"]),
    st.sampled_from(["/", "/a?timeout=1s", "/mutate-x"]),
    st.dictionaries(st.sampled_from(["x-a", "x-b"]), st.sampled_from(["1", "two words"])).map(
        lambda fields: {"host": "h", **fields}
    ),
    st.binary(max_size=50),
)


@given(st.lists(st.tuples(REQUESTS, st.booleans()), min_size=1, max_size=4), st.data())
def test_requests_do_not_depend_on_how_they_arrive(sent: list[tuple[Request, bool]], data: st.DataObject) -> None:
    stream = b"".join(written(request, chunked=chunked) for request, chunked in sent)
    cuts = sorted(data.draw(st.sets(st.integers(1, len(stream) - 1), max_size=10)))
    parser = RequestParser(LIMITS)
    for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        parser.feed(stream[start:end])
    found = [request for request, _ in parser.requests]
    framing = {"content-length", "transfer-encoding"}
    assert [
        (each.method, each.target, {k: v for k, v in each.headers.items() if k not in framing}, each.body)
        for each in found
    ] == [(each.method, each.target, each.headers, each.body) for each, _ in sent]


def test_a_field_in_several_lines_is_a_list() -> None:
    parser = RequestParser(LIMITS)
    parser.feed(b"GET / HTTP/1.1\r\nhost: x\r\naccept: a\r\nAccept: b\r\n\r\n")
    assert parser.requests[0][0].headers["accept"] == "a, b"


def test_a_head_may_be_as_long_as_the_api_servers() -> None:
    assert HttpLimits().head_bytes_max == HEADER_BYTES_MAX
    parser = RequestParser(HttpLimits())
    for part in (b"GET /?", b"x" * 1_000_000, b" HTTP/1.1\r\nhost: x\r\n\r\n"):
        parser.feed(part)
    assert len(parser.requests[0][0].target) == 1_000_002
