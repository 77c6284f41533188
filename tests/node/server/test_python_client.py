"""Streams of the official Python client, connected directly to a node."""

import asyncio
import socket
import threading
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client as kubernetes_client
from kubernetes.stream import ws_client

from tests.node.server.served import Node, client_files, node
from tests.node.server.test_port_forward import port


@pytest.fixture
def configuration(tmp_path: Path) -> Any:
    """Credentials of a client with all permissions."""
    shown = client_files()
    file = tmp_path / "client.pem"
    file.write_bytes(shown.certificate_pem() + shown.key_pem())
    found = kubernetes_client.Configuration()
    found.verify_ssl = False
    found.cert_file = found.key_file = str(file)
    return found


def url(served: Node, path: str) -> str:
    return f"https://127.0.0.1:{served.server.port}{path}"


async def test_command_runs_with_its_output_and_exit_code(configuration: Any) -> None:
    def talk(target: str) -> tuple[str, str, str, int]:
        websocket = ws_client.WSClient(configuration, target, {}, capture_all=True)
        websocket.write_stdin("hello\n")
        if websocket.subprotocol == "v5.channel.k8s.io":
            websocket.close_channel(0)
        websocket.run_forever(timeout=10)
        found = websocket.subprotocol, websocket.read_stdout(), websocket.read_stderr(), websocket.returncode
        websocket.sock.shutdown()
        return found

    async with node() as served:
        query = "input=1&output=1&error=1&command=sh&command=-c&command=cat%3B%20echo%20err%20%3E%262%3B%20exit%204"
        target = url(served, f"/exec/default/web/main?{query}").replace("https", "wss")
        expected = ("v5.channel.k8s.io", "hello\n", "err\n", 4)
        assert await asyncio.to_thread(talk, target) == expected


async def test_port_is_forwarded(configuration: Any) -> None:
    def talk(target: str) -> bytes:
        forward = ws_client.portforward_call(
            configuration, "GET", target, query_params=[("ports", "80"), ("port", "80")], headers={}
        )
        wire: socket.socket = forward.socket(80)
        wire.setblocking(True)
        wire.sendall(b"hello")
        found = wire.recv(5)
        wire.close()
        forward.close()
        # The client's own thread closes the connection.
        for thread in threading.enumerate():
            if thread.name.startswith("Kubernetes port forward"):
                thread.join(10)
        return found

    async with node() as served, port(served, 80):
        target = url(served, "/portForward/default/web?port=80")
        assert await asyncio.to_thread(talk, target) == b"hello"
