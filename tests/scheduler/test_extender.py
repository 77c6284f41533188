"""Tests of extenders: requests and responses."""

import asyncio
import random
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import pytest

from sampan.client.transport import Headers, HttpRequest
from sampan.scheduler.algorithm import Algorithm
from sampan.scheduler.configuration import read_configuration
from sampan.scheduler.extender.extenders import ExtenderBinder, Extenders
from sampan.scheduler.extender.http_extender import ExtenderConfig, ExtenderError, HttpExtender, ObjectReaders
from sampan.scheduler.framework.diagnosis import FitError
from sampan.scheduler.framework.framework import Framework
from sampan.scheduler.preemption.candidate import Candidate
from sampan.scheduler.queue.nominator import Nominator
from sampan.scheduler.set_up import set_up
from sampan.wire import json
from tests.controllers.cluster import cluster
from tests.scheduler.frame import Board
from tests.scheduler.objects import node, node_object, pod, pod_object
from tests.scheduler.test_scheduler import bound, make_nodes, make_pods
from tests.unreadable import DEEP, NO_TEXT


async def reply(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """A service that only accepts `node-2`."""
    head = await reader.readuntil(b"\r\n\r\n")
    body = json.encode({"NodeNames": ["node-2"]} if head.startswith(b"POST /scheduler/filter ") else {"Error": "what?"})
    writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))
    await writer.drain()
    writer.close()
    await writer.wait_closed()


async def test_an_extender_is_called_over_http() -> None:
    server = await asyncio.start_server(reply, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    configuration = {
        "urlPrefix": f"http://127.0.0.1:{port}/scheduler",
        "filterVerb": "filter",
        "nodeCacheCapable": True,
    }
    configured = partial(set_up, configuration=read_configuration({"extenders": [configuration]}))
    async with server, cluster(configured) as work:
        await make_nodes(work, *(node_object(f"node-{number}") for number in range(4)))
        await make_pods(work, pod_object("web"))
        assert await bound(work, "web") == "node-2"


class FakeResponse:
    """A response with a complete body."""

    def __init__(self, status: int, body: bytes) -> None:
        self.status = status
        self.headers: Headers = {}
        self._body = body

    async def read(self) -> bytes:
        return self._body

    async def chunks(self) -> AsyncIterator[bytes]:
        yield self._body

    async def aclose(self) -> None:
        """Do nothing: no connection is open."""


class Service:
    """Responds by verb, and records the requests."""

    def __init__(self, **responses: Any) -> None:
        self.responses = responses
        self.requested: dict[str, Any] = {}

    async def send(self, request: HttpRequest) -> FakeResponse:
        verb = request.target.strip("/")
        self.requested[verb] = json.decode(request.body)
        if verb not in self.responses:
            return FakeResponse(500, b"")
        response = self.responses[verb]
        return FakeResponse(200, response if isinstance(response, bytes) else json.encode(response))

    async def aclose(self) -> None:
        """Do nothing: no connection is open."""


CONFIG = ExtenderConfig(
    "http://127.0.0.1:1",
    filter_verb="filter",
    prioritize_verb="prioritize",
    bind_verb="bind",
    preempt_verb="preempt",
    node_cache_capable=True,
)
OBJECTS = ObjectReaders(
    pod=lambda key: json.encode({"metadata": {"name": key}}),
    node=lambda name: json.encode({"metadata": {"name": name}}),
)


def extenders(service: Service, **config: Any) -> Extenders:
    fields = {name: getattr(CONFIG, name) for name in CONFIG.__slots__} | config
    return Extenders([HttpExtender(ExtenderConfig(**fields), service, OBJECTS)])


async def choose(requested: Extenders, board: Board, **spec: Any) -> str:
    algorithm = Algorithm(Nominator(), requested, random.Random(1))
    return await algorithm.choose(Framework([], {}), board.cycle(pod("p", **spec)))


def board() -> Board:
    return Board([node(name) for name in ("a", "b", "c")])


async def test_only_nodes_that_the_extender_accepts_remain() -> None:
    service = Service(filter={"NodeNames": ["b"]}, prioritize=[])
    assert await choose(extenders(service), board()) == "b"
    assert sorted(service.requested["filter"]["NodeNames"]) == ["a", "b", "c"]
    assert service.requested["filter"]["Pod"] == {"metadata": {"name": "default/p"}}


async def test_response_fields_are_read_in_any_letter_case() -> None:
    assert await choose(extenders(Service(filter={"nodenames": ["c"]}, prioritize=[])), board()) == "c"


async def test_whole_nodes_are_sent_to_an_extender_without_node_cache() -> None:
    service = Service(filter={"Nodes": {"items": [{"metadata": {"name": "a"}}]}}, prioritize=[])
    assert await choose(extenders(service, node_cache_capable=False), board()) == "a"
    assert {"metadata": {"name": "c"}} in service.requested["filter"]["Nodes"]["items"]


async def test_reasons_of_the_extender_are_reported() -> None:
    failed = {"a": "no licence", "b": "no licence"}
    service = Service(filter={"NodeNames": [], "FailedNodes": failed, "FailedAndUnresolvableNodes": {"c": "too old"}})
    with pytest.raises(FitError) as raised:
        await choose(extenders(service), board())
    assert str(raised.value) == "0/3 nodes are available: 1 too old, 2 no licence."


async def test_scores_of_the_extender_decide() -> None:
    scores = [{"Host": "a", "Score": 1}, {"Host": "b", "Score": 9}]
    assert await choose(extenders(Service(prioritize=scores), filter_verb=""), board()) == "b"


async def test_a_failing_extender_stops_scheduling_unless_it_is_ignorable() -> None:
    with pytest.raises(ExtenderError, match="code 500"):
        await choose(extenders(Service()), board())
    assert await choose(extenders(Service(), ignorable=True), board()) in ("a", "b", "c")


@pytest.mark.parametrize("reply", [b"{", b'{"Error":' + NO_TEXT + b"}", DEEP], ids=["syntax", "no text", "deep"])
async def test_a_malformed_response_is_a_failure_of_the_extender(reply: bytes) -> None:
    with pytest.raises(ExtenderError, match="malformed JSON"):
        await choose(extenders(Service(filter=reply)), board())


async def test_an_extender_handles_only_pods_with_its_resources() -> None:
    service = Service()
    requested = extenders(service, managed_resources=frozenset({"example.com/gpu"}))
    assert await choose(requested, board()) in ("a", "b", "c")
    assert service.requested == {}


async def test_an_extender_can_bind_pods() -> None:
    service = Service(bind={})
    placed = pod("p", on="a")
    assert await ExtenderBinder(extenders(service)).bind(board().cycle(placed), placed)
    assert service.requested["bind"] == {"PodName": "p", "PodNamespace": "default", "PodUID": "p", "Node": "a"}


async def test_an_extender_can_choose_other_victims() -> None:
    there = board()
    for name in ("x", "y"):
        there.cache.set_pod(pod(name, on="a"))
    victims = (pod("x", on="a"), pod("y", on="a"))
    reply = {"NodeNameToMetaVictims": {"a": {"Pods": [{"UID": "y"}], "NumPDBViolations": 1}}}
    service = Service(preempt=reply)
    (agreed,) = await extenders(service).preempt(there.cycle(pod("p")), [Candidate("a", victims, 0)])
    assert [victim.name for victim in agreed.victims] == ["y"]
    assert agreed.violations == 1
    victims = service.requested["preempt"]["NodeNameToMetaVictims"]["a"]
    assert victims == {"Pods": [{"UID": "x"}, {"UID": "y"}], "NumPDBViolations": 0}
