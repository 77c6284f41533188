"""Plug-ins that do not respond delay no others, and their number is limited."""

import asyncio
import socket
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("grpc", reason="needs the extra cri")

import grpc.aio

from sampan.csi.messages import REGISTRATION
from sampan.node.csi import plugins
from sampan.node.csi.plugins import PluginWatcher


@pytest.fixture
def directory() -> Iterator[Path]:
    """A short path, because sockets are in it."""
    with tempfile.TemporaryDirectory(prefix="csi-") as found:
        yield Path(found)


class Handler:
    """Records the plug-ins. The registration of plug-ins named `slow` does not end."""

    def __init__(self) -> None:
        self.registered: list[str] = []
        self.unregistered: list[str] = []
        self.running = self.most = 0

    async def register(self, name: str, endpoint: str, versions: list[str]) -> None:
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            if name.startswith("slow"):
                await asyncio.Event().wait()
            self.registered.append(name)
        finally:
            self.running -= 1

    async def unregister(self, name: str, endpoint: str) -> None:
        self.unregistered.append(name)


@asynccontextmanager
async def plugin(path: Path, name: str) -> AsyncIterator[None]:
    """A plug-in that registers with this name."""

    async def info(request: object, context: object) -> object:
        return REGISTRATION.message("PluginInfo")(type="T", name=name, supported_versions=["1.0.0"])

    async def notified(request: object, context: object) -> object:
        return REGISTRATION.message("RegistrationStatusResponse")()

    methods = {
        "GetInfo": (info, "InfoRequest"),
        "NotifyRegistrationStatus": (notified, "RegistrationStatus"),
    }
    handlers: dict[str, Any] = {
        method: grpc.unary_unary_rpc_method_handler(
            function,
            request_deserializer=REGISTRATION.message(request).FromString,
            response_serializer=lambda response: response.SerializeToString(),
        )
        for method, (function, request) in methods.items()
    }
    server = grpc.aio.server()
    server.add_generic_rpc_handlers(
        (grpc.method_handlers_generic_handler("pluginregistration.Registration", handlers),)
    )
    server.add_insecure_port(f"unix:{path}")
    await server.start()
    try:
        yield
    finally:
        await server.stop(None)


def silent(path: Path) -> socket.socket:
    """A socket that accepts connections into its queue and never responds."""
    sock = socket.socket(socket.AF_UNIX)
    sock.bind(str(path))
    sock.listen(1)
    return sock


async def until_registered(watcher: PluginWatcher, handler: Handler, name: str) -> None:
    async with asyncio.timeout(8):  # less than one call of a plug-in that does not respond
        while name not in handler.registered:
            watcher.look()
            await asyncio.sleep(0.05)


async def test_silent_plugins_delay_no_other(directory: Path) -> None:
    handler = Handler()
    watcher = PluginWatcher(directory, {"T": handler})
    with ExitStack() as sockets:
        for number in range(8):
            sockets.enter_context(silent(directory / f"a{number}.sock"))
        async with plugin(directory / "b.sock", "slow"), plugin(directory / "z.sock", "good"):
            await until_registered(watcher, handler, "good")
    await watcher.aclose()


async def test_a_registration_that_does_not_end_is_ended(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugins, "_REGISTRATION_S", 0.5)
    handler = Handler()
    watcher = PluginWatcher(directory, {"T": handler})
    async with plugin(directory / "a.sock", "slow"), asyncio.timeout(8):
        await watcher.begin(8)
        assert (handler.running, handler.most) == (0, 1)
        (directory / "a.sock").unlink()
        while not handler.unregistered:
            watcher.look()
            await asyncio.sleep(0.05)
    await watcher.aclose()


async def test_the_plugins_that_register_at_the_same_time_are_limited(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plugins, "TASKS_MAX", 2)
    handler = Handler()
    watcher = PluginWatcher(directory, {"T": handler})
    async with plugin(directory / "a", "slow 1"), plugin(directory / "b", "slow 2"), plugin(directory / "c", "slow 3"):
        await watcher.begin(1)
        assert handler.most == 2
        await watcher.aclose()
    assert handler.running == 0


def test_sockets_beyond_a_limit_are_ignored(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugins, "SOCKETS_MAX", 3)
    with ExitStack() as sockets:
        for number in range(5):
            sockets.enter_context(silent(directory / f"{number}.sock"))
        assert len(plugins.sockets_in(directory)) == 3
