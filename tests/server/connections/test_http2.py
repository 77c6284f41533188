"""HTTP/2 over TLS: many requests on one connection, and what bounds them."""

import asyncio
import contextlib
import gzip
from collections.abc import AsyncIterator

import httpx
import orjson
import pytest
from h2.errors import ErrorCodes
from h2.events import (
    ConnectionTerminated,
    InformationalResponseReceived,
    PingAckReceived,
    ResponseReceived,
    SettingsAcknowledged,
    StreamEnded,
    StreamReset,
)
from h2.settings import SettingCodes

from sampan.server.connections.settings import HttpSettings
from sampan.server.request import Handler, UserInfo
from sampan.server.tls.serving import HTTP_1, HTTP_2
from tests.server.cluster import served
from tests.server.frame import MASTER
from tests.server.http2_client import LIMIT, Http2Client, Route, Running, connected, running
from tests.server.tls_files import Files, make_files

HEAD = [(":method", "GET"), (":path", "/wait"), (":scheme", "https"), (":authority", "localhost")]
ONE_MS = HttpSettings(linger_s=0.001, quiet_s=0.001)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return make_files(tmp_path_factory.mktemp("tls"))


@contextlib.asynccontextmanager
async def conversation(
    files: Files, http: HttpSettings | None = None
) -> AsyncIterator[tuple[Route, Running, Http2Client]]:
    route = Route()
    async with running(files, route, http) as server, connected(server) as client:
        yield route, server, client


@contextlib.asynccontextmanager
async def httpx_client(
    files: Files, route: Handler, headers: dict[str, str] | None = None
) -> AsyncIterator[tuple[Running, httpx.AsyncClient]]:
    """A server that prefers HTTP/2, as httpx offers both."""
    async with (
        running(files, route, protocols=(HTTP_2, HTTP_1)) as server,
        httpx.AsyncClient(
            http2=True,
            verify=server.context(),
            base_url=f"https://localhost:{server.port}",
            trust_env=False,
            headers=headers,
        ) as client,
    ):
        yield server, client


# --- what is spoken


@pytest.mark.parametrize(
    ("offered", "desired", "chosen"),
    [
        ((HTTP_1, HTTP_2), (HTTP_2, HTTP_1), HTTP_1),
        ((HTTP_1, HTTP_2), (HTTP_2,), HTTP_2),
        ((HTTP_2, HTTP_1), (HTTP_1, HTTP_2), HTTP_2),
        ((HTTP_1,), (HTTP_2, HTTP_1), HTTP_1),
        ((HTTP_1,), (HTTP_2,), None),
        ((HTTP_1, HTTP_2), (), None),
    ],
    ids=["offer-both", "offer-h2", "prefer", "off-both", "off-h2", "no-alpn"],
)
async def test_the_protocol_is_negotiated(
    files: Files, offered: tuple[str, ...], desired: tuple[str, ...], chosen: str | None
) -> None:
    async with running(files, Route(), protocols=offered) as server:
        context = server.context(*desired) if desired else server.context("none")
        _, writer = await asyncio.open_connection("127.0.0.1", server.port, ssl=context, server_hostname="localhost")
        assert writer.get_extra_info("ssl_object").selected_alpn_protocol() == chosen
        writer.close()


# --- requests and answers


async def test_a_get_receives_a_response(files: Files) -> None:
    async with conversation(files) as (_, _, client):
        stream_id = client.request("GET", "/echo/a%20b?x=1", headers=[("x-a", "1"), ("x-a", "2")])
        response = await client.response(stream_id)
    assert (response.status, response.body) == (200, b"GET /echo/a b x=1 1, 2 0")
    assert response.headers["content-length"] == str(len(response.body))
    assert response.headers["content-type"] == "text/plain"
    assert response.headers["x-upper"] == "1"
    assert "date" in response.headers


async def test_headers_are_read_as_from_http_1(files: Files) -> None:
    async with conversation(files) as (_, _, client):
        response = await client.response(
            client.request("GET", "/headers", headers=[("cookie", "a=1"), ("cookie", "b=2")])
        )
    assert response.body == b"[('cookie', 'a=1; b=2'), ('host', 'localhost')]"


