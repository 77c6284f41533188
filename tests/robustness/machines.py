"""Three etcds and two servers, on loopback, with a proxy on each way from a server to an etcd.

Or, where the machine permits it, in a separate network, in which the second server reaches the etcds without proxies.
Each etcd may have a separate disk.
"""

import asyncio
import datetime
import json
import os
import shutil
import signal
import ssl
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import grpc

from sampan.server.pki.directory import prepare_credentials
from sampan.storage.etcd import EtcdSettings
from sampan.storage.etcd.connection import messages
from sampan.storage.etcd.connection.client import EtcdClient
from sampan.storage.etcd.connection.endpoint import EtcdEndpoint
from sampan.storage.etcd.connection.stream import WatchEndedByEtcd
from sampan.storage.signal import Signal
from tests.cli.server import NO_LOOPS
from tests.ports import free_ports
from tests.robustness.disks import Disk, disk, memory
from tests.robustness.jumping import FILE
from tests.robustness.network import LOOPBACK, Host, Network
from tests.robustness.proxy import Proxy
from tests.storage.etcd.server import Member

NAMESPACE = "robust"
KEYS = f"/registry/configmaps/{NAMESPACE}/"
START_S = 60.0
_SILENCE_S = 1.0
_ETCD_OPTIONS = ("--heartbeat-interval=50", "--election-timeout=500", "--pre-vote=true")
_PACKAGE = Path(__file__).parents[2]


