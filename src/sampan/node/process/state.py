"""`StateDirectories`: Pods and containers on disk, so that the next agent can clean up after a killed one.

`<root>/pods/<uid>/sandbox.json`, `…/containers/<name>/record.json`, `…/containers/<name>/<run>/` (files of one run);
`<root>/logs/<namespace>_<name>_<uid>/<container>/<run>.log`. Files are replaced atomically.
"""

import logging
import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from sampan.node.beneath import remove_tree
from sampan.node.runtime import ContainerRecord
from sampan.node.views.pod import Pod
from sampan.node.volumes.removal import remove_pod
from sampan.wire.json import UNREADABLE

_RECORD = "record.json"
_SANDBOX = "sandbox.json"

_log = logging.getLogger("sampan.node")


class StoredSandbox(msgspec.Struct, frozen=True):
    """Stored Pod."""

    namespace: str
    name: str
    uid: str


class StoredContainer(msgspec.Struct, frozen=True):
    """Newest run of a container, with the facts that identify its process."""

    record: ContainerRecord
    pid: int = 0
    start_ticks: int = 0
    boot_id: str = ""
    mark: str = ""


_sandbox_decoder = msgspec.json.Decoder(StoredSandbox)
_container_decoder = msgspec.json.Decoder(StoredContainer)


class StateDirectories:
    """Directories of a runtime."""

    def __init__(self, root: Path) -> None:
        self._pods = root / "pods"
        self._logs = root / "logs"

    def make_private(self) -> None:
        """Close the directories of Pods and logs to other users. Raises `OSError`."""
        for directory in (self._pods, self._logs):
            directory.mkdir(parents=True, exist_ok=True)
            directory.chmod(0o750)

    def run_directory(self, uid: str, container: str, run: int) -> Path:
        """Return the directory of a run. Each restart of a container is a new run."""
        return self._container(uid, container) / str(run)

    def log_path(self, sandbox: StoredSandbox, container: str, run: int) -> Path:
        """Return the log file of one run of a container."""
        return self._log_directory(sandbox) / container / f"{run}.log"

    def store_sandbox(self, pod: Pod) -> StoredSandbox:
        """Store a Pod. Raises `OSError`."""
        metadata = pod.metadata
        sandbox = StoredSandbox(metadata.namespace, metadata.name, metadata.uid)
        directory = self._pods / sandbox.uid
        directory.mkdir(mode=0o750, parents=True, exist_ok=True)
        _replace(directory / _SANDBOX, msgspec.json.encode(sandbox))
        return sandbox

    def store_container(self, uid: str, stored: StoredContainer) -> None:
        """Store a container. Raises `OSError`."""
        directory = self._container(uid, stored.record.name)
        directory.mkdir(parents=True, exist_ok=True)
        _replace(directory / _RECORD, msgspec.json.encode(stored))

    def sandboxes(self) -> Iterator[StoredSandbox]:
        """Yield the stored Pods. Unreadable ones are logged and left out."""
        for path in sorted(self._pods.glob(f"*/{_SANDBOX}")):
            try:
                yield _sandbox_decoder.decode(path.read_bytes())
            except (OSError, *UNREADABLE) as error:
                _log.warning("cannot read %s, ignoring it: %s", path, error)

    def containers(self, uid: str) -> Iterator[StoredContainer]:
        """Yield the stored containers of a Pod. Unreadable ones are logged and left out."""
        for path in sorted(self._pods.glob(f"{uid}/containers/*/{_RECORD}")):
            try:
                yield _container_decoder.decode(path.read_bytes())
            except (OSError, *UNREADABLE) as error:
                _log.warning("cannot read %s, ignoring it: %s", path, error)

    def drop_runs(self, sandbox: StoredSandbox, container: str, run: int) -> None:
        """Delete the files of earlier runs, and all their logs except the last one."""
        for path in self._container(sandbox.uid, container).iterdir():
            if path.name.isdigit() and int(path.name) < run:
                remove_tree(path)
        for path in (self._log_directory(sandbox) / container).glob("*.log*"):
            number = path.name.partition(".")[0]
            if number.isdigit() and int(number) < run - 1:
                path.unlink(missing_ok=True)

    def drop_sandbox(self, sandbox: StoredSandbox) -> None:
        """Delete all files of a Pod, including its volumes."""
        remove_tree(self._log_directory(sandbox))
        remove_pod(self._pods / sandbox.uid)

    def _container(self, uid: str, name: str) -> Path:
        return self._pods / uid / "containers" / name

    def _log_directory(self, sandbox: StoredSandbox) -> Path:
        return self._logs / f"{sandbox.namespace}_{sandbox.name}_{sandbox.uid}"


def _replace(path: Path, data: bytes) -> None:
    temporary = path.with_suffix(".new")
    temporary.write_bytes(data)
    os.replace(temporary, path)
