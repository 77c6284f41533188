"""`serve_extension`: runs an extension API server as a process behind an API server.

Concurrency: one `TaskGroup` owns the HTTP server's sweeper, the deadlines, the reloading of certificates and the
polling of the ConfigMap. It ends by cancellation; requests in progress then have `DRAIN_S` seconds.

Source: apiserver pkg/server/options/recommended.go (1.36).
"""

import asyncio
import logging
import signal
import tempfile
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvloop

from sampan.app.listen import bind_socket
from sampan.client import ApiError, Client, TransportError
from sampan.client.rest_client import RESTClient
from sampan.component_base.resources import CONFIG_MAPS
from sampan.core.clock import monotonic, utc_now
from sampan.registry.webhook.response import WebhookError
from sampan.server.authentication.delegated import CONFIG_MAP_NAME, CONFIG_MAP_NAMESPACE, DelegatedAuthenticator
from sampan.server.authentication.webhook_token import WebhookTokens, WebhookTokenSettings
from sampan.server.authorization.delegated import DelegatedAuthorizer
from sampan.server.connections.listener import HttpServer
from sampan.server.extension.computed import ComputedResource
from sampan.server.extension.server import ExtensionServer
from sampan.server.pki.certificates import make_ca, make_serving
from sampan.server.tls.serving import HTTP_1, HTTP_2, ServingTls, TlsSettings
from sampan.server.tls.sni import CertKey

_log = logging.getLogger("sampan.app")

DRAIN_S = 5.0
FOLLOW_INTERVAL_S = 60.0
"""Interval between reads of the ConfigMap, which changes with the certificate authorities."""
TOKEN_TTL_S = 10.0


@dataclass(frozen=True, slots=True)
class ExtensionSettings:
    """Address and serving certificate of an extension API server."""

    bind: str = "127.0.0.1"
    port: int = 4443
    """Port; 0: any free one."""
    certificate: Path | None = None
    key: Path | None = None
    """Key of the certificate. Without both files a temporary pair is made for `hosts`; the APIService then needs
    `insecureSkipTLSVerify`.
    """
    hosts: tuple[str, ...] = ("localhost",)


class Reviews:
    """Posts reviews to the API server. Implements `Webhook`."""

    def __init__(self, rest: RESTClient, path: str) -> None:
        self._rest = rest
        self._path = path

    async def post(self, body: bytes, timeout_s: float) -> bytes:
        """Send a JSON body and return the body of the response."""
        try:
            async with asyncio.timeout(timeout_s):
                return await self._rest.call("POST", self._path, body=body)
        except TimeoutError:
            raise WebhookError("context deadline exceeded") from None
        except (ApiError, TransportError) as error:
            raise WebhookError(str(error)) from error


def run_until_stopped(main: Coroutine[Any, Any, None]) -> None:
    """Run a program on a new event loop. SIGTERM and SIGINT cancel it."""

    async def run() -> None:
        task = asyncio.current_task()
        assert task is not None
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, task.cancel)
        with suppress(asyncio.CancelledError):  # cancelled by a signal: end the process
            await main

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(run())


async def serve_extension(
    client: Client,
    group_version: tuple[str, str],
    resources: Sequence[ComputedResource],
    announce: Callable[[int], None],
    settings: ExtensionSettings | None = None,
) -> None:
    """Serve until cancelled. `client` connects to the API server in front; `announce` receives the port.

    Raises `ApiError` and `TransportError` if the API server does not return its client CAs, `OSError`, `ValueError`.
    """
    settings = settings or ExtensionSettings()
    rest = client.rest
    reviews = Reviews(rest, "/apis/authentication.k8s.io/v1/tokenreviews")
    tokens = WebhookTokens(reviews, WebhookTokenSettings(cache_ttl_s=TOKEN_TTL_S))
    trusted = await _trusted(client)
    authenticator = DelegatedAuthenticator(trusted, tokens)
    authorizer = DelegatedAuthorizer(Reviews(rest, "/apis/authorization.k8s.io/v1/subjectaccessreviews"), monotonic)
    server = ExtensionServer(group_version, resources, authenticator, authorizer)
    http = HttpServer(server.handler, handshakes=server.metrics.handshakes, unread=server.metrics.unread)
    with tempfile.TemporaryDirectory(prefix="sampan-extension-") as directory:
        clients = Path(directory) / "clients.crt"
        clients.write_text(_authorities(trusted))
        serving = _serving(settings, Path(directory))
        tls = ServingTls(TlsSettings(serving, client_ca_files=(clients,), protocols=(HTTP_1, HTTP_2)))
        async with asyncio.TaskGroup() as group:
            group.create_task(http.run())
            group.create_task(server.deadlines.run())
            group.create_task(tls.run())
            group.create_task(_follow(client, authenticator, clients))
            sock = bind_socket(settings.bind, settings.port)
            try:
                await http.start(sock, tls.context)
                server.lifecycle.serve()
                announce(sock.getsockname()[1])
                await asyncio.get_running_loop().create_future()
            finally:
                http.close_after_responses()
                await http.stop_accepting()
                server.lifecycle.drain()
                await http.close_streams()
                await http.drain(DRAIN_S)


async def _trusted(client: Client) -> dict[str, str]:
    found: Any = await client.resource(CONFIG_MAPS, namespace=CONFIG_MAP_NAMESPACE).get(CONFIG_MAP_NAME)
    return dict(found.get("data") or {})


def _authorities(trusted: dict[str, str]) -> str:
    """Return the CAs of the certificates that clients may use."""
    return "\n".join(trusted.get(key, "") for key in ("requestheader-client-ca-file", "client-ca-file"))


async def _follow(client: Client, authenticator: DelegatedAuthenticator, clients: Path) -> None:
    while True:
        await asyncio.sleep(FOLLOW_INTERVAL_S)
        try:
            trusted = await _trusted(client)
            authenticator.replace(trusted)
            await asyncio.to_thread(clients.write_text, _authorities(trusted))
        except (ApiError, TransportError, ValueError, OSError) as error:
            _log.warning("cannot reload trusted client CAs; keeping the old ones", extra={"error": str(error)})


def _serving(settings: ExtensionSettings, directory: Path) -> CertKey:
    """Return the files of the serving certificate."""
    if settings.certificate is not None and settings.key is not None:
        return CertKey(settings.certificate, settings.key)
    now = utc_now()
    ca = make_ca("sampan-extension", now)
    pair = make_serving(ca, settings.hosts, now)
    made = CertKey(directory / "tls.crt", directory / "tls.key")
    made.certificate.write_bytes(pair.certificate_pem() + ca.certificate_pem())
    made.key.touch(mode=0o600)
    made.key.write_bytes(pair.key_pem())
    return made
