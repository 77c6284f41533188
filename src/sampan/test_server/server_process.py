"""`serve`: the life of one server, in a process that the warm parent has forked for it."""

import asyncio
import gc
import os
import secrets
import socket
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Final, Protocol

import uvloop

from sampan.app.engines import ENGINES, MemoryEngine
from sampan.app.errors import StartError
from sampan.app.main import EXPECTED, SWITCH_INTERVAL_S, error_line
from sampan.app.parts import ServerParts
from sampan.app.settings.up import UpSettings, without_loops
from sampan.app.up import raise_open_files_limit, run
from sampan.core.telemetry.log import configure_logging
from sampan.registry.cluster import Cluster
from sampan.schema.builtin import Definitions
from sampan.server.pki.directory import ServerCredentials
from sampan.server.request import Filter
from sampan.test_server.link import Link
from sampan.test_server.loops import TAINT_NODES, check_loops, leaves_taints, run_beside
from sampan.test_server.protocol import Order
from sampan.test_server.spare import made_cluster
from sampan.test_server.template import ClusterTemplate

DRAIN_TIMEOUT_S: Final = 0.1
"""Time for open requests at the end: tests that stop a server do not wait for its responses."""

ReadSettings = Callable[[Sequence[str]], UpSettings]
"""Reads options of kube-apiserver. Raises `StartError`; options that are unknown have no effect."""


class _Faults(Protocol):
    def filter_for(self, cluster: Cluster) -> Filter: ...

    def report(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Inherited:
    """State that a server's process inherits from its parent."""

    read_settings: ReadSettings
    schemas: Definitions
    template_data: Path
    """Data directory that the first template leaves for later servers, with certificates and keys."""
    credentials: ServerCredentials | None
    """Certificates and keys in that directory. None: there are none yet."""
    templates: dict[tuple[str, ...], ClusterTemplate]
    """Contents of new clusters, by their ranges of Services."""


@dataclass(frozen=True, slots=True)
class PreparedCluster:
    """Cluster that was made before the order arrived. `cluster` is None if no cluster was made."""

    ranges: tuple[str, ...] = ()
    cluster: Cluster | None = None


def serve(order: Order, connection: socket.socket, data: Path, inherited: Inherited, prepared: PreparedCluster) -> int:
    """Serve until the client ends it. Return the exit code. `data` is a directory of this server only."""
    link = Link(connection)
    gc.disable()  # the server starts it when it is ready
    try:
        os.chdir(order.directory)
        settings = _settings(order, data, inherited)
        faults = _faults_of(order.plan, link) if order.plan else None
        settings, credentials = _with_credentials(settings, inherited.credentials)
        sys.setswitchinterval(SWITCH_INTERVAL_S)
        configure_logging(settings.log.level, settings.log.format)
        raise_open_files_limit()
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            parts = ServerParts(
                cluster=partial(_cluster, inherited, prepared) if not settings.storage.persistent else None,
                credentials=credentials,
                faults=faults.filter_for if faults else None,
                beside=partial(run_beside, names=order.loops),
            )
            runner.run(_serve(settings, parts, link, faults))
        code = 0
    except (StartError, *EXPECTED) as error:
        print(f"sampan: error: {error_line(error)}", file=sys.stderr)
        code = 1
    except BaseExceptionGroup as group:
        print(f"sampan: error: {error_line(group)}", file=sys.stderr)
        code = 1
    link.send(f"exit {code}")
    return code


def is_persistent(order: Order) -> bool:
    """Return True if the objects of the server outlive it."""
    return ENGINES[order.storage].persistent


def _settings(order: Order, data: Path, inherited: Inherited) -> UpSettings:
    try:
        check_loops(order.loops)
    except ValueError as error:
        raise StartError(str(error)) from error
    settings = without_loops(inherited.read_settings(order.arguments))
    if leaves_taints(order.loops) and TAINT_NODES not in settings.enable_admission_plugins:
        disabled = (*settings.disable_admission_plugins, TAINT_NODES)
        settings = replace(settings, disable_admission_plugins=disabled)
    storage = settings.storage if is_persistent(order) else MemoryEngine()
    return replace(settings, data=data, storage=storage, drain_timeout_s=DRAIN_TIMEOUT_S)


def _with_credentials(
    settings: UpSettings, credentials: ServerCredentials | None
) -> tuple[UpSettings, ServerCredentials | None]:
    """Return the settings with the keys of the template, because creating them takes longer than all other steps.

    The administrator's token is new: the kubeconfig of another server must not be valid for this one.
    """
    if credentials is None:
        return settings, None
    token = secrets.token_urlsafe(32)
    (settings.data / "admin.token").write_text(token)
    authentication = settings.authentication
    if authentication.service_account_signing_key_file is None:
        key = credentials.ca_file.with_name("sa.key")
        authentication = replace(authentication, service_account_signing_key_file=key)
    return replace(settings, authentication=authentication), replace(credentials, admin_token=token)


async def _serve(settings: UpSettings, parts: ServerParts, link: Link, faults: _Faults | None) -> None:
    link.start()
    try:
        await run(settings, partial(print, flush=True), parts)
    finally:
        if faults:
            faults.report()


def _cluster(inherited: Inherited, prepared: PreparedCluster, settings: UpSettings) -> Cluster:
    """Return the prepared cluster if it has the same ranges of Services, otherwise a new one."""
    ranges = settings.service_cluster_ip_ranges
    if prepared.cluster is not None and prepared.ranges == ranges:
        return prepared.cluster
    return made_cluster(inherited.templates.get(ranges), inherited.schemas, ranges)


def _faults_of(plan: str, link: Link) -> _Faults:
    """Return the faults of a plan file. Raises `StartError`, `OSError`."""
    module = import_module("sampan.test_server.planned_faults")
    faults: _Faults = module.PlannedFaults(Path(plan), link)
    return faults
