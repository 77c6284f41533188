"""`kubectl logs, exec, attach, cp, port-forward`: through the server, to the node's server and back."""

import asyncio
import hashlib
import json
import os
import random
import socket
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from sampan.node.server.options import NodeServerOptions
from sampan.node.server.server import NodeServer
from tests.cli.server import Server
from tests.e2e.conftest import Api
from tests.e2e.kubectl import Kubectl
from tests.e2e.members import PATH, Members
from tests.node.server.fakes import POD, FakeRuntime

pytestmark = pytest.mark.e2e

PROTOCOLS = {
    "WebSocket": {"KUBECTL_REMOTE_COMMAND_WEBSOCKETS": "true", "KUBECTL_PORT_FORWARD_WEBSOCKETS": "true"},
    "SPDY": {"KUBECTL_REMOTE_COMMAND_WEBSOCKETS": "false", "KUBECTL_PORT_FORWARD_WEBSOCKETS": "false"},
}
IN_MAIN = ("web", "-c", "main")


@dataclass
class Node:
    """The server of a node, in a separate thread. Every Pod is the same one."""

    authority: str
    port: int = 0
    _listening: threading.Event = field(default_factory=threading.Event)
    _loop: asyncio.AbstractEventLoop | None = None
    _end: asyncio.Event | None = None

    def run(self) -> None:
        """Until `end`."""
        asyncio.run(self._run())

    async def _run(self) -> None:
        self._loop, self._end = asyncio.get_running_loop(), asyncio.Event()
        runtime = FakeRuntime()
        options = NodeServerOptions("127.0.0.1", 0, addresses=("127.0.0.1",), client_ca=self.authority)
        node = NodeServer(lambda namespace, name: (POD, runtime), options)
        echo = await asyncio.start_server(self._echo, "127.0.0.1", 0)
        runtime.ports[7] = echo.sockets[0].getsockname()[1]
        async with echo, asyncio.TaskGroup() as group:
            running = group.create_task(node.run())
            await node.ready()
            self.port = node.port
            self._listening.set()
            await self._end.wait()
            running.cancel()

    async def _echo(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(1 << 16):
            writer.write(data)
            await writer.drain()
        writer.close()

    def wait(self) -> None:
        """Until it listens."""
        assert self._listening.wait(20)

    def end(self) -> None:
        """End it."""
        if self._loop is not None and self._end is not None:
            self._loop.call_soon_threadsafe(self._end.set)


@pytest.fixture(scope="module")
def node(server: Server) -> Iterator[Node]:
    node = Node((server.data / "pki" / "ca.crt").read_text())
    thread = threading.Thread(target=node.run)
    thread.start()
    node.wait()
    yield node
    node.end()
    thread.join()


@pytest.fixture(scope="module")
def pod(node: Node, api: Api, shared: Kubectl, numbers: Iterator[int]) -> Kubectl:
    """kubectl in a namespace with the Pod `web`."""
    name = f"streams-{next(numbers)}"
    api.create("/api/v1/nodes", {"metadata": {"name": name}})
    addresses = [{"type": "InternalIP", "address": "127.0.0.1"}]
    endpoints = {"kubeletEndpoint": {"Port": node.port}}
    api.patch(f"/api/v1/nodes/{name}/status", {"status": {"addresses": addresses, "daemonEndpoints": endpoints}})
    pods = f"/api/v1/namespaces/{shared.namespace}/pods"
    containers = [{"name": each, "image": "host"} for each in ("main", "waiting")]
    api.create(pods, {"metadata": {"name": "web"}, "spec": {"nodeName": name, "containers": containers}})
    state = {"name": "main", "image": "", "imageID": "", "ready": True, "restartCount": 0, "state": {"running": {}}}
    api.patch(f"{pods}/web/status", {"status": {"phase": "Running", "containerStatuses": [state]}})
    return shared


@pytest.fixture(scope="module")
def behind(
    server: Server, api: Api, pod: Kubectl, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Kubectl, Members]]:
    """kubectl that reaches the same Pod through an extension API server, and that server."""
    pki = server.data / "pki"
    members = Members(server.port, server.token, pki / "apiserver.crt", pki / "apiserver.key")
    services, apis = f"/api/v1/namespaces/{pod.namespace}/services", "/apis/apiregistration.k8s.io/v1/apiservices"
    with members.running():
        ports = [{"port": members.port}]
        named = {"metadata": {"name": "members"}}
        api.create(services, {**named, "spec": {"type": "ExternalName", "externalName": "localhost", "ports": ports}})
        service = {"name": "members", "namespace": pod.namespace, "port": members.port}
        name = "v1.members.example.com"
        spec = {
            "group": "members.example.com",
            "version": "v1",
            "groupPriorityMinimum": 1,
            "versionPriority": 1,
            "service": service,
            "insecureSkipTLSVerify": True,
        }
        api.create(apis, {"metadata": {"name": name}, "spec": spec})
        pod("wait", "--for=condition=Available", f"apiservice/{name}", "--timeout=30s")
        config = tmp_path_factory.mktemp("behind") / "kubeconfig"
        url = f"https://127.0.0.1:{server.port}"
        config.write_text((server.data / "kubeconfig").read_text().replace(url, url + PATH))
        yield pod.with_environment(KUBECONFIG=str(config)), members
        api.request("DELETE", f"{apis}/{name}")