async def test_httpx_gets_many_responses_on_one_connection(files: Files) -> None:
    async with httpx_client(files, Route()) as (server, client):
        responses = await asyncio.gather(*(client.post(f"/echo/{i}", content=b"x" * i) for i in range(200)))
        assert {response.http_version for response in responses} == {"HTTP/2"}
        assert [response.text for response in responses] == [f"POST /echo/{i}   {i}" for i in range(200)]
        assert server.server.connection_count == 1


async def test_a_watch_and_many_gets_share_a_connection(files: Files) -> None:
    route = Route()
    async with httpx_client(files, route) as (server, client), client.stream("GET", "/watch") as watch:
        lines = watch.aiter_lines()
        for i in range(50):
            route.chunks.put_nowait(f"{i}\n".encode())
            got, line = await asyncio.gather(client.get(f"/echo/{i}"), anext(lines))
            assert (got.status_code, line) == (200, str(i))
        route.chunks.put_nowait(None)
        assert [line async for line in lines] == []
    assert (server.server.connection_count, route.finished) == (0, 1)


@pytest.mark.parametrize("size", [0, 1, 16384, 65535, 65536, 9 << 20])
async def test_responses_of_any_size_pass_the_windows(files: Files, size: int) -> None:
    async with httpx_client(files, Route()) as (_, client):
        response = await client.get(f"/big/{size}", headers={"accept-encoding": "identity"})
        assert len(response.content) == size


async def test_large_responses_are_gzipped_for_clients_that_accept_it(files: Files) -> None:
    async with conversation(files) as (_, _, client):
        response = await client.response(client.request("GET", "/big/1000000", headers=[("accept-encoding", "gzip")]))
    assert response.headers["content-encoding"] == "gzip"
    assert gzip.decompress(response.body) == b"x" * 1000000


@pytest.mark.parametrize("path", ["/big/100", "/watch"])
async def test_head_has_no_body(files: Files, path: str) -> None:
    async with conversation(files) as (_, _, client):
        assert (await client.fetch("HEAD", path)).body == b""
        assert (await client.fetch("GET", "/empty")).status == 204


@pytest.mark.parametrize("size", [1, 300_000, LIMIT])
async def test_bodies_up_to_the_limit_are_read(files: Files, size: int) -> None:
    async with httpx_client(files, Route()) as (_, client):
        assert (await client.put("/echo", content=b"x" * size)).text == f"PUT /echo   {size}"


@pytest.mark.parametrize("declared", [True, False])
async def test_a_body_beyond_the_limit_is_too_large_and_the_connection_lives(files: Files, declared: bool) -> None:
    async with conversation(files) as (_, _, client):
        size = LIMIT + 300_000
        headers = [("content-length", str(size))] if declared else []
        stream_id = client.request("PUT", "/echo", end=False, headers=headers)
        await client.upload(stream_id, b"x" * size)
        response = await client.response(stream_id)
        assert (response.status, b"RequestEntityTooLarge" in response.body) == (413, True)
        for _ in range(20):
            assert (await client.fetch("PUT", "/echo", b"x" * 60000)).status == 200


async def test_a_body_that_no_client_reads_is_not_taken_in_beyond_the_window(files: Files) -> None:
    async with conversation(files) as (route, _, client):
        stream_id = client.request("PUT", "/wait", end=False)
        await route.begun.wait()
        await client.wait(SettingsAcknowledged)
        upload = asyncio.create_task(client.upload(stream_id, b"x" * (1 << 20)))
        while client.h2.local_flow_control_window(stream_id):  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0)
        assert not upload.done()
        route.go.set()
        await upload
        assert (await client.response(stream_id)).body == b"done"
        assert (await client.wait(StreamReset, stream_id)).error_code == ErrorCodes.NO_ERROR
        assert (await client.fetch("PUT", "/echo", b"x" * 60000)).status == 200


