"""What is known of Pods and containers, on disk: an agent that was killed finds out what it had started.

`<root>/pods/<uid>/sandbox.json`, `…/containers/<name>/record.json`, `…/containers/<name>/<run>/` (files of one run);
`<root>/logs/<namespace>_<name>_<uid>/<container>/<run>.log`. Files are replaced whole.
"""

import logging
import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from sampan.node.process.root_directory import delete_tree
from sampan.node.runtime import ContainerRecord
from sampan.node.tmpfs import unmount_below
from sampan.node.views import Pod
from sampan.wire.json import UNREADABLE

_RECORD = "record.json"
_SANDBOX = "sandbox.json"

_log = logging.getLogger("sampan.node")


class KeptSandbox(msgspec.Struct, frozen=True):
    """A Pod that was here."""

    namespace: str
    name: str
    uid: str


class KeptContainer(msgspec.Struct, frozen=True):
    """The newest run of a container, and by what its process is known."""

    record: ContainerRecord
    pid: int = 0
    start_ticks: int = 0
    boot_id: str = ""
    mark: str = ""


_sandbox_decoder = msgspec.json.Decoder(KeptSandbox)
_container_decoder = msgspec.json.Decoder(KeptContainer)


class State:
    """The directories of a runtime."""

    def __init__(self, root: Path) -> None:
        self._pods = root / "pods"
        self._logs = root / "logs"

    def make_private(self) -> None:
        """Let no other user of the machine look into Pods and logs. Raises `OSError`."""
        for directory in (self._pods, self._logs):
            directory.mkdir(parents=True, exist_ok=True)
            directory.chmod(0o750)

    def run_directory(self, uid: str, container: str, run: int) -> Path:
        """The files of one run of a container."""
        return self._container(uid, container) / str(run)

    def log_path(self, sandbox: KeptSandbox, container: str, run: int) -> Path:
        """The log of one run of a container."""
        return self._log_directory(sandbox) / container / f"{run}.log"

    def keep_sandbox(self, pod: Pod) -> KeptSandbox:
        """A Pod is here. Raises `OSError`."""
        metadata = pod.metadata
        sandbox = KeptSandbox(metadata.namespace, metadata.name, metadata.uid)
        directory = self._pods / sandbox.uid
        directory.mkdir(mode=0o750, parents=True, exist_ok=True)
        _replace(directory / _SANDBOX, msgspec.json.encode(sandbox))
        return sandbox

    def keep_container(self, uid: str, kept: KeptContainer) -> None:
        """What is now known of a container. Raises `OSError`."""
        directory = self._container(uid, kept.record.name)
        directory.mkdir(parents=True, exist_ok=True)
        _replace(directory / _RECORD, msgspec.json.encode(kept))

    def sandboxes(self) -> Iterator[KeptSandbox]:
        """The Pods that are here; what of one cannot be read is said, and left out."""
        for path in sorted(self._pods.glob(f"*/{_SANDBOX}")):
            try:
                yield _sandbox_decoder.decode(path.read_bytes())
            except (OSError, *UNREADABLE) as error:
                _log.warning("%s cannot be read: %s", path, error)

    def containers(self, uid: str) -> Iterator[KeptContainer]:
        """The same of the containers of a Pod."""
        for path in sorted(self._pods.glob(f"{uid}/containers/*/{_RECORD}")):
            try:
                yield _container_decoder.decode(path.read_bytes())
            except (OSError, *UNREADABLE) as error:
                _log.warning("%s cannot be read: %s", path, error)

    def drop_runs(self, sandbox: KeptSandbox, container: str, run: int) -> None:
        """Before a run begins: delete the files of those before, and all logs but the last one's."""
        for path in self._container(sandbox.uid, container).iterdir():
            if path.name.isdigit() and int(path.name) < run:
                delete_tree(path)
        for path in (self._log_directory(sandbox) / container).glob("*.log*"):
            number = path.name.partition(".")[0]
            if number.isdigit() and int(number) < run - 1:
                path.unlink(missing_ok=True)

    def drop_sandbox(self, sandbox: KeptSandbox) -> None:
        """Delete all of a Pod, its volumes too."""
        delete_tree(self._log_directory(sandbox))
        unmount_below(self._pods / sandbox.uid)
        delete_tree(self._pods / sandbox.uid)

    def _container(self, uid: str, name: str) -> Path:
        return self._pods / uid / "containers" / name

    def _log_directory(self, sandbox: KeptSandbox) -> Path:
        return self._logs / f"{sandbox.namespace}_{sandbox.name}_{sandbox.uid}"


def _replace(path: Path, data: bytes) -> None:
    temporary = path.with_suffix(".new")
    temporary.write_bytes(data)
    os.replace(temporary, path)
