"""exec over SPDY."""

import asyncio
import json

from sampan.node.server.spdy.frames import Ping, RstStream
from tests.node.server.served import node
from tests.node.server.spdy_client import SpdyClient, spdy
from tests.node.server.test_exec_websocket import SUCCESS, shell

V4, V1 = "v4.channel.k8s.io", "channel.k8s.io"


async def streams(client: SpdyClient, *kinds: str) -> dict[str, int]:
    return {kind: await client.begin(streamType=kind) for kind in kinds}


async def test_output_arrives_on_its_streams_before_the_status() -> None:
    async with node() as served, spdy(served, shell("echo out; echo err >%262; exit 3"), V4, "v3.x", V1) as client:
        ids = await streams(client, "error", "stdout", "stderr")
        await client.until_over(*ids.values())
        assert client.received[ids["stdout"]] == b"out\n"
        assert client.received[ids["stderr"]] == b"err\n"
        assert json.loads(client.received[ids["error"]])["details"]["causes"][0]["message"] == "3"
        assert client.replied == set(ids.values())
        await client.until_gone()


async def test_input_ends_with_its_stream() -> None:
    sent = bytes(range(256)) * 10_000
    async with node() as served, spdy(served, shell("cat; echo end", "&input=1"), V4) as client:
        ids = await streams(client, "error", "stdin", "stdout", "stderr")
        await client.write(ids["stdin"], sent, fin=True)
        await client.until_over(ids["error"])
        assert client.received[ids["stdout"]] == sent + b"end\n"
        assert json.loads(client.received[ids["error"]]) == SUCCESS


async def test_old_protocols_send_failures_as_text() -> None:
    async with node() as served, spdy(served, shell("exit 3"), V1) as client:
        ids = await streams(client, "error", "stdout", "stderr")
        await client.until_over(ids["error"])
        expected = b"command terminated with non-zero exit code: exit status 3"
        assert client.received[ids["error"]] == expected


async def test_terminals_are_resized() -> None:
    async with node() as served, spdy(served, shell("cat", "&input=1&tty=1"), V4) as client:
        ids = await streams(client, "error", "stdin", "stdout", "resize")
        await client.write(ids["resize"], b'{"Width":80,"Height":24}\n')
        session = await served.runtime.sessions.get()
        await session.resized.wait()
        assert session.sizes == [(80, 24)]
        await client.write(ids["stdin"], b"", fin=True)
        await client.until_over(ids["error"])


async def test_streams_that_were_not_selected_are_reset() -> None:
    async with node() as served, spdy(served, shell("true"), V4) as client:
        stream_id = await client.begin(streamType="stdin")
        await client.until_frame(RstStream(stream_id, 5))


async def test_pings_are_returned() -> None:
    async with node() as served, spdy(served, shell("true"), V4) as client:
        await client.send(Ping(1))
        await client.until_frame(Ping(1))


async def test_session_ends_when_the_client_disconnects() -> None:
    async with node() as served, spdy(served, shell("exec sleep 1000"), V4) as client:
        await streams(client, "error", "stdout", "stderr")
        session = await served.runtime.sessions.get()
        client.wire.writer.transport.abort()  # type: ignore[attr-defined]  # it is a TcpWire
        await session.closed.wait()


async def test_unread_input_stops_the_client() -> None:
    async with node() as served, spdy(served, shell("exec sleep 1000", "&input=1"), V4) as client:
        ids = await streams(client, "error", "stdin", "stdout", "stderr")
        written = 0

        async def flood() -> None:
            nonlocal written
            while True:
                await client.write(ids["stdin"], bytes(30_000))
                written += 30_000

        task = asyncio.create_task(flood())
        before = -1
        while written != before or not before:
            before = written
            await asyncio.sleep(0.1)
        assert written < 20 << 20
        task.cancel()
        (await served.runtime.sessions.get()).process.kill()


async def test_handshake_without_protocol_is_refused() -> None:
    upgrade = "Upgrade: SPDY/3.1\r\nConnection: Upgrade\r\n"
    async with node() as served:
        code, body = await served.get(shell("true"), method="POST", headers=upgrade)
        assert (code, body.startswith(b"unable to upgrade: header X-Stream-Protocol-Version")) == (400, True)
        headers = f"{upgrade}X-Stream-Protocol-Version: v9.x\r\n"
        code, body = await served.get(shell("true"), method="POST", headers=headers)
        assert (code, body.startswith(b"unable to upgrade: unable to negotiate protocol")) == (403, True)
        code, body = await served.get(shell("true"), headers=f"X-Stream-Protocol-Version: {V4}\r\n")
        assert (code, body) == (400, b"unable to upgrade: missing upgrade headers in request\n")
