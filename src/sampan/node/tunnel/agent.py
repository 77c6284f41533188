"""`TunnelAgent`: keeps a tunnel from a node to each API server.

The servers are the one of the kubeconfig, and those of the EndpointSlice `kubernetes`, which is read again regularly.
So a request to a Pod may arrive at any server.

Concurrency: `run` has a task for each server, which opens the tunnel, serves it, and opens it again after its end, with
a growing delay.
"""

import asyncio
import ipaddress
import logging
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, Final

from sampan.client import Client, ClientError, Config, ListOptions
from sampan.client.retries.backoff import Backoff
from sampan.client.stack import credential_source
from sampan.component_base.resources import ENDPOINT_SLICES
from sampan.core.addresses.dial import AddressNotAllowed, check_address
from sampan.core.event_loop.task_scope import TaskScope
from sampan.http.client import HttpClientSettings, HttpRequest, HttpTransport, ProxyAddress, ServerAddress, Tunnel
from sampan.node.tunnel.targets import TunnelTargets
from sampan.resource import meta
from sampan.streams.limits import DEFAULT_LIMITS, StreamLimits
from sampan.streams.session import StreamSession
from sampan.streams.tunnels import PATH, UPGRADE
from sampan.wire import json

SERVERS_S: Final = 30.0
"""Seconds between two reads of the servers."""
SERVERS_MAX: Final = 32
SLICE: Final = "kubernetes"
"""EndpointSlice of the API servers. Source: pkg/controlplane/reconcilers/endpointsadapter.go (1.36)."""
STABLE_S: Final = 60.0
"""Lifetime of a tunnel after which the next delay is short again."""
OPEN_TIMEOUT_S: Final = 30.0
_BACKOFF: Final = Backoff(0.5, factor=2.0, jitter=1.0, cap_s=15.0)
_SETTINGS: Final = HttpClientSettings(compression=False, buffer_bytes_max=256 << 10, head_bytes_max=64 << 10)
_MESSAGE_CHARACTERS_MAX: Final = 300

_log = logging.getLogger("sampan.node.tunnel")


class TunnelRefused(Exception):
    """The server has opened no tunnel. The text has its response."""