async def test_a_client_that_waits_is_sent_100_continue(files: Files) -> None:
    async with conversation(files) as (_, _, client):
        stream_id = client.request("PUT", "/echo", end=False, headers=[("expect", "100-continue")])
        await client.wait(InformationalResponseReceived, stream_id)
        client.h2.send_data(stream_id, b"hi", end_stream=True)
        client.flush()
        assert (await client.response(stream_id)).body == b"PUT /echo   2"


async def test_a_fault_ends_its_stream_alone(files: Files, caplog: pytest.LogCaptureFixture) -> None:
    async with conversation(files) as (_, _, client):
        stream_id = client.request("GET", "/fault")
        assert (await client.wait(StreamReset, stream_id)).error_code == ErrorCodes.INTERNAL_ERROR
        assert (await client.fetch("GET", "/echo")).status == 200
    assert "ZeroDivisionError" in caplog.text


async def test_a_malformed_target_is_refused(files: Files) -> None:
    async with conversation(files) as (_, _, client):
        assert (await client.fetch("GET", "/a%zz")).status == 400


async def test_a_ping_is_acknowledged(files: Files) -> None:
    async with conversation(files) as (_, _, client):
        client.h2.ping(b"12345678")
        client.flush()
        assert (await client.wait(PingAckReceived)).ping_data == b"12345678"


async def test_the_api_is_served_to_a_real_client(files: Files) -> None:
    """A watch, many writes and reads, and a list that needs all windows, on one connection."""
    maps = "/api/v1/namespaces/default/configmaps"
    async with served() as api, httpx_client(files, api.server.handler, MASTER) as (server, client):
        async with client.stream("GET", f"{maps}?watch=1") as watch:
            bodies = [{"metadata": {"name": f"m{i}"}, "data": {"x": "y" * 9000}} for i in range(150)]
            made = await asyncio.gather(*(client.post(maps, json=body) for body in bodies))
            assert {response.status_code for response in made} == {201}
            lines = watch.aiter_lines()
            observed = [orjson.loads(await anext(lines))["object"]["metadata"]["name"] for _ in bodies]
            assert sorted(observed) == sorted(f"m{i}" for i in range(150))
            listed = await client.get(maps, headers={"accept-encoding": "identity"})
            assert (len(listed.json()["items"]), len(listed.content) > 1 << 20) == (150, True)
        assert server.server.connection_count == 1


# --- windows of the client


async def test_an_unread_stream_waits_and_another_one_continues(files: Files) -> None:
    async with conversation(files) as (route, _, client):
        client.acknowledges = False
        client.h2.update_settings({SettingCodes.INITIAL_WINDOW_SIZE: 1000})
        client.flush()
        await client.wait(SettingsAcknowledged)
        slow = client.request("GET", "/big/5000")
        while len(client.body(slow)) < 1000:
            await client.receive()
        assert (await client.fetch("GET", "/echo")).status == 200
        assert len(client.body(slow)) == 1000
        client.h2.increment_flow_control_window(4000, slow)
        client.flush()
        assert len((await client.response(slow)).body) == 5000
        assert route.finished == 0


async def test_the_window_of_the_connection_holds_all_streams_back(files: Files) -> None:
    async with conversation(files) as (_, _, client):
        client.acknowledges = False
        streams = [client.request("GET", "/big/40000") for _ in range(3)]
        while sum(len(client.body(stream)) for stream in streams) < 65535:
            await client.receive()
        client.h2.increment_flow_control_window(100_000)
        client.flush()
        assert [len((await client.response(stream)).body) for stream in streams] == [40000] * 3


async def test_a_client_that_takes_nothing_for_too_long_loses_its_stream(
    files: Files, caplog: pytest.LogCaptureFixture
) -> None:
    http = HttpSettings(write_timeout_s=0.01, linger_s=0.001)
    async with conversation(files, http) as (_, _, client):
        client.acknowledges = False
        stream_id = client.request("GET", "/big/70000")
        assert (await client.wait(StreamReset, stream_id)).error_code == ErrorCodes.CANCEL
    assert caplog.records == []


