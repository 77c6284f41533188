"""Cost of responses: a response is cut while it is built, and the answers of one turn of the event loop are bounded."""

import asyncio
import struct
import sys
from collections.abc import Callable
from typing import Any

import pytest

from sampan.core.event_loop.turns import LoopTurns
from sampan.dns import server as server_module
from sampan.dns.forwarder import Forwarder
from sampan.dns.message import HEADER, MESSAGE_BYTES_MAX, TC, Query, Question, Type
from sampan.dns.names import parse_name, reverse_name
from sampan.dns.resolver import Resolver
from sampan.dns.server import DnsServer
from sampan.dns.upstreams import Upstreams
from sampan.dns.zone import ClusterZone
from tests.dns.objects import address, service, slice_of, zone

PER_SLICE = 100
SRV = "_http._tcp.many.default.svc.cluster.local"
QUESTIONS = {
    "srv": (SRV, Type.SRV),
    "any": (SRV, Type.ANY),
    "srv as an address": (SRV, Type.A),
    "addresses": ("many.default.svc.cluster.local", Type.A),
    "addresses of the other family": ("many.default.svc.cluster.local", Type.AAAA),
    "one endpoint": ("10-0-0-1.many.default.svc.cluster.local", Type.A),
    "protocol": ("_tcp.many.default.svc.cluster.local", Type.A),
    "no such endpoint": ("nope.many.default.svc.cluster.local", Type.A),
    "no such port": ("_nope._tcp.many.default.svc.cluster.local", Type.SRV),
    "reverse": (".".join(reverse_name(address(0))), Type.PTR),
}


def crowd(count: int) -> ClusterZone:
    slices = [
        slice_of("many", *((str(address(number)), "", True) for number in range(start, start + PER_SLICE)))
        for start in range(0, count, PER_SLICE)
    ]
    return zone(service("many"), *slices)


def calls_of(function: Callable[[], object]) -> int:
    """Return the number of calls of functions, in Python and in C."""
    count = 0

    def note(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        function()
    finally:
        sys.setprofile(before)
    return count


def respond(names: ClusterZone, name: str, type: Type, size_max: int) -> bytes:
    query = Query(1, 0, Question(parse_name(name), type))
    resolver = Resolver(names, Forwarder(Upstreams((), None, frozenset())))
    response = resolver.respond_now(query, size_max)
    assert response is not None
    return response


@pytest.mark.parametrize("size_max", [512, MESSAGE_BYTES_MAX], ids=["udp", "tcp"])
@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS.keys())
def test_the_cost_of_a_response_grows_at_most_as_the_number_of_endpoints(
    question: tuple[str, Type], size_max: int
) -> None:
    few, many = crowd(200), crowd(2000)
    cost_of_few = calls_of(lambda: respond(few, *question, size_max))
    assert calls_of(lambda: respond(many, *question, size_max)) <= 12 * cost_of_few


@pytest.mark.parametrize("question", list(QUESTIONS.values())[:-1], ids=list(QUESTIONS)[:-1])
def test_a_response_over_udp_costs_no_more_than_its_records_when_names_are_prepared(
    question: tuple[str, Type],
) -> None:
    """Only the objects of tests have no index of addresses, so the reverse name is left out."""
    names = crowd(2000)
    respond(names, *question, 512)
    assert calls_of(lambda: respond(names, *question, 512)) < 1500


@pytest.mark.parametrize("size_max", [512, 1232, MESSAGE_BYTES_MAX])
def test_a_truncated_response_is_full_and_has_the_flag(size_max: int) -> None:
    data = respond(crowd(5000), SRV, Type.SRV, size_max)
    _, flags, _, count, _, additional = HEADER.unpack_from(data)
    assert flags & TC
    assert size_max - 70 < len(data) <= size_max
    assert (count > 5, additional) == (True, 0)


def test_a_response_that_fits_has_all_targets_once_with_their_addresses() -> None:
    data = respond(crowd(500), SRV, Type.SRV, MESSAGE_BYTES_MAX)
    _, flags, _, count, _, additional = HEADER.unpack_from(data)
    assert (flags & TC, count, additional) == (0, 500, 500)


def test_the_endpoints_of_a_cut_response_are_random() -> None:
    names = crowd(1000)
    assert len({respond(names, SRV, Type.SRV, 512) for _ in range(5)}) > 1


def test_a_changed_slice_changes_responses_at_once() -> None:
    before = slice_of("many", ("10.0.0.1", "", True))
    names = zone(service("many"), before)
    name = parse_name("many.default.svc.cluster.local")
    assert [record.data[-1] for record in names.respond(name, Type.A).answers] == [1]
    names._objects.all = (service("many"), slice_of("many", ("10.0.0.2", "", True)))  # type: ignore[attr-defined]
    assert [record.data[-1] for record in names.respond(name, Type.A).answers] == [2]


QUERY = HEADER.pack(7, 0, 1, 0, 0, 0) + Question(parse_name(SRV), Type.SRV).encoded()


def made(port: int = 0) -> DnsServer:
    return DnsServer(Resolver(crowd(100), Forwarder(Upstreams((), None, frozenset()))), ["127.0.0.1"], port)


async def test_datagrams_over_the_limit_of_a_turn_wait_and_those_over_the_bound_are_dropped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(server_module, "WAITING_MAX", 5)
    server, sent = made(), list[bytes]()
    server._udp = LoopTurns(asyncio.get_running_loop(), 1)
    tasks: Any = None
    for _ in range(10):
        server.respond_to_datagram(QUERY, tasks, sent.append)
    assert len(sent) == 1
    await asyncio.sleep(0)
    assert len(sent) == 2
    for _ in range(10):
        await asyncio.sleep(0)
    assert len(sent) == 6


async def test_queries_of_one_connection_share_the_turns_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "TURN_MICROSECONDS", 1)
    server = made()
    async with asyncio.TaskGroup() as group:
        task = group.create_task(server.run())
        await server.ready()
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write((struct.pack("!H", len(QUERY)) + QUERY) * 30)
        for _ in range(30):
            (size,) = struct.unpack("!H", await reader.readexactly(2))
            await reader.readexactly(size)
        assert server._tcp.number >= 29
        writer.close()
        task.cancel()
