"""`LoopsChild`: a process of loops next to a server, restarted when it dies.

There are two such processes, each only if it has something to run: the control loops, and the network loops, which are
the DNS server and the Service proxy. The latter receive what any Pod sends, so they must not delay the former.

Concurrency: `run` owns the process; its cancellation ends the process. The process also ends when its standard input
closes, which happens if this process is killed.
"""

import asyncio
import logging
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from sampan.app.components import Component as RunningComponent
from sampan.app.controller_manager.channel import ChannelClosed, ReportChannel
from sampan.app.controller_manager.settings import USAGE_ERROR
from sampan.app.controller_manager.shared_settings import node_names
from sampan.app.settings.up import UpSettings
from sampan.core.operating_system.child_process import ChildProcess
from sampan.core.settings import settings_of
from sampan.core.settings.kinds import BOOLEAN
from sampan.core.settings.tree import value_at
from sampan.core.telemetry.log import format_of
from sampan.server.routes.controllers import NoReports, ReportSource
from sampan.server.verbs.components import (
    CONTROLLER_MANAGER,
    CONTROLLER_MANAGER_LEASE,
    ELSEWHERE,
    SCHEDULER,
    SCHEDULER_LEASE,
    Components,
    MonitoredComponent,
)

CONTROL_LOOPS: Final = "control loops"
NETWORK_LOOPS: Final = "network loops"
BACKOFF_FIRST_S: Final = 1.0
BACKOFF_MAX_S: Final = 30.0
STABLE_S: Final = 60.0
"""Run time after which the delay of restarts starts from its first value again."""
_NOT_STARTED: Final = -1
END_S: Final = 3.0
"""Time that the process has to end before it is killed."""

_log = logging.getLogger("sampan.app")


def command_of(settings: UpSettings) -> list[str] | None:
    """Return the command line of the control loops, or None if the server runs none."""
    if not any((settings.controllers.strip(), settings.scheduler, settings.nodes)):
        return None
    return [
        *_program(settings),
        f"--controllers={settings.controllers}",
        "--scheduler" if settings.scheduler else "--no-scheduler",
        f"--nodes={settings.nodes}",
        f"--service-account-private-key-file={_key(settings)}",
        f"--cluster-signing-cert-file={Path(settings.data) / 'pki' / 'ca.crt'}",
        f"--cluster-signing-key-file={Path(settings.data) / 'pki' / 'ca.key'}",
        *_cidr_options(settings),
        *_node_options(settings),
        *_load_balancer_options(settings),
        *([] if settings.local_path is None else [f"--local-path={BOOLEAN.write(settings.local_path)}"]),
        *(["--leader-elect"] if settings.storage.shared else []),
        *_process_options(settings, settings.loops_probe_address),
    ]


def network_command_of(settings: UpSettings) -> list[str] | None:
    """Return the command line of the DNS server and the Service proxy, or None if the server runs neither."""
    if not (settings.dns or settings.service_proxy):
        return None
    # The server's machine is the first node. Without a node, no endpoint is local.
    node = node_names(settings.nodes)[0] if settings.nodes else ""
    return [
        *_program(settings),
        "--controllers=",
        "--no-scheduler",
        "--nodes=0",
        *(["--dns=true", f"--dns-address={settings.dns_address}"] if settings.dns else []),
        *(["--service-proxy=true", f"--service-proxy-node={node}"] if settings.service_proxy else []),
        *_process_options(settings, settings.network_probe_address),
    ]


def _program(settings: UpSettings) -> list[str]:
    return [sys.executable, "-m", "sampan.cli", "loops", f"--kubeconfig={Path(settings.data) / 'kubeconfig'}"]


def _process_options(settings: UpSettings, probe_address: str) -> list[str]:
    return [
        *([f"--probe-address={probe_address}"] if probe_address else []),
        f"--log-level={_log_level(settings)}",
        f"--log-format={settings.log.format}",
    ]


def components_of(settings: UpSettings, child: "LoopsChild") -> Components:
    """Return the health checks of controllers and scheduler.

    Where several servers share a store, another server's process may be the active one. The Lease then shows the health
    of both.
    """
    found = dict(ELSEWHERE)
    if settings.storage.shared:
        if settings.scheduler:
            found[SCHEDULER] = MonitoredComponent((CONTROLLER_MANAGER_LEASE, SCHEDULER_LEASE))
        return found
    if settings.controllers.strip():
        found[CONTROLLER_MANAGER] = MonitoredComponent((CONTROLLER_MANAGER_LEASE,), child.fault)
    if settings.scheduler:
        found[SCHEDULER] = MonitoredComponent((SCHEDULER_LEASE,), child.fault)
    return found


