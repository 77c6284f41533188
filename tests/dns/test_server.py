"""The server on loopback, with an upstream on loopback."""

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from sampan.dns import server as server_module
from sampan.dns.exchange import exchange
from sampan.dns.forwarder import Forwarder
from sampan.dns.message import (
    TC,
    Query,
    Question,
    Rcode,
    ResourceRecord,
    ResponseSections,
    Type,
    encode_response,
    parse_query,
)
from sampan.dns.names import parse_name
from sampan.dns.relayed import Relayed
from sampan.dns.resolver import Resolver
from sampan.dns.server import DnsServer
from sampan.dns.upstreams import Nameserver, Upstreams, nameservers, parse_upstream
from tests.dns.objects import service, slice_of, zone

HOST = "127.0.0.1"
Reply = Callable[[Query], bytes]


class FakeUpstream(asyncio.DatagramProtocol):
    """Upstream that answers over UDP and counts the questions."""

    def __init__(self, reply: Reply) -> None:
        self.questions: list[Question] = []
        self._reply = reply
        self.address = Nameserver(HOST, 0)
        self._transport: Any = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self.address = Nameserver(HOST, transport.get_extra_info("sockname")[1])

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        query = parse_query(data)
        self.questions.append(query.question)
        self._transport.sendto(self._reply(query), addr)


def address_reply(query: Query, *, truncated: bool = False) -> bytes:
    record = ResourceRecord(query.question.name, Type.A, 300, bytes([192, 0, 2, 1]))
    data = bytearray(encode_response(query, ResponseSections(answers=(record,)), 512))
    if truncated:
        data[2] |= TC >> 8
    return bytes(data)


@asynccontextmanager
async def upstream(reply: Reply = address_reply) -> AsyncIterator[FakeUpstream]:
    loop = asyncio.get_running_loop()
    transport, made = await loop.create_datagram_endpoint(lambda: FakeUpstream(reply), local_addr=(HOST, 0))
    yield made
    transport.close()


@asynccontextmanager
async def serving(*upstreams: Nameserver) -> AsyncIterator[Nameserver]:
    """Run a server, and yield its address."""
    many = [(f"10.1.{number}.1", "", True) for number in range(120)]
    external = service("ext", type="ExternalName", externalName="www.example.com", clusterIP="", clusterIPs=[])
    inner = service(
        "inner", type="ExternalName", externalName="web.default.svc.cluster.local", clusterIP="", clusterIPs=[]
    )
    loop = service(
        "loop", type="ExternalName", externalName="loop.default.svc.cluster.local", clusterIP="", clusterIPs=[]
    )
    names = zone(service("web", "10.96.0.20"), service("many"), slice_of("many", *many), external, inner, loop)
    forwarder = Forwarder(Upstreams(upstreams, None, frozenset()))
    made = DnsServer(Resolver(names, forwarder), [HOST], 0)
    task = asyncio.create_task(made.run())
    await made.ready()
    try:
        yield Nameserver(HOST, made.port)
    finally:
        task.cancel()
        await asyncio.wait([task])


async def respond(server: Nameserver, name: str, type: int = Type.A) -> tuple[Relayed, list[ResourceRecord]]:
    question = Question(parse_name(name), type)
    found = await exchange(server, question, dnssec_ok=False, checking_disabled=False, timeout_s=5.0)
    return found, list(found.address_records(question))


async def test_a_name_of_the_cluster_is_resolved_over_udp() -> None:
    async with serving() as server:
        _, [record] = await respond(server, "WEB.default.svc.cluster.local")
        assert record.data == bytes([10, 96, 0, 20])


async def test_a_response_too_large_for_udp_is_complete_over_tcp() -> None:
    async with serving() as server:
        _, records = await respond(server, "many.default.svc.cluster.local")
        assert len(records) == 120


async def test_another_name_is_forwarded_once_and_then_cached() -> None:
    async with upstream() as up, serving(up.address) as server:
        for _ in range(2):
            found, [record] = await respond(server, "www.example.com")
            assert (record.data, found.rcode) == (bytes([192, 0, 2, 1]), Rcode.NOERROR)
        assert [question.name for question in up.questions] == [("www", "example", "com")]


async def test_an_external_name_is_resolved_to_the_address_of_its_target() -> None:
    async with upstream() as up, serving(up.address) as server:
        _, records = await respond(server, "ext.default.svc.cluster.local")
        assert [record.type for record in records] == [Type.CNAME, Type.A]


async def test_an_external_name_inside_the_cluster_needs_no_upstream() -> None:
    async with serving() as server:
        _, records = await respond(server, "inner.default.svc.cluster.local")
        assert [record.type for record in records] == [Type.CNAME, Type.A]


