"""`sampan dashboard`: the page for any Kubernetes of the kubeconfig.

Concurrency: tasks of one group are the HTTP server, the sessions and the reload of certificates. The command ends by
Ctrl-C or SIGTERM, which cancel the group.
"""

import asyncio
import ipaddress
import os
import socket
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import Final

import click
import uvloop

from sampan.app.errors import StartError
from sampan.app.listen import bind_socket, client_host
from sampan.client import Config, ConfigError, ConfigOverrides, load_config
from sampan.client.config.load import load_kubeconfig
from sampan.core.telemetry.log import configure_logging
from sampan.dashboard_proxy import (
    ClusterConnection,
    ClusterUnusable,
    ClusterUser,
    DashboardProxy,
    ProxyPage,
    find_user,
)
from sampan.dashboard_proxy.proxy import LOOPBACK
from sampan.server.connections.listener import HttpServer
from sampan.server.dashboard.origin import HTTP, HTTPS
from sampan.server.tls.serving import ServingTls, TlsSettings
from sampan.server.tls.sni import CertKey

PORT: Final = 8260
INTERRUPTED: Final = 130
_FILE: Final = click.Path(path_type=Path, dir_okay=False)


@click.command("dashboard")
@click.option("--kubeconfig", type=_FILE, help="Kubeconfig file; overrides KUBECONFIG.")
@click.option("--context", default="", help="Context of the kubeconfig to use.")
@click.option("--port", type=click.IntRange(0, 65535), default=PORT, show_default=True, help="Port; 0: a free one.")
@click.option("--address", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--tls-cert-file", type=_FILE, help="Certificate of the page, for an address that others reach.")
@click.option("--tls-private-key-file", type=_FILE, help="Key of --tls-cert-file.")
def dashboard_command(
    kubeconfig: Path | None,
    context: str,
    port: int,
    address: str,
    tls_cert_file: Path | None,
    tls_private_key_file: Path | None,
) -> int:
    """Serve the dashboard for a cluster of the kubeconfig, on this machine.

    It works with any Kubernetes. Open the link that it prints; Ctrl-C ends it. The page has the rights of the
    kubeconfig's user, whose credentials stay in this process.
    """
    configure_logging("warning", "text")
    config, namespaces = _configuration(kubeconfig, context)
    tls = _tls(address, tls_cert_file, tls_private_key_file)
    with closing(_bound(address, port)) as sock, asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        try:
            runner.run(_serve(ClusterConnection.of(config, namespaces), sock, address, tls))
        except (ClusterUnusable, ConfigError) as error:
            raise StartError(str(error)) from error
        except KeyboardInterrupt:
            return INTERRUPTED
    return 0


def _configuration(kubeconfig: Path | None, context: str) -> tuple[Config, set[str]]:
    """Return the configuration, and the namespaces that the kubeconfig names for its cluster. Raises `StartError`."""
    try:
        config = load_config(kubeconfig, overrides=ConfigOverrides(context=context))
        contexts = load_kubeconfig(kubeconfig, os.environ).contexts
    except ConfigError as error:
        raise StartError(f"{error} (--kubeconfig FILE and --context NAME choose the cluster)") from error
    cluster = contexts[config.context].cluster if config.context in contexts else ""
    return config, {each.namespace for each in contexts.values() if each.cluster == cluster and each.namespace}


def _tls(address: str, certificate: Path | None, key: Path | None) -> ServingTls | None:
    """Return TLS if it is configured. Raises `StartError` without it on an address that other machines reach."""
    if certificate is not None and key is not None:
        try:
            return ServingTls(TlsSettings(CertKey(certificate, key)))
        except (OSError, ValueError) as error:
            raise StartError(f"cannot use --tls-cert-file and --tls-private-key-file: {error}") from error
    if certificate is not None or key is not None:
        raise StartError("--tls-cert-file and --tls-private-key-file must be given together")
    if not _is_loopback(address):
        raise StartError(
            f"other machines reach {address}, so the page needs TLS: add --tls-cert-file and --tls-private-key-file, "
            "or keep 127.0.0.1 and use `ssh -L`"
        )
    return None


def _is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return address == "localhost"


def _bound(address: str, port: int) -> socket.socket:
    try:
        return bind_socket(address, port)
    except OSError as error:
        remedy = "choose another address with --address, or another port with --port (0: a free one)"
        raise StartError(f"cannot listen on {address}:{port}: {error.strerror}: {remedy}") from error


async def _serve(connection: ClusterConnection, sock: socket.socket, address: str, tls: ServingTls | None) -> None:
    """Serve until cancelled. Raises `ClusterUnusable`."""
    try:
        found = await find_user(connection)
        scheme = HTTP if tls is None else HTTPS
        origin = f"{scheme}://{client_host(address)}:{sock.getsockname()[1]}"
        hosts = (lambda: {*LOOPBACK, address}) if tls is None else tls.hosts

        def announce(code: str) -> None:
            click.echo(f"dashboard {origin}/dashboard/login#{code} (valid once, for 10 minutes)")

        proxy = DashboardProxy(connection, found, ProxyPage(scheme, hosts, announce))
        http = HttpServer(proxy.handle)
        await http.start(sock, None if tls is None else tls.context)
        click.echo(_ready_line(origin, connection, found))
        proxy.announce_link()
        runs: list[Callable[[], Awaitable[None]]] = [http.run, proxy.run, *([tls.run] if tls is not None else [])]
        try:
            async with asyncio.TaskGroup() as group:
                for run in runs:
                    group.create_task(_awaited(run), name="dashboard")
        finally:
            http.stop_listening()
            await http.close_streams()
            await http.drain(1.0)
    finally:
        await connection.aclose()


async def _awaited(run: Callable[[], Awaitable[None]]) -> None:
    await run()


def _ready_line(origin: str, connection: ClusterConnection, found: ClusterUser) -> str:
    name = f"context {connection.name}, " if connection.name else ""
    return f"ready {origin} ({name}{connection.server}, user {found.user.name})"