class TunnelAgent:
    """Tunnels of one node. `client` reads the EndpointSlices. Servers refuse the tunnel before `registered` returns."""

    needs_leader_election = False

    def __init__(
        self,
        config: Config,
        client: Client,
        node: str,
        targets: TunnelTargets,
        *,
        registered: Callable[[], Awaitable[None]],
        limits: StreamLimits = DEFAULT_LIMITS,
    ) -> None:
        self._config = config
        self._slices = client.resource(ENDPOINT_SLICES, namespace="default")
        self._node = node
        self._targets = targets
        self._registered = registered
        self._limits = limits
        self._own = ServerAddress.parse(config.server)
        self._servers: list[ServerAddress] = []

    def __str__(self) -> str:
        return "tunnels to the API servers"

    async def run(self) -> None:
        """Keep the tunnels until cancelled."""
        await self._registered()
        running: dict[ServerAddress, asyncio.Task[None]] = {}
        async with TaskScope() as tasks:
            while True:
                desired = [self._own, *await self._listed()]
                for server in desired:
                    if server not in running or running[server].done():
                        running[server] = tasks.begin(self._keep(server), f"tunnel to {server}")
                for server in [each for each in running if each not in desired]:
                    running.pop(server).cancel()
                await asyncio.sleep(SERVERS_S)

    async def _listed(self) -> list[ServerAddress]:
        """Return the servers of the Service `kubernetes` besides the configured one; after an error the known ones."""
        options = ListOptions(label_selector="kubernetes.io/service-name=kubernetes")
        try:
            found = await self._slices.list(options)
        except ClientError as error:
            _log.debug("cannot read the addresses of the API servers: %s", error)
            return self._servers
        # API servers keep only the slice of this name. Other users can create more with the same label.
        own = [item for item in found.items if meta(item).name == SLICE]
        addresses = dict.fromkeys(each for item in own for each in _addresses(item, self._own.scheme))
        self._servers = [each for each in addresses if self._is_other(each)][:SERVERS_MAX]
        return self._servers

    def _is_other(self, server: ServerAddress) -> bool:
        """Return True for a server to connect to. A loopback address is one of the server's machine."""
        return server != self._own and (is_loopback(self._own.host) or not is_loopback(server.host))

    async def _keep(self, server: ServerAddress) -> None:
        delays, loop = _BACKOFF.delays(), asyncio.get_running_loop()
        failure = ""
        while True:
            began = loop.time()
            try:
                reason = await self._serve(server)
            except (ClientError, OSError, ValueError, TunnelRefused) as error:
                reason = str(error) or type(error).__name__
            if loop.time() - began > STABLE_S:
                delays, failure = _BACKOFF.delays(), ""
            level = logging.DEBUG if reason in (failure,) else logging.WARNING
            failure = reason
            _log.log(level, "no tunnel to the server, retrying: %s", reason, extra={"server": str(server)})
            await asyncio.sleep(_next(delays))

    async def _serve(self, server: ServerAddress) -> str:
        """Open a tunnel, serve it, and return the reason of its end.

        Raises `ClientError`, `OSError`, `TunnelRefused`.
        """
        tunnel = await self._opened(server)
        _log.info("tunnel to the server opened", extra={"server": str(server)})
        session = StreamSession(tunnel, name=f"server {server}", connect=self._targets.connect, limits=self._limits)
        await session.run()
        return f"the tunnel ended: {session.reason}"

    async def _opened(self, server: ServerAddress) -> Tunnel:
        config = self._config
        proxy = ProxyAddress.parse(config.proxy_url) if config.proxy_url else None
        http = HttpTransport(server, tls=config.tls, proxy=proxy, settings=_SETTINGS)
        try:
            headers = {"connection": "Upgrade", "upgrade": UPGRADE, "user-agent": config.user_agent or "sampan"}
            source = credential_source(config)
            if source is not None:
                credentials = await source.current()
                http.use_certificate(credentials.certificate)
                if credentials.authorization:
                    headers["authorization"] = credentials.authorization
            request = HttpRequest("GET", PATH + self._node, headers, stream=True, timeout_s=OPEN_TIMEOUT_S)
            found = await http.switch(request)
            if isinstance(found, Tunnel):
                return found
            body = await found.receive()
            found.close()
            raise TunnelRefused(_refusal(found.status, body))
        finally:
            await http.aclose()


def _next(delays: Iterator[float]) -> float:
    return next(delays, _BACKOFF.cap_s)


def _refusal(status: int, body: bytes) -> str:
    """Return the text for a response that is no 101."""
    try:
        message = str(json.decode(body)["message"])
    except (ValueError, TypeError, KeyError):
        message = body.decode("utf-8", "replace")
    return f"the server responded with {status}: {message[:_MESSAGE_CHARACTERS_MAX]}"


def _addresses(endpoint_slice: Any, scheme: str) -> Iterator[ServerAddress]:
    """Yield the servers of an EndpointSlice."""
    ports = [each.get("port") for each in endpoint_slice.get("ports") or () if each.get("name") in ("https", "", None)]
    for endpoint in endpoint_slice.get("endpoints") or ():
        if (endpoint.get("conditions") or {}).get("ready") is False:
            continue
        for address in endpoint.get("addresses") or ():
            if _is_allowed(address):
                yield from (ServerAddress(scheme, address, port) for port in ports[:1] if port)


def _is_allowed(address: str) -> bool:
    """Return True for an address to which the node connects although an object names it."""
    try:
        check_address(address)
    except AddressNotAllowed:
        return False
    return True


def is_loopback(host: str) -> bool:
    """Return True for a name or an address that only this machine reaches."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
