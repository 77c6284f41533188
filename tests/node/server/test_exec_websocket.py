"""exec and attach over WebSockets, with the protocols of other clients."""

import asyncio
import base64
import json

import pytest
import websockets

from tests.node.server.served import Node, node, received

EXEC = "/exec/default/web/main?output=1&error=1"
SUCCESS = {"metadata": {}, "status": "Success"}


def shell(script: str, more: str = "") -> str:
    return f"{EXEC}{more}&command=sh&command=-c&command={script.replace(' ', '%20').replace(';', '%3B')}"


@pytest.mark.parametrize("protocol", ["v5.channel.k8s.io", "v4.channel.k8s.io"])
async def test_output_arrives_on_its_channels_before_the_status(protocol: str) -> None:
    async with node() as served, served.websocket(shell("echo out; echo err >%262; exit 3"), protocol) as websocket:
        found = await received(websocket)
        assert (found[1], found[2]) == (b"out\n", b"err\n")
        status = json.loads(found[3])
        assert status["reason"] == "NonZeroExitCode"
        assert status["message"] == "command terminated with non-zero exit code: exit status 3"
        assert status["details"]["causes"] == [{"reason": "ExitCode", "message": "3"}]
        assert websocket.close_code == 1000


async def test_success_is_sent_too() -> None:
    async with node() as served, served.websocket(shell("true"), "v4.channel.k8s.io") as websocket:
        assert json.loads((await received(websocket))[3]) == SUCCESS


async def test_command_may_be_as_long_as_the_api_server_accepts() -> None:
    words = "".join(f"&command={'x' * 99_999}" for _ in range(9))
    async with node() as served, served.websocket(f"{EXEC}&command=echo{words}", "v5.channel.k8s.io") as websocket:
        assert len((await received(websocket))[1]) == 900_000


@pytest.mark.parametrize("protocol", ["v3.channel.k8s.io", "v2.channel.k8s.io", "channel.k8s.io", ""])
async def test_old_protocols_send_failures_as_text(protocol: str) -> None:
    protocols = [protocol] if protocol else []
    async with node() as served:
        async with served.websocket(shell("exit 3"), *protocols) as websocket:
            assert (await received(websocket))[3] == b"command terminated with non-zero exit code: exit status 3"
        async with served.websocket(shell("true"), *protocols) as websocket:
            assert 3 not in await received(websocket)


async def test_first_message_is_empty() -> None:
    async with node() as served, served.websocket(shell("echo out"), "v4.channel.k8s.io") as websocket:
        assert await websocket.recv() == b"\x01"


async def test_base64_works_in_both_directions() -> None:
    async with node() as served:
        target = "/exec/default/web/main?output=1&input=1&command=head&command=-c3"
        async with served.websocket(target, "v4.base64.channel.k8s.io") as websocket:
            await websocket.send("0" + base64.b64encode(b"abc").decode())
            texts = [message async for message in websocket]
        assert all(isinstance(text, str) for text in texts)
        by_channel = [(str(text)[0], base64.b64decode(str(text)[1:])) for text in texts]
        assert ("1", b"abc") in by_channel
        assert json.loads(by_channel[-1][1]) == SUCCESS


async def test_client_ends_its_input_in_v5() -> None:
    target = shell("cat; echo end", "&input=1")
    async with node() as served, served.websocket(target, "v5.channel.k8s.io") as websocket:
        await websocket.send(b"\x00input\n")
        await websocket.send(b"\xff\x00")
        assert (await received(websocket))[1] == b"input\nend\n"


async def test_large_input_is_echoed_whole() -> None:
    sent = bytes(range(256)) * 20_000
    async with node() as served:
        target = "/exec/default/web/main?output=1&input=1&command=cat"
        async with served.websocket(target, "v5.channel.k8s.io") as websocket:

            async def send() -> None:
                for start in range(0, len(sent), 100_000):
                    await websocket.send(b"\x00" + sent[start : start + 100_000])
                await websocket.send(b"\xff\x00")

            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(send())
                found = await received(websocket)
        assert found[1] == sent