@pytest.mark.parametrize(
    ("name", "type", "rcode"),
    [
        ("www.example.com", Type.A, Rcode.SERVFAIL),
        ("1.2.0.192.in-addr.arpa", Type.PTR, Rcode.NXDOMAIN),
        ("loop.default.svc.cluster.local", Type.A, Rcode.SERVFAIL),
        ("web.default.svc.cluster.local", Type.AXFR, Rcode.REFUSED),
        ("ext.default.svc.cluster.local", Type.A, Rcode.NOERROR),
    ],
)
async def test_without_an_upstream_a_response_comes_at_once(name: str, type: int, rcode: Rcode) -> None:
    async with serving() as server:
        found, _ = await respond(server, name, type)
        assert found.rcode == rcode


async def test_an_unknown_name_of_the_cluster_is_never_forwarded() -> None:
    async with upstream() as up, serving(up.address) as server:
        found, _ = await respond(server, "nope.default.svc.cluster.local")
        assert (found.rcode, up.questions) == (Rcode.NXDOMAIN, [])


async def test_the_next_upstream_is_tried_if_the_first_one_fails() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as closed:
        closed.bind((HOST, 0))
        dead = Nameserver(HOST, closed.getsockname()[1])
    async with upstream() as up, serving(dead, up.address) as server:
        _, [record] = await respond(server, "www.example.com")
        assert record.data == bytes([192, 0, 2, 1])


async def test_a_forwarding_loop_ends_with_failures() -> None:
    upstreams = Upstreams((), None, frozenset())
    forwarder = Forwarder(upstreams)
    made = DnsServer(Resolver(zone(), forwarder), [HOST], 0)
    task = asyncio.create_task(made.run())
    await made.ready()
    upstreams._given = (Nameserver(HOST, made.port),)
    try:
        await forwarder.detect_loop()
        found, _ = await respond(Nameserver(HOST, made.port), "www.example.com")
        assert (found.rcode, forwarder.has_upstreams) == (Rcode.SERVFAIL, False)
    finally:
        task.cancel()
        await asyncio.wait([task])


async def test_a_forged_response_is_ignored() -> None:
    def forged(query: Query) -> bytes:
        data = address_reply(query)
        return bytes([data[0] ^ 1]) + data[1:]

    async with upstream(forged) as up:
        question = Question(parse_name("www.example.com"), Type.A)
        with pytest.raises(TimeoutError):
            await exchange(up.address, question, dnssec_ok=False, checking_disabled=False, timeout_s=0.05)


async def test_a_connection_over_the_limit_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "CONNECTIONS_MAX", 1)
    async with serving() as server:
        _, first = await asyncio.open_connection(server.host, server.port)
        reader, second = await asyncio.open_connection(server.host, server.port)
        assert await reader.read() == b""
        first.close()
        second.close()


async def test_a_silent_connection_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "IDLE_S", 0.01)
    async with serving() as server:
        reader, writer = await asyncio.open_connection(server.host, server.port)
        writer.write(struct.pack("!H", 500))
        assert await reader.read() == b""
        writer.close()


async def test_a_port_in_use_is_reported_with_advice() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as taken:
        taken.bind((HOST, 0))
        taken.listen()
        port = taken.getsockname()[1]
        made = DnsServer(Resolver(zone(), Forwarder(Upstreams((), None, frozenset()))), [HOST], port)
        message = f"cannot serve DNS on {HOST}:{port}: .*stop the program that uses it, or set another --bind or --port"
        with pytest.raises(OSError, match=message):
            await made.run()


def test_nameservers_are_read_from_resolv_conf() -> None:
    text = "# comment\nnameserver 192.0.2.1\nnameserver bad\nnameserver 2001:db8::1\nsearch a\nnameserver 192.0.2.1\n"
    assert nameservers(text) == [Nameserver("192.0.2.1"), Nameserver("2001:db8::1")]


def test_a_changed_resolv_conf_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "resolv.conf"
    own = Nameserver("192.0.2.9")
    upstreams = Upstreams((), file, frozenset({own}))
    assert upstreams.current() == []
    file.write_text("nameserver 192.0.2.9\nnameserver 192.0.2.10\n")
    assert upstreams.current() == [Nameserver("192.0.2.10")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [("192.0.2.1", Nameserver("192.0.2.1")), ("[2001:db8::1]:5353", Nameserver("2001:db8::1", 5353))],
)
def test_an_upstream_is_an_address_with_or_without_a_port(text: str, expected: Nameserver) -> None:
    assert parse_upstream(text) == expected
    assert parse_upstream(str(expected)) == expected


@pytest.mark.parametrize("text", ["dns.example.com", "192.0.2.1:0", "192.0.2.1:x", ""])
def test_a_text_that_is_no_upstream_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        parse_upstream(text)
