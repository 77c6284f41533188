"""`missing`: what this machine lacks to run machines; `require_package`: another program of a test.

Debian's packages are installed if possible, without starting their services.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final

import pytest

PACKAGES = ("containerd", "containernetworking-plugins", "nftables", "iptables", "busybox-static", "iproute2")
_PROGRAMS = ("containerd", "ctr", "runc", "nft", "iptables", "ip", "unshare", "nsenter", "ldd")


_FREE_PERCENT_MIN: Final = {"bytes": 15, "inodes": 5}
"""Thresholds of the kubelet's eviction, as in `node/eviction/thresholds.py`."""


def missing(also: Mapping[str, str] | None = None) -> str:
    """Return what this machine lacks; empty if it lacks nothing. Root installs Debian's packages.

    `also`: further programs and files, and the package of each.
    """
    if os.geteuid() != 0:
        return "needs root"
    further = also or {}
    if _lacking(further):
        _install(*PACKAGES, *further.values())
    lacking = _lacking(further)
    return f"not installed: {', '.join(lacking)}" if lacking else full_disk(Path(tempfile.gettempdir()))


def require_package(package: str, is_installed: Callable[[], object]) -> None:
    """Skip the test unless a Debian package is installed. Root installs it."""
    if not is_installed() and os.geteuid() == 0:
        _install(package)
    if not is_installed():
        pytest.skip(f"{package} is not installed: apt-get install {package}")


def require_program(program: str, package: str = "") -> None:
    """Skip the test unless a program is on PATH. Root installs its Debian package, which by default has its name."""
    require_package(package or program, lambda: shutil.which(program))


def _install(*packages: str) -> None:
    """Install packages; with newer lists of packages if those of this machine are too old."""
    if shutil.which("apt-get") is None:
        return
    # In runlevel 1, no package starts its service.
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
    install = ["apt-get", "install", "-y", "--no-install-recommends", *packages]
    if subprocess.run(install, env=environment, capture_output=True, check=False).returncode:
        subprocess.run(["apt-get", "update"], env=environment, capture_output=True, check=False)
        subprocess.run(install, env=environment, capture_output=True, check=False)


def full_disk(directory: Path) -> str:
    """Return why nodes with their files in a directory would evict Pods; empty if its disk has space."""
    disk = os.statvfs(directory)
    for what, free, all in (("bytes", disk.f_bavail, disk.f_blocks), ("inodes", disk.f_favail, disk.f_files)):
        share = _FREE_PERCENT_MIN[what]
        if all and free * 100 < all * share:
            return (
                f"the disk of {directory} has only {free * 100 // all} % of its {what} free: nodes there have "
                f"DiskPressure and evict Pods below {share} %; free space, or set TMPDIR to another disk"
            )
    return ""


def _lacking(further: Iterable[str]) -> list[str]:
    needed = [*_PROGRAMS, *further, "/usr/lib/cni/bridge", "/bin/busybox"]
    return [each for each in needed if not (os.path.exists(each) if each.startswith("/") else shutil.which(each))]