async def test_terminals_are_resized_and_have_no_stderr() -> None:
    async with node() as served:
        async with served.websocket(shell("cat", "&input=1&tty=1"), "v5.channel.k8s.io") as websocket:
            await websocket.send(b'\x04{"Width":80,"Hei')
            await websocket.send(b'\x04ght":24}{"Width":81,"Height":25}')
            session = await served.runtime.sessions.get()
            await session.resized.wait()
            assert session.sizes == [(80, 24), (81, 25)]
        assert not served.runtime.requests[0][1].stderr


async def test_session_ends_when_the_client_disconnects() -> None:
    async with node() as served:
        websocket = await served.websocket(shell("exec sleep 1000"), "v5.channel.k8s.io")
        session = await served.runtime.sessions.get()
        websocket.transport.abort()
        await session.closed.wait()


async def test_client_that_does_not_read_stops_the_process() -> None:
    async with node() as served:
        websocket = await served.websocket(shell("exec yes"), "v5.channel.k8s.io", max_queue=1)
        session = await served.runtime.sessions.get()
        before = -1
        while session.stdout_bytes != before or not before:
            before = session.stdout_bytes
            await asyncio.sleep(0.1)
        assert session.stdout_bytes < 20 << 20
        websocket.transport.abort()
        await session.closed.wait()


async def test_remaining_output_arrives_before_the_status() -> None:
    async with node() as served:
        async with served.websocket(shell("head -c 3000000 /dev/zero"), "v5.channel.k8s.io") as websocket:
            session = await served.runtime.sessions.get()
            found = await received(websocket)
            assert await session.wait() == 0
        assert len(found[1]) == 3_000_000
        assert json.loads(found[3]) == SUCCESS


async def test_process_may_outlive_its_output() -> None:
    async with node() as served:
        async with served.websocket(
            shell("exec >%26- 2>%26-; read x; exit 4", "&input=1"), "v5.channel.k8s.io"
        ) as client:
            await client.send(b"\x00go\n")
            status = json.loads((await received(client))[3])
        assert status["details"]["causes"][0]["message"] == "4"


async def test_client_that_still_sends_gets_the_status() -> None:
    async with node() as served:
        async with served.websocket(shell("head -c1", "&input=1"), "v5.channel.k8s.io") as websocket:

            async def send() -> None:
                try:
                    while True:
                        await websocket.send(b"\x00" + bytes(50_000))
                except websockets.ConnectionClosed:
                    pass

            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(send())
                found = await received(websocket)
        assert json.loads(found[3]) == SUCCESS


async def test_attach_sends_no_exit_code() -> None:
    async with node() as served:
        target = "/attach/default/web/main?output=1&input=1"
        async with served.websocket(target, "v5.channel.k8s.io") as websocket:
            await websocket.send(b"\x00hello")
            await websocket.send(b"\xff\x00")
            found = await received(websocket)
        assert found[1] == b"hello"
        assert json.loads(found[3]) == SUCCESS


async def test_unsupported_operation_is_sent_as_a_status() -> None:
    async with node() as served:
        served.runtime.unsupported = True
        async with served.websocket(shell("true"), "v5.channel.k8s.io") as websocket:
            status = json.loads((await received(websocket))[3])
        assert status["reason"] == "InternalError"
        expected = "Internal error occurred: error executing command in container: nothing runs here"
        assert status["message"] == expected


@pytest.mark.parametrize(
    ("target", "code", "text"),
    [
        ("/exec/default/web/main?command=true", 400, b"you must specify at least 1 of stdin, stdout, stderr"),
        ("/exec/default/web/main?output=1", 400, b"you must specify at least one command for the container"),
        ("/exec/default/none/main?output=1&command=true", 404, b"pod does not exist"),
        ("/exec/default/web/none?output=1&command=true", 500, b'container not found ("none")'),
        ("/exec/default/web/u-2/main?output=1&command=true", 404, b"pod not found"),
        ("/exec/default/web", 404, b"404 page not found\n"),
    ],
    ids=["streams", "command", "pod", "container", "uid", "path"],
)
async def test_invalid_requests_are_refused_before_the_upgrade(target: str, code: int, text: bytes) -> None:
    async with node() as served:
        assert await served.get(target) == (code, text)


async def refused(served: Node, *protocols: str) -> int:
    with pytest.raises(websockets.InvalidStatus) as caught:
        await served.websocket(shell("true"), *protocols)
    return caught.value.response.status_code


async def test_other_protocols_are_refused() -> None:
    async with node() as served:
        assert await refused(served, "v9.channel.k8s.io") == 403