class ApiServer:
    """One server, on a port that stays. `etcds`: URLs; some may be those of `proxies`."""

    def __init__(
        self, data: Path, host: Host, etcds: list[str], proxies: list[Proxy], options: tuple[str, ...]
    ) -> None:
        self.name = data.name
        self.data = data
        self.host = host
        self.port = free_ports(1)[0]
        self.proxies = proxies
        self.away: list[tuple[float, float]] = []
        """Periods in which it was stopped or dead: begin and end."""
        self._etcds = etcds
        self._options = options
        self._process: asyncio.subprocess.Process | None = None
        self._clock = data.with_suffix(".clock")

    @property
    def url(self) -> str:
        return f"https://{self.host.address}:{self.port}"

    @property
    def token(self) -> str:
        return (self.data / "admin.token").read_text().strip()

    def tls(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=str(self.data / "pki" / "ca.crt"))

    async def start(self) -> None:
        """Start it, and wait until it serves. Raises `AssertionError` with its log."""
        self.jump(0)
        line = [*self.host.prefix, sys.executable, "-m", "tests.robustness.jumping", "up", f"--data={self.data}"]
        line += [f"--bind={self.host.address}", f"--port={self.port}", "--storage=etcd"]
        line += [f"--etcd-servers={','.join(self._etcds)}", *self._options]
        paths = [str(_PACKAGE / "src"), str(_PACKAGE)]
        environment = {**os.environ, FILE: str(self._clock), "PYTHONPATH": os.pathsep.join(paths)}
        with self.log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *line, stdout=asyncio.subprocess.PIPE, stderr=log, env=environment
            )
        assert self._process.stdout is not None
        async with asyncio.timeout(START_S):
            output = await self._process.stdout.readline()
        assert output.startswith(b"ready"), self.log.read_text()[-4000:]

    @property
    def log(self) -> Path:
        return self.data.with_suffix(".log")

    @property
    def alive(self) -> bool:
        return self._process is not None and self._process.returncode is None

    def send(self, number: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(number)

    async def kill(self) -> None:
        """kill -9. Idempotent."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()
            self._process._transport.close()  # type: ignore[attr-defined]  # else its pipe is closed by the collector
            self._process = None

    async def stop(self) -> None:
        """Let it end by itself."""
        assert self._process is not None
        self._process.terminate()
        async with asyncio.timeout(START_S):
            await self._process.wait()
        await self.kill()

    def jump(self, seconds: float) -> None:
        """Its clock is wrong by so much."""
        fresh = self._clock.with_suffix(".new")
        fresh.write_text(str(seconds))
        fresh.replace(self._clock)


@dataclass
class Machines:
    """All of it."""

    members: list[Member]
    servers: list[ApiServer]
    network: Network | None = None
    disks: tuple[Disk, ...] = ()
    """The disks of the members, in the order of the members. Empty: all members write to the same file system."""

    def part(self, server: ApiServer, member: Member) -> None:
        """Drop all packets between a server and a member."""
        if server.proxies:
            server.proxies[self.members.index(member)].block()
        else:
            assert self.network is not None
            self.network.part(server.host, host_of(member))

    def repair(self) -> None:
        """All reach all."""
        if self.network is not None:
            self.network.repair()
        for server in self.servers:
            for proxy in server.proxies:
                proxy.repair()

    async def revive(self) -> None:
        """Start those etcds that ended."""
        dead = [member for member in self.members if member.process is None or member.process.poll() is not None]
        for member in dead:
            member.kill()
            member.start(self.members)
        await asyncio.gather(*(asyncio.to_thread(member.wait) for member in dead))

    async def leader(self) -> Member:
        """The etcd that leads, or else the first one that lives."""
        for member in self.members:
            if member.process is None:
                continue
            endpoint = EtcdEndpoint(member.url, EtcdSettings((member.url,)))
            try:
                status = await endpoint.call(messages.STATUS, messages.StatusRequest(), 1)
                if status.leader == status.header.member_id:
                    return member
            except grpc.aio.AioRpcError:
                continue
            finally:
                await endpoint.close()
        return next(member for member in self.members if member.process is not None)

    async def alarm(self, *, on: bool) -> None:
        """Raise etcd's alarm that it has no space, or take it back."""
        action = b"\x08\x01" if on else b"\x08\x02"
        async with grpc.aio.insecure_channel(self.members[0].url.partition("//")[2]) as channel:
            call = channel.unary_unary("/etcdserverpb.Maintenance/Alarm", bytes, bytes)
            await call(action + b"\x18\x01", timeout=10)


def host_of(member: Member) -> Host:
    """Return the place of a member in the network."""
    return Host(member.address, tuple(member.prefix))


@asynccontextmanager
async def machines(
    directory: Path, *options: str, network: Network | None = None, with_disks: bool = False
) -> AsyncIterator[Machines]:
    """They run until the end of the block. `options`: of the servers, in place of those of servers without loops."""
    async with AsyncExitStack() as stack:
        disks = _disks(directory, stack) if with_disks else ()
        members = await _members(directory, stack, network, durable=bool(disks))
        data = [directory / "a", directory / "b"]
        prepare_credentials(data[0], ["127.0.0.1", "localhost"], datetime.datetime.now(datetime.UTC))
        shutil.copytree(data[0], data[1])
        hosts = [network.host(), network.host()] if network is not None else [LOOPBACK, LOOPBACK]
        options = options or NO_LOOPS
        servers = [await _proxied(stack, data[0], hosts[0], members, options)]
        if network is None:
            servers.append(await _proxied(stack, data[1], hosts[1], members, options))
        else:
            servers.append(ApiServer(data[1], hosts[1], [member.url for member in members], [], options))
        for server in servers:
            stack.push_async_callback(server.kill)
        await asyncio.gather(*(server.start() for server in servers))
        yield Machines(members, servers, network, disks)


async def _proxied(
    stack: AsyncExitStack, data: Path, host: Host, members: list[Member], options: tuple[str, ...]
) -> ApiServer:
    proxies = []
    for member in members:
        proxies.append(proxy := Proxy(member.address, member.port, host.router))
        await proxy.start()
        stack.push_async_callback(proxy.close)
    etcds = [f"http://{host.router}:{proxy.port}" for proxy in proxies]
    return ApiServer(data, host, etcds, proxies, options)


def _disks(directory: Path, stack: AsyncExitStack) -> tuple[Disk, ...]:
    images = stack.enter_context(memory(directory / "images"))
    return tuple(stack.enter_context(disk(directory / f"m{number}", images)) for number in range(3))


async def _members(directory: Path, stack: AsyncExitStack, network: Network | None, *, durable: bool) -> list[Member]:
    ports = free_ports(6)
    members = []
    for number in range(3):
        host = network.host() if network is not None else LOOPBACK
        port, peer_port = ports[2 * number : 2 * number + 2]
        member = Member(f"m{number}", directory / f"m{number}", port, peer_port, _ETCD_OPTIONS)
        members.append(replace(member, address=host.address, prefix=host.prefix, durable=durable))
    for member in members:
        member.directory.mkdir(parents=True, exist_ok=True)
        member.start(members)
        stack.callback(member.kill)
    await asyncio.gather(*(asyncio.to_thread(member.wait) for member in members))
    return members


class Committed:
    """Follows etcd itself, not through any server or proxy: what was committed to the keys of the test.

    Concurrency: `run` is one task, which ends by cancellation.
    """

    def __init__(self, members: list[Member]) -> None:
        self.changes: list[tuple[int, str, str | None]] = []
        self.revision = 0
        self._moved = Signal()
        self._client = EtcdClient(EtcdSettings(tuple(member.url for member in members), attempt_s=1.0))

    async def run(self) -> None:
        """Take in what is committed, from the first revision on.

        A watch that is silent is started again: with some versions of etcd, a watch stays silent for ever after its
        history was compacted.
        """
        start, end = KEYS.encode(), KEYS[:-1].encode() + b"0"
        while True:
            with suppress(grpc.aio.AioRpcError, TimeoutError, WatchEndedByEtcd):
                async with self._client.watch(start, end, self.revision + 1) as stream:
                    while (response := await stream.next_within(_SILENCE_S)) is not None:
                        self._take(response)
            await asyncio.sleep(0.05)

    def _take(self, response: Any) -> None:
        for event in response.events:
            key = event.kv.key.decode().removeprefix(KEYS)
            value = None if event.type == messages.DELETE else json.loads(event.kv.value)["data"]["v"]
            self.changes.append((event.kv.mod_revision, key, value))
            self.revision = event.kv.mod_revision
            self._moved.notify()

    async def reached(self, revision: int) -> None:
        """Returns when it has taken in this revision."""
        while self.revision < revision:
            await self._moved.wait()

    async def compact(self) -> None:
        """Have etcd forget what was taken in already."""
        with suppress(grpc.aio.AioRpcError):
            await self._client.call(messages.COMPACT, messages.CompactionRequest(revision=self.revision))

    async def close(self) -> None:
        await self._client.close()
