"""Socket of the container runtime."""

import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Final

SOCKETS: Final = (
    "/run/containerd/containerd.sock",
    "/run/crio/crio.sock",
    "/run/k3s/containerd/containerd.sock",
    "/var/run/cri-dockerd.sock",
)
_INSTALL: Final = (
    "Install one: Debian and Ubuntu: apt install containerd containernetworking-plugins nftables iptables; "
    "Fedora: dnf install containerd containernetworking-plugins nftables. "
    "Or give its socket with --container-runtime-endpoint"
)


class NoRuntime(Exception):
    """There is no container runtime. The message contains the action to take."""


def runtime_socket(endpoint: str, known: Sequence[str] = SOCKETS) -> str:
    """Return the path of the runtime's socket: the given one, or the first that exists. Raises `NoRuntime`."""
    if os.geteuid() != 0:
        raise NoRuntime(
            "a node with the runtime cri needs root. Run the server as a user with --nodes 0, and the node with "
            "sudo sampan node --runtime cri --kubeconfig FILE"
        )
    if endpoint:
        path = endpoint.removeprefix("unix://")
        if not _is_socket(path):
            raise NoRuntime(f"--container-runtime-endpoint: {path} is not a socket. {_INSTALL}")
        return path
    for path in known:
        if _is_socket(path):
            return path
    raise NoRuntime(f"no container runtime at {', '.join(known)}. {_INSTALL}")


def _is_socket(path: str) -> bool:
    try:
        return stat.S_ISSOCK(Path(path).stat().st_mode)
    except OSError:
        return False