@pytest.fixture(
    params=[(place, protocol) for place in ("at", "behind") for protocol in PROTOCOLS], ids=" ".join, scope="module"
)
def speaking(request: pytest.FixtureRequest, pod: Kubectl, behind: tuple[Kubectl, Members]) -> Kubectl:
    """kubectl with one of the two protocols, at the server and through an aggregated API."""
    place, protocol = request.param
    return (behind[0] if place == "behind" else pod).with_environment(**PROTOCOLS[protocol])


def test_logs_are_the_containers(pod: Kubectl) -> None:
    assert pod("logs", *IN_MAIN) == "one\ntwo"
    assert pod("logs", "-f", *IN_MAIN, "--tail=5") == "one\ntwo"


def test_logs_come_through_an_aggregated_api(behind: tuple[Kubectl, Members]) -> None:
    kubectl, members = behind
    assert kubectl("logs", "-f", *IN_MAIN, "--tail=5") == "one\ntwo"
    assert f"/api/v1/namespaces/{kubectl.namespace}/pods/web/log" in members.requested


def test_a_container_that_waits_has_no_logs(pod: Kubectl) -> None:
    text = pod.fails("logs", "web", "-c", "waiting")
    assert 'container "waiting" in pod "web" is waiting to start' in text


def test_exec_gives_output_errors_and_the_exit_code(speaking: Kubectl) -> None:
    done = speaking.run("exec", *IN_MAIN, "--", "sh", "-c", "echo out; echo err >&2; exit 3")
    assert (done.returncode, done.stdout) == (3, "out\n")
    assert done.stderr == "err\ncommand terminated with exit code 3\n"


def test_input_of_a_command_arrives_complete(speaking: Kubectl) -> None:
    text = "0123456789abcdef" * (1 << 17)
    digest = hashlib.md5(text.encode()).hexdigest()
    assert speaking("exec", "-i", *IN_MAIN, "--", "md5sum", stdin=text).split()[0] == digest


def test_files_are_copied(speaking: Kubectl, tmp_path: Path) -> None:
    (tmp_path / "there").write_bytes(os.urandom(1 << 20))
    speaking("cp", str(tmp_path / "there"), f"{speaking.namespace}/web:{tmp_path}/here", "-c", "main")
    assert (tmp_path / "here").read_bytes() == (tmp_path / "there").read_bytes()


def test_attach_talks_to_the_process(speaking: Kubectl) -> None:
    assert speaking("attach", "-i", *IN_MAIN, stdin="hello") == "hello"


def test_a_port_is_forwarded(speaking: Kubectl) -> None:
    data = random.Random(1).randbytes(4 << 20)
    process = subprocess.Popen(
        [speaking.program, "--namespace", speaking.namespace, "port-forward", "web", ":7"],
        env=dict(speaking.environment),
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        port = int(process.stdout.readline().split(" ")[2].rsplit(":", 1)[1])
        with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
            sender = threading.Thread(target=connection.sendall, args=(data,))
            sender.start()
            got = bytearray()
            while len(got) < len(data):
                got += connection.recv(1 << 16)
            sender.join()
        assert got == data
    finally:
        process.kill()
        process.communicate()


def test_a_node_is_called_through_its_proxy(pod: Kubectl) -> None:
    name = json.loads(pod("get", "pod", "web", "-o", "json"))["spec"]["nodeName"]
    assert pod("get", "--raw", f"/api/v1/nodes/{name}/proxy/healthz") == "ok"