def _log_level(settings: UpSettings) -> str:
    """Return the log level of the loops. On a terminal their routine messages would hide the server's address line."""
    if settings.log.level != "info" or settings.verbosity or format_of(settings.log.format) != "console":
        return settings.log.level
    return "warning"


def _key(settings: UpSettings) -> Path:
    return settings.authentication.service_account_signing_key_file or Path(settings.data) / "pki" / "sa.key"


def _cidr_options(settings: UpSettings) -> list[str]:
    cidrs = settings.node_cidrs
    if not cidrs.allocate_node_cidrs:
        return []
    return _changed(cidrs)


def _load_balancer_options(settings: UpSettings) -> list[str]:
    options = settings.load_balancer.options(settings.node_runtime, has_proxy=settings.service_proxy)
    if options is None:
        return []
    pool = ",".join(map(str, options.pool))
    return ["--load-balancer=true", *([f"--load-balancer-pool={pool}"] if pool else [])]


def _node_options(settings: UpSettings) -> list[str]:
    if settings.node_runtime == "simulated":
        return []
    return [
        f"--node-runtime={settings.node_runtime}",
        f"--node-root={Path(settings.data) / 'node'}",
        *_changed(settings.cri),
    ]


def _changed(settings: object) -> list[str]:
    """Return the options for all settings that do not have their default values."""
    values = ((each, value_at(settings, each.path)) for each in settings_of(type(settings)()))
    return [f"--{each.name}={each.kind.write(value)}" for each, value in values if value != each.default]


class LoopsChild:
    """Keeps one process running. `command` None: there is no process."""

    def __init__(self, command: Sequence[str] | None, name: str = CONTROL_LOOPS) -> None:
        """`name`: for messages."""
        self._command = command
        self._name = name
        self._fault = f"the {name} have not been started"
        self._channel = ReportChannel()

    def fault(self) -> str:
        """Reason why the process does not run; empty if it runs."""
        return self._fault

    def report_source(self) -> ReportSource | None:
        """Return the source of reports about the controllers of the process; None if there is no process."""
        return None if self._command is None else self._report

    async def _report(self, query: str, etag: str) -> tuple[int, bytes, str]:
        try:
            found = await self._channel.report(query, etag)
        except ChannelClosed as error:
            raise NoReports(self._fault or str(error)) from error
        return found.code, found.body, found.tag

    async def run(self) -> None:
        """Run until cancelled. Returns early only if the process exits with a usage error."""
        if self._command is None:
            return
        loop = asyncio.get_running_loop()
        backoff_s = BACKOFF_FIRST_S
        while True:
            began = loop.time()
            code = await self._run_once(self._command)
            if code == USAGE_ERROR:
                _log.error("cannot start the %s: usage error; not retrying", self._name)
                return
            if loop.time() - began >= STABLE_S:
                backoff_s = BACKOFF_FIRST_S
            _log.error("the %s ended; restarting", self._name, extra={"code": code, "seconds": backoff_s})
            await asyncio.sleep(backoff_s)
            backoff_s = min(BACKOFF_MAX_S, backoff_s * 2)

    async def _run_once(self, command: Sequence[str]) -> int:
        """Run the process until it ends. Return its exit code, or `_NOT_STARTED`."""
        try:  # Ctrl-C must not reach it: the server ends it in order
            process = ChildProcess(command)
        except OSError as error:
            _log.error("cannot start the %s: %s", self._name, error)
            self._fault = f"cannot start the {self._name}: {error}"
            return _NOT_STARTED
        self._fault = ""
        _log.debug("the %s started", self._name, extra={"pid": process.pid})
        try:
            await self._channel.open(process.channel)
            code = await process.wait()
            self._fault = f"the {self._name} ended with code {code}"
            return code
        finally:
            self._channel.close()
            await _end(process)


async def _end(process: ChildProcess) -> None:
    """End the process: gracefully, or after `END_S` by force."""
    process.channel.close()
    if process.has_exited:
        return
    try:
        async with asyncio.timeout(END_S):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()


def processes_of(settings: UpSettings, loops: LoopsChild) -> tuple[RunningComponent, RunningComponent]:
    """Return the processes next to a server, as its components."""
    network = LoopsChild(network_command_of(settings), NETWORK_LOOPS)
    return RunningComponent(CONTROL_LOOPS, loops.run), RunningComponent(NETWORK_LOOPS, network.run)
