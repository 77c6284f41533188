"""`run`: runs one API server from its settings to its end.

Concurrency: one `TaskGroup` has a task for each component of the list in `_serve`. They end by cancellation after the
last response. The first SIGTERM or SIGINT shuts the server down gracefully, the second one at once.
"""

import asyncio
import logging
import os
import resource
import signal
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import replace
from functools import partial

from cryptography import x509

from sampan.app.access.admission import admission_settings
from sampan.app.access.authentication import Authentication
from sampan.app.access.authorization import authorizers_of, keep_authorizers
from sampan.app.aggregation import aggregation_settings
from sampan.app.cert_dir import with_cert_dir
from sampan.app.cluster import run_cluster
from sampan.app.components import Component, running
from sampan.app.controller_manager_child import LoopsChild, command_of, components_of, processes_of
from sampan.app.errors import StartError, unusable_directory
from sampan.app.free_memory import FreeMemory, start_collector
from sampan.app.input_files import check_input_files
from sampan.app.listen import client_host, serving_hosts
from sampan.app.observability.observability import Observability
from sampan.app.parts import ServerParts
from sampan.app.ports.bound_port import BoundPort, bound_port, listen_address
from sampan.app.ports.page_port import PagePort
from sampan.app.presence import Presence
from sampan.app.proxy import proxy_settings, serves_dashboard
from sampan.app.ready import announce_ready
from sampan.app.settings.service_ranges import allocators_of, compare_ranges
from sampan.app.settings.up import UpSettings
from sampan.app.storage.at_rest import AtRest, StoreLayer, at_rest_of
from sampan.app.storage.data_directory import check_database, check_whole, note_engine
from sampan.app.storage.lock import is_absent_or_empty, locked_directory
from sampan.app.storage.read_only import run_read_only
from sampan.app.storage.refused_start import nothing_left_if_refused
from sampan.app.storage.store import served_store, translation_of
from sampan.core.clock import utc_now
from sampan.registry.builtin_upgrade import BuiltinUpgrade
from sampan.registry.builtins import Builtins
from sampan.registry.cluster import Cluster
from sampan.server.admission.settings import SERVICE_ACCOUNT
from sampan.server.apiserver import ApiServer, ApiServerSettings
from sampan.server.connections.listener import HttpServer
from sampan.server.connections.settings import HttpSettings
from sampan.server.filters.cors import compile_origins
from sampan.server.health.lifecycle import LifecycleSignals
from sampan.server.metrics.security import SecurityMetrics
from sampan.server.pki.directory import (
    ServerCredentials,
    prepare_credentials,
    prepare_serving,
    write_private,
)
from sampan.server.pki.kubeconfig import kubeconfig
from sampan.server.post_start_hooks.api_servers.addresses import Address
from sampan.server.post_start_hooks.api_servers.identity_lease import ServerName
from sampan.server.post_start_hooks.kubernetes_service import KubernetesService
from sampan.server.tls.expirations import CertificateExpirations
from sampan.server.tls.serving import HTTP_1, HTTP_2, VERSIONS, ServingTls, TlsSettings
from sampan.server.tls.sni import CertKey, name_to_request
from sampan.server.verbs.components import Components
from sampan.storage.store import StoreReplaced

_log = logging.getLogger("sampan.app")

PROGRESS_INTERVAL_S = 5.0
_PROTOCOLS = {"prefer": (HTTP_2, HTTP_1), "offer": (HTTP_1, HTTP_2), "off": (HTTP_1,)}

Announce = Callable[[str], None]
Accept = Callable[[], None]
"""Called when nothing can refuse the start any more."""


async def run(settings: UpSettings, announce: Announce, parts: ServerParts | None = None) -> None:
    """Serve until a signal arrives. `announce` receives the line with the address. Raises `StartError`."""
    is_new = is_absent_or_empty(settings.data)
    with locked_directory(settings.data), nothing_left_if_refused(settings.data, is_new=is_new) as accept:
        check_whole(settings.data)
        check_database(settings)
        check_input_files(settings, utc_now())
        parts = parts or ServerParts()
        served = with_cert_dir(settings, lambda: parts.credentials or _prepared(settings))
        with bound_port(settings) as bound:
            await _serve(served, bound, announce, parts, accept)