async def test_a_watch_waits_for_its_client(files: Files) -> None:
    async with conversation(files) as (route, _, client):
        client.acknowledges = False
        stream_id = client.request("GET", "/watch")
        for _ in range(10):
            route.chunks.put_nowait(b"x" * 20_000)
        while len(client.body(stream_id)) < 65535:
            await client.receive()
        assert route.chunks.qsize() >= 6
        client.h2.increment_flow_control_window(200_000)
        client.h2.increment_flow_control_window(200_000, stream_id)
        client.flush()
        while len(client.body(stream_id)) < 200_000:
            await client.receive()


# --- ends


async def test_a_watch_that_is_cancelled_ends_at_once(files: Files) -> None:
    async with conversation(files) as (route, _, client):
        stream_id = client.request("GET", "/watch")
        await client.wait(ResponseReceived, stream_id)
        await route.begun.wait()
        client.h2.reset_stream(stream_id, ErrorCodes.CANCEL)
        client.flush()
        await asyncio.wait_for(route.ended.wait(), 60)
        assert (await client.fetch("GET", "/echo")).status == 200
        assert route.finished == 1


@pytest.mark.parametrize(("method", "cancelled"), [("GET", True), ("POST", False)])
async def test_a_read_that_is_cancelled_stops_and_a_write_does_not(files: Files, method: str, cancelled: bool) -> None:
    async with conversation(files) as (route, _, client):
        stream_id = client.request(method, "/wait")
        await route.begun.wait()
        client.h2.reset_stream(stream_id, ErrorCodes.CANCEL)
        client.flush()
        assert (await client.fetch("GET", "/echo")).status == 200
        route.go.set()
        await asyncio.wait_for((route.ended if cancelled else route.written).wait(), 60)
        assert (route.ended.is_set(), route.written.is_set()) == (cancelled, not cancelled)


async def test_a_client_that_goes_ends_all_its_streams(files: Files) -> None:
    async with conversation(files) as (route, server, client):
        client.request("GET", "/watch")
        client.request("POST", "/gone")
        await route.begun.wait()
        client.writer.close()
        await asyncio.wait_for(route.ended.wait(), 60)
        await asyncio.wait_for(server.server.drain(5), 60)
        assert server.server.connection_count == 0


async def test_a_server_that_ends_ends_streams_properly_and_finishes_requests(files: Files) -> None:
    async with conversation(files, ONE_MS) as (route, server, client):
        watch, wait = client.request("GET", "/watch"), client.request("GET", "/wait")
        await client.wait(ResponseReceived, watch)
        await route.begun.wait()
        await server.server.close_streams()
        await client.wait(StreamEnded, watch)
        drain = asyncio.create_task(server.server.drain(5))
        assert (await client.wait(ConnectionTerminated)).last_stream_id == wait
        route.go.set()
        assert (await client.response(wait)).body == b"done"
        await drain


async def test_streams_opened_after_the_end_began_are_refused(files: Files) -> None:
    async with conversation(files, ONE_MS) as (route, server, client):
        client.request("GET", "/wait")
        await route.begun.wait()
        drain = asyncio.create_task(server.server.drain(5))
        await client.wait(ConnectionTerminated)
        late = client.request("GET", "/echo")
        assert (await client.wait(StreamReset, late)).error_code == ErrorCodes.REFUSED_STREAM
        route.go.set()
        await drain


async def test_an_anonymous_client_gets_one_response_before_the_connection_ends(files: Files) -> None:
    async with conversation(files, ONE_MS) as (route, _, client):
        route.user = UserInfo("system:anonymous")
        stream_id = client.request("GET", "/echo")
        assert (await client.response(stream_id)).status == 200
        assert (await client.wait(ConnectionTerminated)).last_stream_id == stream_id
        await client.closed()


async def test_a_real_client_that_is_unknown_takes_a_new_connection_each_time(files: Files) -> None:
    route = Route()
    route.user = UserInfo("system:anonymous")
    async with httpx_client(files, route) as (_, client):
        for i in range(5):
            assert (await client.get(f"/echo/{i}")).status_code == 200


