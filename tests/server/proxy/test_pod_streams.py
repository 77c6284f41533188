"""pods/exec, attach and portforward: the request to the kubelet, and authorization."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from sampan.server.admission.chain import Attributes
from sampan.server.authorization.authorizer import ALLOWED, NO_OPINION, Verdict
from sampan.server.request import RequestInfo, UserInfo
from tests.server.cluster import ApiResponse
from tests.server.frame import JANE
from tests.server.proxy.kubelet import PODS, Cell, cell
from tests.server.proxy.upstream import ReceivedRequest
from tests.server.test_websocket import listening

UPGRADE = {"connection": "Upgrade", "upgrade": "SPDY/3.1"}
SWITCHED = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n"


async def echo(requested: ReceivedRequest) -> None:
    await requested.send(SWITCHED)
    while data := await requested.reader.read(1 << 16):
        await requested.send(data)


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[Cell]:
    async with cell(tmp_path, echo) as made:
        await made.add_pod()
        yield made


async def fetch(here: Cell, path: str, method: str = "POST", **headers: str) -> ApiResponse:
    response = await here.api.fetch(method, f"{PODS}/{path}", **{**UPGRADE, **headers})
    if response.response.finished is not None:
        response.response.finished()
    return response


@pytest.mark.parametrize(
    ("path", "target"),
    [
        (
            "p/exec?command=sh&command=-c&command=echo+a%26b&stdin=true&stdout=1&stderr=false&tty",
            "/exec/default/p/c?command=sh&command=-c&command=echo+a%26b&input=1&output=1&tty=1",
        ),
        ("p/attach?container=c&stderr=true", "/attach/default/p/c?error=1"),
        ("p/portforward", "/portForward/default/p"),
        ("p/portforward?ports=80,81&ports=82", "/portForward/default/p?port=80%2C81%2C82"),
    ],
    ids=["exec", "attach", "portforward", "ports"],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_a_stream_goes_to_the_kubelet(here: Cell, method: str, path: str, target: str) -> None:
    response = await fetch(here, path, method)
    assert response.code == 101
    assert (here.kubelet.last.method, here.kubelet.last.target) == (method, target)
    assert here.kubelet.last.headers["upgrade"] == "SPDY/3.1"


@pytest.mark.parametrize("words", [("exec", "?command=x"), ("attach", ""), ("portforward", "")], ids=lambda w: w[0])
async def test_a_pod_without_a_node_is_refused(here: Cell, words: tuple[str, str]) -> None:
    await here.add_pod("q", node=None)
    response = await fetch(here, f"q/{words[0]}{words[1]}")
    assert (response.code, response.message) == (400, "pod q does not have a host assigned")


@pytest.mark.parametrize(
    ("path", "code", "message"),
    [
        ("x/exec?command=a", 404, 'pods "x" not found'),
        ("p/exec?container=d", 400, "container d is not valid for pod p"),
        ("p/exec?dryRun=All", 400, "dryRun is not supported"),
        ("p/portforward?ports=x", 400, 'invalid port "x" in the parameter ports: must be 0 to 65535'),
        (
            f"p/portforward?ports=1{'0' * 5000}",
            400,
            f'invalid port "1{"0" * 5000}" in the parameter ports: must be 0 to 65535',
        ),
    ],
)
async def test_an_invalid_stream_request_is_refused(here: Cell, path: str, code: int, message: str) -> None:
    response = await fetch(here, path)
    assert (response.code, response.message) == (code, message)


async def test_without_an_upgrade_it_is_400(here: Cell) -> None:
    response = await here.api.fetch("POST", f"{PODS}/p/exec?command=x")
    assert (response.code, response.message) == (400, "Upgrade request required")


async def test_admission_sees_the_options(here: Cell) -> None:
    class RecordingPlugin:
        name, operations, resources = "Recording", frozenset({"CONNECT"}), None

        def __init__(self) -> None:
            self.received: list[Attributes] = []

        async def validate(self, attributes: Attributes) -> None:
            self.received.append(attributes)

    plugin, chain = RecordingPlugin(), here.api.server.admission
    chain.__init__([plugin])  # type: ignore[misc]  # the chain that the server holds, with another plug-in
    await fetch(here, "p/exec?command=sh&stdin=true&container=c")
    (attributes,) = plugin.received
    assert (attributes.gvk.kind, attributes.subresource, attributes.name) == ("PodExecOptions", "exec", "p")
    assert attributes.obj is not None
    assert {"command": ["sh"], "stdin": True, "container": "c"}.items() <= attributes.obj.items()


@pytest.mark.parametrize(("verbs", "code"), [({"get"}, 403), ({"get", "create"}, 101)], ids=["get", "both"])
async def test_a_websocket_needs_the_right_to_create(here: Cell, verbs: set[str], code: int) -> None:
    async def authorize(user: UserInfo, info: RequestInfo) -> Verdict:
        return ALLOWED if info.verb in verbs else NO_OPINION

    here.api.server.authorizer.authorize = authorize  # type: ignore[method-assign]  # the test's own rights
    assert (await fetch(here, "p/exec?command=x", "GET", **JANE)).code == code


async def test_bytes_go_through_the_whole_server(here: Cell) -> None:
    async with listening(here.api.server.handler) as (_, port), asyncio.timeout(60):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        head = f"POST {PODS}/p/exec?command=x HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n"
        writer.write(f"{head}Authorization: Bearer master-token\r\n\r\n".encode())
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 101 ")
        writer.write(b"there and back")
        assert await reader.readexactly(14) == b"there and back"
        assert "authorization" not in here.kubelet.last.headers
        writer.close()
        await here.kubelet.ended.wait()
