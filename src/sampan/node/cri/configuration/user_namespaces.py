"""`UserNamespaces`: ranges of ids for Pods with `hostUsers: false`.

Each such Pod has its own range of users and groups of the node. A process that leaves its container then has no rights
on the node or in other Pods. On volumes, files keep the ids that the containers see: the runtime mounts them with the
same mapping.

Guarantees: a range is in a file of the Pod's directory, so a restart keeps it. Removing the directory releases the
range.
Source: kubelet pkg/kubelet/userns/userns_manager.go (1.36).
"""

import json
import threading
from pathlib import Path
from typing import Any, Final

from sampan.node.cri.messages import AnyMessage, message, value
from sampan.node.runtime import SandboxError

LENGTH: Final = 65536
"""Number of ids in a Pod's range. The first range of the node belongs to no Pod."""
_FILE: Final = "userns"
_RANGES: Final = range(LENGTH, 2**32 - LENGTH, LENGTH)


class RangesExhausted(OSError):
    """All ranges belong to Pods."""


class UserNamespaces:
    """Ranges of the Pods of one node. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()

    def first_id(self, directory: Path) -> int:
        """Return the first id of a Pod's range, which is assigned on the first call. Raises `OSError`.

        `directory`: the Pod's directory, next to those of all other Pods.
        """
        with self._lock:
            file = directory / _FILE
            known = _first_id(file)
            if known:
                return known
            taken = {_first_id(each) for each in directory.parent.glob(f"*/{_FILE}")}
            found = next((each for each in _RANGES if each not in taken), 0)
            if not found:
                raise RangesExhausted("all ranges of user ids are in use")
            file.parent.mkdir(parents=True, exist_ok=True)
            # A crash must not leave half a file: the sandbox may run already with the ids in it.
            draft = file.with_suffix(".new")
            draft.write_text(json.dumps(_content(found)))
            draft.replace(file)
            return found


def release(directory: Path) -> None:
    """Release a Pod's range, after its last process has ended."""
    (directory / _FILE).unlink(missing_ok=True)


def unsupported(handler: str) -> SandboxError:
    """Return the error for a Pod with its own user namespace on a runtime without support for it.

    Such a runtime ignores the field, and would run the Pod with the node's users.
    """
    runtime = f'RuntimeClass handler "{handler}"' if handler else "runtime"
    text = f"can't set `spec.hostUsers: false`, {runtime} does not support user namespaces"
    return SandboxError("FailedCreatePodSandBox", f"Failed to create pod sandbox: {text}")


def mapping(first_id: int) -> AnyMessage:
    """Return the IDMapping of a range; the containers see ids from 0."""
    return message("IDMapping")(host_id=first_id, container_id=0, length=LENGTH)


def user_namespace(first_id: int) -> AnyMessage:
    """Return the UserNamespace of a Pod with its own range."""
    return message("UserNamespace")(mode=value("POD"), uids=[mapping(first_id)], gids=[mapping(first_id)])


def _content(first_id: int) -> dict[str, Any]:
    mappings = [{"hostId": first_id, "containerId": 0, "length": LENGTH}]
    return {"uidMappings": mappings, "gidMappings": mappings}


def _first_id(file: Path) -> int:
    try:
        return int(json.loads(file.read_bytes())["uidMappings"][0]["hostId"])
    except FileNotFoundError:
        return 0