async def test_a_connection_that_idles_is_reported_to_go(files: Files) -> None:
    async with conversation(files, ONE_MS) as (_, server, client):
        assert (await client.fetch("GET", "/echo")).status == 200
        now = asyncio.get_running_loop().time()
        server.server.sweep(now + ONE_MS.idle_timeout_s - 1)
        assert (await client.fetch("GET", "/echo")).status == 200
        server.server.sweep(now + ONE_MS.idle_timeout_s + 1)
        await client.wait(ConnectionTerminated)
        await client.closed()


# --- abuse


async def silent(server: Running) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    return await asyncio.open_connection("127.0.0.1", server.port, ssl=server.context(), server_hostname="localhost")


async def test_a_client_that_never_greets_is_closed(files: Files) -> None:
    async with running(files, Route(), ONE_MS) as server:
        reader, writer = await silent(server)
        writer.write(b"PRI * HTTP/2.0\r\n")
        await reader.readexactly(9)
        server.server.sweep(asyncio.get_running_loop().time() + ONE_MS.header_timeout_s + 1)
        await asyncio.wait_for(reader.read(), 60)
        writer.close()


async def test_more_streams_than_allowed_end_the_connection(files: Files) -> None:
    async with conversation(files, HttpSettings(http2_streams_max=2, linger_s=0.001)) as (route, _, client):
        client.request("GET", "/wait")
        client.request("GET", "/wait")
        await route.begun.wait()
        client.request("GET", "/wait")
        await client.wait(ConnectionTerminated)
        await asyncio.wait_for(route.ended.wait(), 60)


async def test_streams_that_are_reset_at_once_do_not_pile_up(files: Files) -> None:
    async with conversation(files, HttpSettings(http2_streams_max=2, linger_s=0.001)) as (route, _, client):
        for _ in range(9):
            stream_id = client.request("POST", "/wait")
            client.h2.reset_stream(stream_id, ErrorCodes.CANCEL)
            client.flush()
        assert (await client.wait(ConnectionTerminated)).error_code == ErrorCodes.ENHANCE_YOUR_CALM
        route.go.set()


async def test_reads_that_are_reset_at_once_leave_nothing_behind(files: Files) -> None:
    async with conversation(files, HttpSettings(http2_streams_max=2, linger_s=0.001)) as (route, _, client):
        for _ in range(20):
            for _ in range(4):
                stream_id = client.h2.get_next_available_stream_id()
                client.h2.send_headers(stream_id, HEAD, end_stream=True)
                client.h2.reset_stream(stream_id, ErrorCodes.CANCEL)
            assert (await client.fetch("GET", "/echo")).status == 200
        assert not route.begun.is_set()


async def test_a_stream_that_comes_and_goes_when_the_end_has_begun_is_no_fault(files: Files) -> None:
    async with conversation(files, ONE_MS) as (route, server, client):
        wait = client.request("GET", "/wait")
        await route.begun.wait()
        drain = asyncio.create_task(server.server.drain(5))
        await client.wait(ConnectionTerminated)
        stream_id = client.h2.get_next_available_stream_id()
        client.h2.send_headers(stream_id, HEAD, end_stream=True)
        client.h2.reset_stream(stream_id, ErrorCodes.CANCEL)
        client.h2.ping(b"12345678")
        client.flush()
        await client.wait(PingAckReceived)
        route.go.set()
        assert (await client.response(wait)).body == b"done"
        await drain


@pytest.mark.parametrize("size", [(1 << 20) + 10_000, 40 << 20], ids=["list", "frames"])
async def test_endless_headers_end_the_connection(files: Files, size: int) -> None:
    async with running(files, Route()) as server, connected(server) as client:
        fields = [(f"x-{i}", "a" * 8000) for i in range(min(size, 2 << 20) // 8000)]
        if size < 2 << 20:
            client.request("GET", "/echo", headers=fields)
        else:
            frame = b"\x00\x40\x00\x09\x00\x00\x00\x00\x01" + b"\x00" * 0x4000
            client.writer.write(b"\x00\x00\x00\x01\x00\x00\x00\x00\x01" + frame * 100)
        with contextlib.suppress(ConnectionError):
            await client.closed()
