"""`RegistryFile`: the registries file of a node, read again when it changes.

Concurrency: `current` is called by pulls and by `run`, which also repairs containerd's files every `CHECK_S` seconds.
A lock makes sure that only one of them reads the file.
"""

import asyncio
import logging
import os
import stat
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from sampan.node.cri.client import CriClient
from sampan.node.cri.errors import CriError
from sampan.node.cri.registries.configuration import Registries, read_registries
from sampan.node.cri.registries.hosts import MARK, hosts_files
from sampan.wire import json

_log = logging.getLogger("sampan.node")

DEFAULT: Final = Path("/etc/sampan/registries.yaml")
_USUAL: Final = "/etc/containerd/certs.d"
CHECK_S: Final = 10.0
_BYTES_MAX: Final = 1 << 20
_HOSTS_FILE = "hosts.toml"


class RegistryFile:
    """Registries of one node. Without the file there are none."""

    def __init__(self, path: Path, client: CriClient) -> None:
        self._path = path
        self._client = client
        self._state: tuple[int, int, int] | None = None
        self._registries = Registries()
        self._lock = asyncio.Lock()
        self._logged: set[str] = set()
        self._has_written = False

    async def run(self) -> None:
        """Keep the files of containerd current until cancelled."""
        while True:
            await self.current(repair=True)
            await asyncio.sleep(CHECK_S)

    async def current(self, *, repair: bool = False) -> Registries:
        """Return the registries of the file. A file with a fault is logged, and changes nothing."""
        async with self._lock:
            if await asyncio.to_thread(self._read) or repair:
                await self._write_hosts()
            return self._registries

    def _read(self) -> bool:
        """Read the file if it has changed. Return True if it has."""
        try:
            found = self._path.stat()
            state = (found.st_mtime_ns, found.st_size, found.st_ino)
            if state == self._state:
                return False
            with self._path.open("rb") as file:
                mode = os.fstat(file.fileno())
                text = file.read(_BYTES_MAX + 1)
            self._state = state
            if len(text) > _BYTES_MAX:
                raise ValueError(f"longer than {_BYTES_MAX} bytes")
            self._registries = read_registries(text)
            self._warn_of(mode)
        except FileNotFoundError:
            changed, self._state, self._registries = self._state is not None, None, Registries()
            return changed
        except (OSError, ValueError) as error:
            self._report(f"cannot read {self._path}: {error}; keeping the registries of before")
            return False
        self._logged.clear()
        return True

    def _warn_of(self, found: os.stat_result) -> None:
        if self._registries.has_secrets and stat.S_IMODE(found.st_mode) & 0o077:
            _log.warning("%s has passwords, and other users can read it: chmod 600 %s", self._path, self._path)
        if found.st_uid not in (0, os.geteuid()) or stat.S_IMODE(found.st_mode) & 0o022:
            _log.warning("other users can change %s: chown root %s; chmod 600 %s", *[self._path] * 3)

    def _report(self, text: str) -> None:
        if text not in self._logged:
            self._logged.add(text)
            _log.error("cannot use the registries of the node: %s", text)

    async def _write_hosts(self) -> None:
        """Write the files for containerd, into the directory from which it reads them."""
        desired = hosts_files(self._registries)
        if not desired and not self._has_written and self._state is None:
            return
        try:
            directory = await self._directory()
            if directory is None:
                if desired:
                    self._report(_NO_DIRECTORY)
                return
            foreign = await asyncio.to_thread(write_hosts, directory, desired)
            self._has_written = bool(desired)
        except (CriError, OSError) as error:
            self._report(f"cannot pass the registries to the container runtime: {error}")
            return
        for host in foreign:
            self._report(f"{directory}/{host}/hosts.toml is not from sampan; {self._path} has no effect on {host}")

    async def _directory(self) -> Path | None:
        """Return the directory that the runtime's configuration names. **Raises** `CriError`."""
        info = await self._client.status_info()
        try:
            configured = json.decode(info["config"].encode())["registry"]["configPath"]
        except (ValueError, LookupError, TypeError):
            # containerd 2 does not report it.
            is_containerd = (await self._client.version()).runtime_name == "containerd" and "config" in info
            configured = _USUAL if is_containerd else ""
        first = str(configured or "").split(":")[0]
        return Path(first) if first.startswith("/") else None


_NO_DIRECTORY: Final = (
    "the container runtime reads no hosts.toml files, so mirrors and TLS settings of registries have no effect. Set "
    'config_path = "/etc/containerd/certs.d" in [plugins."io.containerd.grpc.v1.cri".registry] of '
    "/etc/containerd/config.toml (containerd 2: it is the default), and restart containerd"
)


def write_hosts(directory: Path, desired: Mapping[str, str]) -> list[str]:
    """Write, replace and remove files with the mark. Return the hosts that have a file of the user instead.

    containerd reads them for each pull. **Raises** `OSError`.
    """
    foreign = []
    for host, content in desired.items():
        path = directory / host / _HOSTS_FILE
        present = _text_of(path)
        if present is not None and not present.startswith(MARK):
            foreign.append(host)
        elif present != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            _replace(path, content)
    for path in directory.glob(f"*/{_HOSTS_FILE}") if directory.is_dir() else ():
        if path.parent.name not in desired and (_text_of(path) or "").startswith(MARK):
            path.unlink(missing_ok=True)
            with suppress(OSError):  # the directory has other files
                path.parent.rmdir()
    return foreign


def _text_of(path: Path) -> str | None:
    try:
        return path.read_text("utf-8", "replace")
    except FileNotFoundError:
        return None


def _replace(path: Path, content: str) -> None:
    handle, name = tempfile.mkstemp(prefix=".hosts-", dir=path.parent)
    try:
        with os.fdopen(handle, "w") as file:
            os.fchmod(handle, 0o644)
            file.write(content)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
