"""Settings of a node with a CRI runtime."""

from dataclasses import dataclass
from pathlib import Path, PurePosixPath


@dataclass(frozen=True, slots=True)
class CriSettings:
    """Settings of a node with a CRI runtime."""

    root: Path
    """Directory of the agent."""
    host_ips: tuple[str, ...]
    logs: PurePosixPath
    """Directory of the logs of all Pods."""
    instance: str = ""
    """Id of the agent, which only removes the Pods that it has made itself."""
    cgroup_root: str = "/"
    memory_bytes: int = 0
    """Memory of the node."""
