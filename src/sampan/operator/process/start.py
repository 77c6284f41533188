"""`start`: runs an operator's process from its arguments to its exit code. `run_manager` runs a manager with its parts.

Concurrency: one event loop with the tasks of the manager. A thread watches whether the loop is blocked. If spans are
exported, a thread of OpenTelemetry sends them.
"""

import asyncio
import inspect
import logging
import os
import sys
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any, Final

from sampan.client.client import Client
from sampan.client.config import Config, ConfigOverrides, load_config
from sampan.core.extras import MissingExtra, import_extra
from sampan.core.settings import nested
from sampan.core.settings.declare import DECLARATION, Nested
from sampan.operator.failures.error_text import is_expected, one_line
from sampan.operator.failures.groups import single_error
from sampan.operator.leader_election import LeaderElectionConfig, LeaseNote
from sampan.operator.manager import Group, Manager, ManagerOptions
from sampan.operator.process.access import AccessReviews
from sampan.operator.process.checks import NoConnection, missing_parts
from sampan.operator.process.command_line import read_configuration
from sampan.operator.process.log import set_up_log
from sampan.operator.process.loop_delays import OperatorLoopWatch
from sampan.operator.process.metrics_server import MetricsServer
from sampan.operator.reports import Place, ReportLease
from sampan.operator.reports.place import place_of
from sampan.operator.service_reference import ServiceReference
from sampan.operator.settings import OperatorSettings
from sampan.operator.webhook.certificates import CertificateFiles, CertificateSource, IssuedCertificates
from sampan.operator.webhook.certificates.memory_store import MemoryCertificates
from sampan.resource import ResourceInfo

_log = logging.getLogger("sampan.operator")

SetUp = Callable[..., Any]
_SPANS: Final = "sampan.operator.process.spans"
_FAILED: Final = 1


@dataclass(frozen=True, slots=True)
class _Alone:
    """Root of the settings of an operator without further settings."""

    operator: OperatorSettings = nested(OperatorSettings)


@dataclass(frozen=True, slots=True)
class _Both:
    """Root of all settings: those of the operator's process, and the author's."""

    operator: OperatorSettings = nested(OperatorSettings)
    own: Any = field(default=None, metadata={DECLARATION: Nested("", "Operator")})


@dataclass(frozen=True, slots=True)
class Start:
    """Arguments of `main`."""

    set_up: SetUp
    name: str
    about: str
    own: Any
    defaults: OperatorSettings
    options: ManagerOptions


PREVIEW: ContextVar[Callable[[Start], None] | None] = ContextVar("sampan_operator_preview", default=None)
"""Called by `start` instead of running the operator, if it is set: to learn what a program would run."""


@dataclass(frozen=True, slots=True)
class PreparedOperator:
    """An operator as its process would run it, before the run."""

    name: str
    settings: OperatorSettings
    manager: Manager


async def prepared(begun: Start, arguments: list[str], config: Config, client: Client) -> PreparedOperator:
    """Set up the manager of a process with these arguments, and run nothing.

    `config` has the namespace of the Pod, and `client` is the manager's. A wrong argument raises `SystemExit`.
    """
    found = _settings(begun, arguments, {})
    manager = await _set_up(begun, found, client, _options(begun, found.operator, config, None))
    _add_metrics_server(manager, found.operator, {})
    return PreparedOperator(begun.name, found.operator, manager)


def start(begun: Start, arguments: list[str] | None, environ: Mapping[str, str] | None) -> None:
    """Run until a signal. Ends the process with code 1 and one line after a failure, with 2 after a wrong flag."""
    preview = PREVIEW.get()
    if preview is not None:
        preview(begun)
        return
    arguments = sys.argv[1:] if arguments is None else arguments
    found = _settings(begun, arguments, os.environ if environ is None else environ)
    set_up_log(found.operator)
    try:
        asyncio.run(_run(begun, found))
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as error:
        sys.exit(_report(begun.name, error))


def _report(name: str, error: Exception) -> int:
    """Log the cause of a failure, with a traceback only for a bug, and return the exit code."""
    single = single_error(error) if isinstance(error, ExceptionGroup) else error
    expected = is_expected(single) or isinstance(single, NoConnection | MissingExtra)
    text = str(single) if isinstance(single, NoConnection | MissingExtra) else one_line(single)
    _log.critical("operator %s stopped: %s", name, text, exc_info=None if expected else single)
    return _FAILED


def _settings(begun: Start, arguments: list[str], environ: Mapping[str, str]) -> Any:
    root: Any = _Alone(begun.defaults) if begun.own is None else _Both(begun.defaults, begun.own)
    return read_configuration(
        root, program=begun.name, about=begun.about, arguments=arguments, environ=environ
    ).settings


async def _set_up(begun: Start, found: Any, client: Client, options: ManagerOptions) -> Manager:
    manager = Manager(client, options)
    done = begun.set_up(manager) if begun.own is None else begun.set_up(manager, found.own)
    if inspect.isawaitable(done):
        await done
    return manager


