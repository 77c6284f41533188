"""`PluginWatcher`: registers the plug-ins whose sockets are in a directory of the node.

Concurrency: `run` is one task. It looks at the directory each second. Each socket has at most one task that registers
or unregisters its plug-in, so a plug-in that does not respond delays no other. Tasks and their time are limited.
Source: kubernetes pkg/kubelet/pluginmanager (1.36).
"""

import asyncio
import logging
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from sampan.core.event_loop.task_scope import TaskScope
from sampan.csi.client import RegistrationClient
from sampan.csi.errors import CsiError
from sampan.csi.messages import AnyMessage

PERIOD_S: Final = 1.0
_RETRY_FIRST_S: Final = 1.0
_RETRY_MAX_S: Final = 122.0
_CALL_S: Final = 10.0
_REGISTRATION_S: Final = 150.0
"""Limit of a registration in seconds. A call of a CSI driver takes at most 120 s."""
TASKS_MAX: Final = 32
"""Maximum number of plug-ins that are registered at the same time. Further ones wait."""
SOCKETS_MAX: Final = 1000
"""Maximum number of sockets that are handled. Further ones are ignored."""

_log = logging.getLogger("sampan.node")


class PluginHandler(Protocol):
    """Handles plug-ins of one type."""

    async def register(self, name: str, endpoint: str, versions: list[str]) -> None:
        """Register a plug-in. May raise any `Exception`. Its text is sent to the plug-in."""
        ...

    async def unregister(self, name: str, endpoint: str) -> None:
        """Unregister a plug-in whose socket no longer exists. Errors are logged."""
        ...


@dataclass(slots=True)
class _Socket:
    """Socket in the directory."""

    identity: tuple[int, int]
    """Inode and time of its creation: a restarted plug-in creates a new socket."""
    handler: PluginHandler | None = None
    """Handler of a registered plug-in."""
    begun: PluginHandler | None = None
    """Handler that has begun to register the plug-in."""
    task: asyncio.Task[None] | None = None
    name: str = ""
    endpoint: str = ""
    tries: int = 0
    retry_at: float = 0.0


class PluginWatcher:
    """Watches one directory."""

    def __init__(self, directory: Path, handlers: Mapping[str, PluginHandler]) -> None:
        """`handlers`: by the type of the plug-in, such as `CSIPlugin`."""
        self._directory = directory
        self._handlers = handlers
        self._sockets: dict[str, _Socket] = {}
        self._tasks = TaskScope()
        self._places = asyncio.Semaphore(TASKS_MAX)

    async def run(self) -> None:
        """Watch until cancelled."""
        try:
            while True:
                self.look()
                await asyncio.sleep(PERIOD_S)
        finally:
            await self.aclose()

    async def aclose(self) -> None:
        """End all registrations that run."""
        await self._tasks.aclose()

    async def begin(self, timeout_s: float) -> None:
        """Register the plug-ins that exist. Return when that is done, or after the timeout: the rest follows later."""
        self.look()
        tasks = [known.task for known in self._sockets.values() if known.task is not None]
        if tasks:
            await asyncio.wait(tasks, timeout=timeout_s)

    def look(self) -> None:
        """Begin to register the plug-ins of new sockets, and to unregister those whose sockets no longer exist."""
        found = sockets_in(self._directory)
        for path, known in list(self._sockets.items()):
            if found.get(path) != known.identity:
                del self._sockets[path]
                if known.task is not None:
                    known.task.cancel()
                if path not in found:
                    self._tasks.begin(self._unregister(known), name=f"unregister {path}")
        now = asyncio.get_running_loop().time()
        for path, identity in found.items():
            known = self._sockets.setdefault(path, _Socket(identity))
            if known.handler is None and known.retry_at <= now and (known.task is None or known.task.done()):
                known.task = self._tasks.begin(self._try(path, known), name=f"register {path}")

    async def _try(self, path: str, known: _Socket) -> None:
        try:
            async with self._places, asyncio.timeout(_REGISTRATION_S):
                await self._register(path, known)
        except Exception as error:
            known.handler = None
            wait_s = min(_RETRY_MAX_S, _RETRY_FIRST_S * 2 ** min(known.tries, 10))
            known.tries += 1
            known.retry_at = asyncio.get_running_loop().time() + wait_s
            _log.warning(
                "cannot register the plug-in at %s, retrying in %.0f s: %s", path, wait_s, str(error) or "no response"
            )

    async def _register(self, path: str, known: _Socket) -> None:
        async with RegistrationClient(path, timeout_s=_CALL_S) as client:
            info = await client.info()
            try:
                await self._accept(path, known, info)
            except Exception as error:
                await _notify(client, False, str(error))
                raise
            await _notify(client, True)
        _log.info("registered a plug-in", extra={"plugin": known.name, "type": info.type, "endpoint": known.endpoint})

    async def _accept(self, path: str, known: _Socket, info: AnyMessage) -> None:
        handler = self._handlers.get(info.type)
        if handler is None:
            text = f"no handler registered for plugin type: {info.type} at socket {path}"
            raise ValueError(f"RegisterPlugin error -- {text}")
        known.name, known.endpoint = info.name, info.endpoint or path
        # Set first: a task that is cancelled leaves a plug-in that must be unregistered.
        known.begun = handler
        await handler.register(known.name, known.endpoint, list(info.supported_versions))
        known.handler = handler

    async def _unregister(self, known: _Socket) -> None:
        if known.task is not None:
            await asyncio.wait([known.task])
        if known.begun is None:
            return
        try:
            await known.begun.unregister(known.name, known.endpoint)
        except Exception as error:
            _log.warning("cannot unregister the plug-in %s: %s", known.name, error)
        else:
            _log.info("unregistered a plug-in", extra={"plugin": known.name})


async def _notify(client: RegistrationClient, registered: bool, error: str = "") -> None:
    """Send the result to a plug-in. A plug-in that rejects the result stays registered."""
    try:
        await client.notify(registered, error)
    except CsiError as fault:
        _log.warning("the plug-in at %s does not accept the result of its registration: %s", client.socket, fault)


def sockets_in(directory: Path) -> dict[str, tuple[int, int]]:
    """Return the sockets below a directory, with their inodes and times of creation."""
    found = {}
    for path in directory.rglob("*") if directory.is_dir() else ():
        try:
            status = path.stat()
        except OSError:
            continue
        if stat.S_ISSOCK(status.st_mode) and not path.name.startswith("."):
            found[str(path)] = status.st_ino, status.st_ctime_ns
            if len(found) >= SOCKETS_MAX:
                break
    return found
