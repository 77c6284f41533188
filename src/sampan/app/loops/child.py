"""`LoopsChild`: the process of control loops beside a server, started again when it dies.

Concurrency: `run` owns the process; it ends by cancellation, and the process with it. The process ends by itself when
its standard input does, which nobody holds open when this process was killed.
"""

import asyncio
import logging
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from sampan.app.loops.settings import USAGE_ERROR
from sampan.app.settings import UpSettings
from sampan.core.child_process import ChildProcess
from sampan.server.verbs.components import (
    CONTROLLER_MANAGER,
    CONTROLLER_MANAGER_LEASE,
    ELSEWHERE,
    SCHEDULER,
    SCHEDULER_LEASE,
    Component,
    Components,
)

BACKOFF_FIRST_S: Final = 1.0
BACKOFF_MAX_S: Final = 30.0
STABLE_S: Final = 60.0
"""When a process has run so long, the next one is started after the first delay again."""
_NOT_STARTED: Final = -1
END_S: Final = 3.0
"""How long the process may take to end; then it is killed."""

_log = logging.getLogger("sampan.app")


def command_of(settings: UpSettings) -> list[str] | None:
    """The command line of the loops that a server wants; None when it wants none."""
    if not (settings.controllers.strip() or settings.scheduler or settings.nodes):
        return None
    return [
        sys.executable,
        "-m",
        "sampan.cli",
        "loops",
        f"--kubeconfig={Path(settings.data) / 'kubeconfig'}",
        f"--controllers={settings.controllers}",
        "--scheduler" if settings.scheduler else "--no-scheduler",
        f"--nodes={settings.nodes}",
        f"--service-account-private-key-file={_key(settings)}",
        f"--cluster-signing-cert-file={Path(settings.data) / 'pki' / 'ca.crt'}",
        f"--cluster-signing-key-file={Path(settings.data) / 'pki' / 'ca.key'}",
        *_cidr_options(settings),
        *_node_options(settings),
        *([f"--probe-address={settings.loops_probe_address}"] if settings.loops_probe_address else []),
        *(["--leader-elect"] if settings.storage.shared else []),
        f"--log-level={settings.log.level}",
        f"--log-format={settings.log.format}",
    ]


def components_of(settings: UpSettings, child: "LoopsChild") -> Components:
    """How one knows whether controllers and scheduler work.

    Where several servers share a store the process beside this one need not be the one that works: then the Lease tells
    that it has for both.
    """
    found = dict(ELSEWHERE)
    if settings.storage.shared:
        if settings.scheduler:
            found[SCHEDULER] = Component((CONTROLLER_MANAGER_LEASE, SCHEDULER_LEASE))
        return found
    if settings.controllers.strip():
        found[CONTROLLER_MANAGER] = Component((CONTROLLER_MANAGER_LEASE,), child.fault)
    if settings.scheduler:
        found[SCHEDULER] = Component((SCHEDULER_LEASE,), child.fault)
    return found


def _key(settings: UpSettings) -> Path:
    return settings.authentication.service_account_signing_key_file or Path(settings.data) / "pki" / "sa.key"


def _cidr_options(settings: UpSettings) -> list[str]:
    told = settings.node_cidrs
    if not told.allocate_node_cidrs:
        return []
    size = told.node_cidr_mask_size
    return [
        "--allocate-node-cidrs=true",
        *([f"--cluster-cidr={told.cluster_cidr}"] if told.cluster_cidr else []),
        *([f"--node-cidr-mask-size={size}"] if size is not None else []),
    ]


def _node_options(settings: UpSettings) -> list[str]:
    if settings.node_runtime == "simulated":
        return []
    return [f"--node-runtime={settings.node_runtime}", f"--node-root={Path(settings.data) / 'node'}"]


class LoopsChild:
    """Keeps one process alive. `command` None: there is none."""

    def __init__(self, command: Sequence[str] | None) -> None:
        self._command = command
        self._fault = "the control loops have not been started"

    def fault(self) -> str:
        """Why the process does not run now; nothing if it does."""
        return self._fault

    async def run(self) -> None:
        """Until cancelled; ends by itself only when the process says that it was called wrongly."""
        if self._command is None:
            return
        loop = asyncio.get_running_loop()
        backoff_s = BACKOFF_FIRST_S
        while True:
            began = loop.time()
            code = await self._run_once(self._command)
            if code == USAGE_ERROR:
                _log.error("the control loops cannot be started: they are not tried again")
                return
            if loop.time() - began >= STABLE_S:
                backoff_s = BACKOFF_FIRST_S
            _log.error("the control loops ended; starting them again", extra={"code": code, "seconds": backoff_s})
            await asyncio.sleep(backoff_s)
            backoff_s = min(BACKOFF_MAX_S, backoff_s * 2)

    async def _run_once(self, command: Sequence[str]) -> int:
        """Run the process until it ends; gives its exit code, `_NOT_STARTED` when it could not even begin."""
        try:  # Ctrl-C does not reach it: the server tells it to end, in its order
            process = ChildProcess(command)
        except OSError as error:
            _log.error("the control loops cannot be started: %s", error)
            self._fault = f"the control loops cannot be started: {error}"
            return _NOT_STARTED
        self._fault = ""
        _log.info("control loops started", extra={"pid": process.pid})
        try:
            code = await process.wait()
            self._fault = f"the control loops ended with code {code}"
            return code
        finally:
            await _end(process)


async def _end(process: ChildProcess) -> None:
    """Have it end, in order if that does not take long."""
    process.input.close()
    if process.has_exited:
        return
    try:
        async with asyncio.timeout(END_S):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()