async def _run(begun: Start, found: Any) -> None:
    settings: OperatorSettings = found.operator
    config = load_config(settings.kubeconfig, overrides=ConfigOverrides(context=settings.context))
    tracer = _tracer_of(settings, begun.name)
    options = _options(begun, settings, config, tracer)
    try:
        async with Client.from_config(config, field_manager=begun.name) as client:
            manager = await _set_up(begun, found, client, options)
            place = {"server": config.server, "context": config.context}
            _log.info("operator started", extra={"operator": begun.name, **place})
            manager.reports.name = begun.name
            await run_manager(manager, settings)
    finally:
        if tracer is not None:
            await asyncio.to_thread(tracer.end)
    _log.info("operator stopped", extra={"operator": begun.name})


def _options(begun: Start, settings: OperatorSettings, config: Config, tracer: Any) -> ManagerOptions:
    election = begun.options.leader_election
    if settings.leader_elect and election is None:
        namespace = settings.leader_election_namespace or config.namespace
        election = LeaderElectionConfig(settings.leader_election_id or begun.name, namespace)
    return replace(
        begun.options,
        namespace="" if settings.namespaces else begun.options.namespace,
        namespaces=settings.namespaces or begun.options.namespaces,
        leader_election=election,
        probe_address=settings.health_probe_bind_address,
        probes_serve_metrics=False,
        graceful_shutdown_timeout_s=settings.graceful_shutdown_timeout_s,
        tracer=tracer or begun.options.tracer,
        webhook_service=_service_of(settings) or begun.options.webhook_service,
        webhook_cert_path=settings.webhook_cert_path or begun.options.webhook_cert_path,
        webhook_configurations=settings.webhook_configurations or begun.options.webhook_configurations,
        webhook_conversions=settings.webhook_conversions and begun.options.webhook_conversions,
    )


def _service_of(settings: OperatorSettings) -> ServiceReference | None:
    namespace, _, name = settings.webhook_service.partition("/")
    return ServiceReference(namespace, name) if name else None


def _tracer_of(settings: OperatorSettings, name: str) -> Any:
    """Return the tracer that exports spans; None without a collector. Raises `MissingExtra`."""
    if not settings.tracing_endpoint:
        return None
    spans = import_extra(_SPANS, extra="tracing", feature="--tracing-endpoint")
    rate, insecure = settings.tracing_sampling_rate, settings.tracing_insecure
    return spans.OtlpTracer(settings.tracing_endpoint, service=name, rate=rate, insecure=insecure)


async def run_manager(manager: Manager, settings: OperatorSettings, environ: Mapping[str, str] | None = None) -> None:
    """Run a manager with the parts of a process: metrics server, checks, detection of a blocked event loop, signals.

    `environ` names the Pod; None: the variables of this process.

    Raises `NoConnection`, and the errors of `Manager.run`.
    """
    served = _add_metrics_server(manager, settings, os.environ if environ is None else environ)
    if served is not None and manager.options.leader_election is None:
        # Its rights are not those of the operator's role: the operator works without them.
        manager.add(_report_lease(manager, *served))
    for line in await missing_parts(manager.client.direct, _kinds(manager), manager.rights(selected=False)):
        _log.error("the cluster lacks a part: %s", line)
    watch = OperatorLoopWatch(manager.registry)
    with watch.running():
        await manager.run(handle_signals=True)


def _add_metrics_server(
    manager: Manager, settings: OperatorSettings, environ: Mapping[str, str]
) -> tuple[MetricsServer, Place] | None:
    """Add the metrics server. Return it with its place; None without an address."""
    address = settings.metrics_bind_address
    if not address:
        return None
    secure = settings.metrics_secure
    place = place_of(environ, manager.options.host, _lease_namespace(manager), secure=secure)
    server = MetricsServer(
        manager.registry,
        address,
        access=AccessReviews(manager.client.direct) if secure else None,
        certificates=_certificates(manager, settings) if secure else None,
        profiles=settings.profiling,
        failing=manager.failing,
        reports=manager.reports,
        place=place,
    )
    manager.annotate_lease(lambda: LeaseNote(place.labels(), place.annotations(server.port)))
    manager.add(server, group=Group.HTTP_SERVERS)
    return server, place


def _report_lease(manager: Manager, server: MetricsServer, place: Place) -> ReportLease:
    """Return the part that announces the reports of a process without leader election."""
    return ReportLease(
        manager.client.direct,
        manager.reports.name or "operator",
        namespace=_lease_namespace(manager),
        place=place,
        port=lambda: server.port,
        clock=manager.options.clock,
    )


def _lease_namespace(manager: Manager) -> str:
    """Return the namespace of the Lease: that of the Pod, or of the context."""
    election = manager.options.leader_election
    return manager.client.direct.namespace if election is None else election.namespace


def _certificates(manager: Manager, settings: OperatorSettings) -> CertificateSource:
    if settings.metrics_cert_path is not None:
        return CertificateFiles(settings.metrics_cert_path)
    return IssuedCertificates(
        MemoryCertificates(), ("localhost", "127.0.0.1", manager.options.host), manager.options.clock
    )


def _kinds(manager: Manager) -> list[ResourceInfo]:
    return [info for info, _ in manager.informers.collections]
