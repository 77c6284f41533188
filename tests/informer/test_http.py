"""The watch-fault matrix on the wire: real sockets, a real client, a server that breaks its answers."""

import pytest

from sampan.client.retries.backoff import Backoff
from sampan.informer import InformerSettings, ReflectorSettings, SharedInformer
from sampan.testing.time.virtual_time import settle
from sampan.wire import json
from tests.informer.server import EXPIRED_EVENT, WIDGETS, FakeServer, Recorder, running, state_of, status, store_of
from tests.informer.wire import HEAD, Fault, chunk, falls_silent, plain, sends, served

EXPIRED_LINE = b'{"type":"ERROR","object":%b}\n' % bytes(EXPIRED_EVENT.object)
HALF_AN_EVENT = b'{"type":"ADDED","object":{"metadata":{"name":"z'

FAULTS: dict[str, Fault] = {
    "410-answered": sends(plain(410, json.encode(status(410, "Expired")))),
    "410-in-the-stream": sends(HEAD, chunk(EXPIRED_LINE), b"0\r\n\r\n"),
    "429-answered": sends(plain(429, json.encode(status(429, "TooManyRequests")))),
    "500-answered": sends(plain(500, json.encode(status(500, "InternalError")))),
    "500-of-a-proxy": sends(plain(500, b"<html>oh</html>", "text/html")),
    "502-of-a-proxy": sends(plain(502, b"<html>bad gateway</html>", "text/html")),
    "504-of-a-proxy": sends(plain(504, b"<html>gateway timeout</html>", "text/html")),
    "504-too-large": sends(plain(504, json.encode(status(504, "Timeout", "Too large resource version: 999")))),
    "closed-before-the-head": sends(),
    "closed-in-the-head": sends(HEAD[:30]),
    "closed-in-the-body": sends(HEAD),
    "closed-in-an-event": sends(HEAD, chunk(HALF_AN_EVENT)),
    "closed-in-a-chunk": sends(HEAD, b"ff\r\n", HALF_AN_EVENT),
    "ended-in-an-event": sends(HEAD, chunk(HALF_AN_EVENT), b"0\r\n\r\n"),
    "a-garbled-line": sends(HEAD, chunk(HALF_AN_EVENT + b"\n"), b"0\r\n\r\n"),
    "bytes-that-are-no-http": sends(b"\x00\x01\x02 oh\r\n\r\n"),
    "a-garbled-chunk-length": sends(HEAD, b"zz\r\n"),
    "half-open": falls_silent,
    "ended-at-once": sends(HEAD, b"0\r\n\r\n"),
}

FAST = Backoff(0.01, factor=2.0, jitter=0.0, cap_s=0.1)


@pytest.mark.parametrize("streaming", [False, True], ids=["lists", "streams"])
@pytest.mark.parametrize("fault", FAULTS)
async def test_one_fault_on_the_wire_loses_nothing(fault: str, streaming: bool) -> None:
    server = FakeServer(has_streaming_lists=streaming)
    server.put("a")
    server.put("b")
    reflector = ReflectorSettings(
        streaming=streaming, backoff=FAST, idle_timeout_without_bookmarks_s=0.1, stream_stall_s=0.1
    )
    async with served(server) as (loopback, client):
        loopback.faults.append(FAULTS[fault])
        list_watch = client.resource(WIDGETS, namespace="").list_watch()
        informer = SharedInformer(list_watch, WIDGETS, settings=InformerSettings(reflector))
        handler = Recorder()
        informer.add_handler(handler)
        async with running(informer):
            await informer.synced()
            server.put("c")
            server.delete("a")
            await informer.at_least(str(server.version), timeout_s=5)
            server.put("b")
            await informer.at_least(str(server.version), timeout_s=5)
            assert store_of(informer) == state_of(server)
            assert loopback.requests <= 8
            await settle(lambda: handler.present() == state_of(server))
            assert handler.present() == state_of(server)


async def test_a_server_that_closes_every_watch_is_not_flooded_on_the_wire() -> None:
    server = FakeServer()
    server.put("a")
    async with served(server) as (loopback, client):
        loopback.faults.extend([sends(HEAD, b"0\r\n\r\n")] * 1000)
        reflector = ReflectorSettings(streaming=False, backoff=Backoff(0.1))
        list_watch = client.resource(WIDGETS, namespace="").list_watch()
        informer = SharedInformer(list_watch, WIDGETS, settings=InformerSettings(reflector))
        async with running(informer):
            with pytest.raises(TimeoutError):
                await informer.at_least("999", timeout_s=0.5)
        assert 3 <= loopback.requests <= 10