async def _serve(up: UpSettings, bound: BoundPort, announce: Announce, parts: ServerParts, accept: Accept) -> None:
    """Serve. Call `accept` before the store is opened. Raises `StartError`."""
    address = f"{client_host(listen_address(up))}:{bound.port}"
    credentials = parts.credentials or _prepared(up)
    tls = _tls(up, credentials)
    _check_origins(up)
    cluster, layer = _cluster(up, at_rest_of(up), parts)
    authentication = Authentication(up, credentials, tls.verifier, cluster, lambda: address, _metrics(bound.port))
    observability = Observability(up, cluster)
    loops = LoopsChild(command_of(up))
    how = _api_settings(up, credentials, authentication, observability, components_of(up, loops))
    how = replace(how, faults=parts.faults and parts.faults(cluster), controllers=loops.report_source())
    authorizers = authorizers_of(up, cluster, authentication.metrics)
    accepted = authentication.authenticators
    api = ApiServer(cluster, accepted, authorizers, settings=how, server_address=lambda: address, hosts=tls.hosts)
    api.metrics.registry.register(CertificateExpirations(lambda: tls.certificates, lambda: tls.verifier.authorities))
    http, page = _http_server(up, api), PagePort(up, api)
    ready = asyncio.Event()
    presence = Presence(up, cluster, _own_address(up, bound), authentication.keys)
    accounts = how.admission.is_on(SERVICE_ACCOUNT)
    run_stored = _cluster_run(up, api, service=presence.service, accounts=accounts, started=ready.set)
    sock = bound.result()
    _write_kubeconfig(up, f"https://{address}", credentials)
    components = (
        Component("cluster", run_stored),
        Component("http", http.run),
        *_clients(api, page),
        Component("flow control", api.flow_control.run, after=ready, restart=True),
        Component("certificates", tls.run),
        Component("authorization", partial(keep_authorizers, authorizers)),
        Component("token issuers", authentication.run),
        Component("published authentication", authentication.publish, after=ready),
        Component("observability", observability.run),
        Component("encryption at rest", layer.upkeep(api, presence.name).run),
        Component("presence", presence.run, after=ready),
    )
    accept()
    async with _no_restart_at_the_end(api.lifecycle), running(components):
        with _signals(api.lifecycle.stop):
            if await _started(ready, api.lifecycle.stop_requested):
                _freeze_heap(up, api, tls, parts)
                await page.start_after(http, sock, tls.context)
                await api.begin()
                announce_ready(api, up, address, announce)
                beside = Component("next to the server", partial(parts.beside, api, credentials.admin_token))
                # They end before the server, so that they can still write their results.
                async with running((*processes_of(up, loops), beside)):
                    await api.lifecycle.stop_requested.wait()
                await presence.leave()
                await _end(api, http, page, up)


def _clients(api: ApiServer, page: PagePort) -> tuple[Component, ...]:
    """Return what depends on the API server alone: clients of other servers, sessions of browsers, and limits."""
    return (
        Component("page port", page.run),
        Component("deadlines", api.deadlines.run),
        Component("free memory", FreeMemory(forget_unused=api.shared.forget_unused).run),
        Component("upstreams", api.upstreams.run),
        Component("resource metrics", api.scraper.run, restart=True),
        *(() if api.dashboard is None else (Component("dashboard", api.dashboard.run),)),
    )


@asynccontextmanager
async def _no_restart_at_the_end(lifecycle: LifecycleSignals) -> AsyncIterator[None]:
    """Suppress `StoreReplaced` during shutdown, so that the server ends instead of restarting."""
    try:
        yield
    except* StoreReplaced:
        if not lifecycle.stopping:
            raise
        _log.warning("store was replaced during shutdown; not restarting")


def _http_server(settings: UpSettings, api: ApiServer) -> HttpServer:
    """Return the HTTP server, with the results of its TLS handshakes in /metrics."""
    streams_max = settings.http2_max_streams_per_connection
    limits = HttpSettings(http2_streams_max=streams_max) if streams_max else HttpSettings()
    return HttpServer(api.handler, limits, handshakes=api.metrics.handshakes, unread=api.metrics.unread)


def _metrics(port: int) -> SecurityMetrics:
    return SecurityMetrics(ServerName(socket.gethostname(), port).lease)


