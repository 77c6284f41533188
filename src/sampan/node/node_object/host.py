"""Capacity of this machine, for nodes that run processes on it.

Source: kubelet pkg/kubelet/nodestatus/setters.go `MachineInfo` (1.36).
"""

import os
import platform
import shutil
from pathlib import Path
from typing import Final

from sampan.node.node_object.content import NodeShape

_ARCHITECTURES: Final = {"x86_64": "amd64", "aarch64": "arm64"}


def host_shape(runtime: str, runtime_version: str, root: Path) -> NodeShape:
    """Return the shape of a node that offers this machine's resources. `root` is on the disk that its Pods use."""
    memory_kib = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 1024
    machine = platform.machine()
    disk = next((path for path in (root, *root.absolute().parents) if path.exists()), Path("/"))
    return NodeShape(
        cpu=str(os.cpu_count() or 1),
        memory=f"{memory_kib}Ki",
        ephemeral_storage=f"{shutil.disk_usage(disk).total // 1024}Ki",
        architecture=_ARCHITECTURES.get(machine, machine),
        runtime=runtime,
        runtime_version=runtime_version,
        kernel_version=platform.release(),
        os_image=_os_image(),
        machine_id=_first_line("/etc/machine-id"),
        boot_id=_first_line("/proc/sys/kernel/random/boot_id"),
        has_pod_cidr=False,
    )


def _os_image() -> str:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except OSError:
        return platform.system()


def _first_line(path: str) -> str:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return ""
