"""Rewriting of an upstream's URLs."""

import gzip
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampan.server.proxy.html import rewrite_links
from sampan.server.proxy.rewrite import HTML_BYTES_MAX, Rewriting
from sampan.server.proxy.target import ProxyTarget
from tests.server.proxy.upstream import ReceivedRequest, fronted, to, upstream

PREFIX = "/api/v1/namespaces/ns/services/x/proxy"


@pytest.mark.parametrize(
    ("received", "expected"),
    [
        ("/a", f"{PREFIX}/a"),
        ("/a/?q=1#f", f"{PREFIX}/a/?q=1#f"),
        ("/", f"{PREFIX}/"),
        ("a/b", "a/b"),
        ("../b", "../b"),
        ("?q", "?q"),
        ("#f", "#f"),
        ("http://10.0.0.1:8080/a", f"{PREFIX}/a"),
        ("http://api:6443/a", f"http://api:6443{PREFIX}/a"),
        ("http://other/a", "http://other/a"),
        ("//other/a", "//other/a"),
        (f"{PREFIX}/a", f"{PREFIX}/a"),
        (f"{PREFIX}x/a", f"{PREFIX}{PREFIX}x/a"),
        ("/../../../../secrets", f"{PREFIX}/secrets"),
        ("mailto:me", "mailto:me"),
        ("http://[bad", "http://[bad"),
    ],
)
def test_urls_of_the_upstream_get_the_prefix(received: str, expected: str) -> None:
    assert Rewriting(ProxyTarget("10.0.0.1", 8080, "/", prefix=PREFIX), "api:6443", PREFIX).url(received) == expected


@pytest.mark.parametrize(
    ("document", "changed"),
    [
        (b'<a href="/x">', b'<a href="/P/x">'),
        (b"<A HREF='/x' class=y>", b'<A HREF="/P/x" class=y>'),
        (b"<img src=/x.png alt='/y'>", b"<img src=\"/P/x.png\" alt='/y'>"),
        (b'<a title="a > b" href = "/x?a=1&amp;b=2">', b'<a title="a > b" href="/P/x?a=1&amp;b=2">'),
        (b'<!-- <a href="/x"> --><p>', b'<!-- <a href="/x"> --><p>'),
        (b'<script src="/s">"<a href=\'/x\'>"</script><a href="/y">', None),
        (b"<a href='/\xc3\xa9'>", b'<a href="/P/\xc3\xa9">'),
        (b"1 < 2 <", b"1 < 2 <"),
        (b'<a href="/x', b'<a href="/x'),
    ],
    ids=["quoted", "upper case", "bare", "entities", "comment", "script", "UTF-8", "no tag", "no end"],
)
def test_links_in_html_change_and_nothing_else(document: bytes, changed: bytes | None) -> None:
    expected = changed or b'<script src="/P/s">"<a href=\'/x\'>"</script><a href="/P/y">'
    assert rewrite_links(document, lambda url: f"/P{url}" if url.startswith("/") else url) == expected


@given(st.text(alphabet="<>ab=\"'/!- \n&;script").map(str.encode))
def test_a_document_without_links_stays_as_it_is(document: bytes) -> None:
    assert rewrite_links(document, lambda url: url) == document


@pytest.mark.parametrize("hostile", [b"<a ", b'<a x="', b"<!--", b"<script>", b"<a '"], ids=repr)
def test_hostile_documents_take_no_longer(hostile: bytes) -> None:
    document = hostile * (1 << 16)
    assert rewrite_links(document, lambda url: url) == document


def deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


@pytest.mark.parametrize(
    ("encoding", "pack", "unpack"),
    [
        ("", bytes, bytes),
        ("gzip", gzip.compress, gzip.decompress),
        ("deflate", deflate, lambda data: zlib.decompress(data, -15)),
    ],
    ids=["plain", "gzip", "deflate"],
)
async def test_a_page_is_rewritten_in_its_encoding(encoding: str, pack: type[bytes], unpack: type[bytes]) -> None:
    async def response(requested: ReceivedRequest) -> None:
        head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Encoding: {encoding}\r\n"
        await requested.response(pack(b'<a href="/x">'), head)

    async with upstream(response) as served, fronted(to(served, prefix=PREFIX)) as front:
        _, headers, body = await front.get()
        assert unpack(body) == f'<a href="{PREFIX}/x">'.encode()
        assert int(headers["content-length"]) == len(body)


@pytest.mark.parametrize("chunked", [True, False], ids=["chunked", "with a length"])
async def test_a_page_too_large_to_rewrite_is_passed_on(chunked: bool) -> None:
    page = b'<a href="/x">' + bytes(HTML_BYTES_MAX)

    async def response(requested: ReceivedRequest) -> None:
        framing = "Transfer-Encoding: chunked" if chunked else f"Content-Length: {len(page)}"
        await requested.send(f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n{framing}\r\n\r\n".encode())
        await requested.send(b"%x\r\n%b\r\n0\r\n\r\n" % (len(page), page) if chunked else page)

    async with upstream(response) as served, fronted(to(served, prefix=PREFIX)) as front:
        _, _, body = await front.get()
        assert b'<a href="/x">' in body
        assert len(body) >= len(page)


async def test_redirects_stay_below_the_prefix() -> None:
    async def response(requested: ReceivedRequest) -> None:
        await requested.response(b"", f"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:{served.port}/login\r\n")

    async with upstream(response) as served, fronted(to(served, prefix=PREFIX)) as front:
        code, headers, _ = await front.get()
        assert (code, headers["location"]) == (302, f"{PREFIX}/login")