def _cluster(settings: UpSettings, at_rest: AtRest, parts: ServerParts) -> tuple[Cluster, StoreLayer]:
    """Return the cluster, which is not started yet, and the encryption layer of its store. Raises `StartError`."""
    if parts.cluster is not None:
        cluster = parts.cluster(settings)
        return cluster, at_rest.layer(cluster.store, cluster.registry.definitions())
    builtins, allocators = Builtins(), allocators_of(settings)
    upgrade = BuiltinUpgrade(builtins, lambda: allocators.primary_family)
    engine = settings.storage.store(settings.data, read_only=settings.read_only)
    layer = at_rest.layer(engine, builtins.definitions)
    store = served_store(settings, layer.store, translation=translation_of(settings, upgrade))
    return Cluster(store, builtins=builtins, allocators=allocators, is_stale=layer.is_stale), layer


def _cluster_run(
    settings: UpSettings, api: ApiServer, *, service: KubernetesService, accounts: bool, started: Callable[[], None]
) -> Callable[[], Awaitable[None]]:
    """Return the function that runs the cluster."""
    if settings.read_only:
        return partial(run_read_only, api.cluster, started, extra_apis=settings.extra_apis)
    run = partial(run_cluster, service=service, default_account=accounts, history=settings.history)
    served = settings.resource_metrics.settings(settings.node_runtime).enabled
    run = partial(run, extra_apis=settings.extra_apis, aggregator=api.aggregator, resource_metrics=served)
    return partial(run, api.cluster, started=started)


def _api_settings(
    settings: UpSettings,
    credentials: ServerCredentials,
    authentication: Authentication,
    observability: Observability,
    components: Components,
) -> ApiServerSettings:
    """Return the settings of the API server. Raises `StartError`."""
    return ApiServerSettings(
        cors_allowed_origins=settings.cors_allowed_origins,
        hsts_directives=settings.hsts_directives,
        flags=settings.flags(),
        profiling=settings.profiling,
        proxy=proxy_settings(settings, credentials),
        aggregation=aggregation_settings(settings, credentials),
        resource_metrics=settings.resource_metrics.settings(settings.node_runtime),
        flow_control=settings.flow_control,
        unread=settings.unread,
        admission=admission_settings(settings),
        components=components,
        identity=authentication.identity,
        anonymous=authentication.anonymous,
        request_headers=authentication.request_headers,
        security_metrics=authentication.metrics,
        audit=observability.audit,
        dashboard=settings.dashboard if serves_dashboard(settings) else None,
        dashboard_issuer=authentication.login_issuer,
        tracer=observability.tracer,
    )


async def _started(ready: asyncio.Event, stop: asyncio.Event) -> bool:
    """Wait until the data is loaded, and log the progress. Return False if a shutdown comes first."""
    began = asyncio.get_running_loop().time()
    async with asyncio.TaskGroup() as group:
        waits = [group.create_task(ready.wait(), name="ready"), group.create_task(stop.wait(), name="stop")]
        while not ready.is_set() and not stop.is_set():
            await asyncio.wait(waits, timeout=PROGRESS_INTERVAL_S, return_when=asyncio.FIRST_COMPLETED)
            if not ready.is_set():
                took = asyncio.get_running_loop().time() - began
                _log.info("still loading the store", extra={"seconds": round(took)})
        for task in waits:
            task.cancel()
    return not stop.is_set()


async def _end(api: ApiServer, http: HttpServer, page: PagePort, settings: UpSettings) -> None:
    """Shut down in order: fail readyz, refuse connections, refuse requests, end streams, wait for other requests."""
    _log.info("shutting down", extra={"connections": http.connection_count})
    # Clients that poll /readyz leave first. Then connected clients are sent elsewhere before their connections are
    # closed, because a request sent while its connection closes is lost.
    await asyncio.sleep(settings.shutdown_delay_s / 2)
    http.close_after_responses()
    await asyncio.sleep(settings.shutdown_delay_s / 2)
    await page.end()
    await http.stop_accepting()
    api.lifecycle.drain()
    await http.close_streams()
    await http.drain(settings.drain_timeout_s)
    api.loop_watch.stop()
    _log.info("server ended")


def _freeze_heap(settings: UpSettings, api: ApiServer, tls: ServingTls, parts: ServerParts) -> None:
    """Exclude loaded objects from garbage collection, and make collections of other objects rare."""
    note_engine(settings)
    compare_ranges(settings, api.cluster.allocators)
    if parts.credentials is None:
        _certify_service(settings, api.cluster, tls)
    api.loop_watch.start()
    start_collector()


@contextmanager
def _signals(stop: Callable[[], None]) -> Iterator[None]:
    """Call `stop` on SIGTERM and SIGINT. A second signal ends the process at once."""
    loop = asyncio.get_running_loop()
    received: list[int] = []

    def on_signal(number: int) -> None:
        if received:
            os._exit(128 + number)
        received.append(number)
        _log.info("signal received", extra={"signal": signal.Signals(number).name})
        stop()

    numbers = (signal.SIGTERM, signal.SIGINT)
    for number in numbers:
        loop.add_signal_handler(number, on_signal, number)
    try:
        yield
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)


def _write_kubeconfig(settings: UpSettings, server: str, credentials: ServerCredentials) -> None:
    """Write the kubeconfig for the port of this start. Raises `StartError`."""
    try:
        trusted, name = _trusted(settings, credentials), _server_name(settings)
        content = kubeconfig(server, trusted, credentials.admin, tls_server_name=name)
        write_private(settings.data / "kubeconfig", content)
    except OSError as error:
        raise unusable_directory(settings.data, error) from error


def _prepared(settings: UpSettings) -> ServerCredentials:
    """Read the credentials, and create missing ones. Raises `StartError`."""
    likely = (allocators_of(settings).first,)
    try:
        return prepare_credentials(settings.data, _hosts(settings), utc_now(), likely=likely)
    except OSError as error:
        raise unusable_directory(settings.data, error) from error
    except ValueError as error:
        raise StartError(str(error)) from error


def _hosts(settings: UpSettings) -> tuple[str, ...]:
    advertised = (settings.advertise_address,) if settings.advertise_address else ()
    return (*serving_hosts(listen_address(settings)), *advertised)


def _own_address(settings: UpSettings, bound: BoundPort) -> Address:
    return Address(settings.advertise_address or bound.address(), bound.port)


def _certify_service(settings: UpSettings, cluster: Cluster, tls: ServingTls) -> None:
    """Add the addresses of the Service `kubernetes` to the serving certificate, if the server made it itself."""
    service = cluster.reader.get("", "services", "default", "kubernetes")
    if service is None or settings.tls_cert_file is not None:
        return
    hosts = (*_hosts(settings), *service["spec"].get("clusterIPs", ()))
    try:
        prepare_serving(settings.data, hosts, utc_now())
    except (OSError, ValueError) as error:
        _log.warning("cannot add the Service kubernetes to the serving certificate", extra={"error": str(error)})
    tls.reload()


def _trusted(settings: UpSettings, credentials: ServerCredentials) -> bytes:
    """Return the certificates with which clients verify the server: our CA, or the configured serving certificate."""
    return settings.tls_cert_file.read_bytes() if settings.tls_cert_file else credentials.ca_pem


def _server_name(settings: UpSettings) -> str:
    """Return the TLS server name for clients on this machine, or an empty text if the address matches.

    A certificate for a load balancer alone does not match the address. The loops next to the server are such clients.
    """
    if settings.tls_cert_file is None:
        return ""
    with suppress(ValueError):  # an invalid certificate is reported when it is loaded
        certificate = x509.load_pem_x509_certificate(settings.tls_cert_file.read_bytes())
        return name_to_request(certificate, client_host(listen_address(settings)).strip("[]"))
    return ""


def _tls(settings: UpSettings, credentials: ServerCredentials) -> ServingTls:
    pair = CertKey(
        settings.tls_cert_file or credentials.serving_certificate_file,
        settings.tls_private_key_file or credentials.serving_key_file,
    )
    more = tuple(filter(None, [settings.authentication.client_ca_file]))
    tls = TlsSettings(
        pair,
        settings.tls_sni_cert_keys,
        (credentials.ca_file, *more),
        VERSIONS[settings.tls_min_version],
        settings.tls_cipher_suites,
        _PROTOCOLS[settings.http2],
    )
    for file in tls.files():
        if not os.access(file, os.R_OK):
            raise StartError(f"cannot read {file}")
    try:
        return ServingTls(tls)
    except (OSError, ValueError) as error:
        files = f"{pair.certificate} and {pair.key}" if not more and not tls.sni else "the TLS files"
        raise StartError(f"cannot use {files}: {error}") from error


def _check_origins(settings: UpSettings) -> None:
    try:
        compile_origins(settings.cors_allowed_origins)
    except ValueError as error:
        raise StartError(str(error)) from error


def raise_open_files_limit() -> None:
    """Raise the limit of open files to the maximum: every watcher is an open connection."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < hard:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
