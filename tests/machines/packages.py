"""`missing`: what this machine lacks to run machines. Debian's packages are installed if possible."""

import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping

PACKAGES = ("containerd", "containernetworking-plugins", "nftables", "iptables", "busybox-static", "iproute2")
_PROGRAMS = ("containerd", "ctr", "runc", "nft", "iptables", "ip", "unshare", "nsenter", "ldd")


def missing(also: Mapping[str, str] | None = None) -> str:
    """Return what this machine lacks; empty if it lacks nothing. Root installs Debian's packages.

    `also`: further programs, and the package of each.
    """
    if os.geteuid() != 0:
        return "needs root"
    further = also or {}
    if _lacking(further) and shutil.which("apt-get") is not None:
        subprocess.run(
            ["apt-get", "install", "-y", "--no-install-recommends", *PACKAGES, *further.values()],
            env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
            capture_output=True,
            check=False,
        )
    lacking = _lacking(further)
    return f"not installed: {', '.join(lacking)}" if lacking else ""


def _lacking(further: Iterable[str]) -> list[str]:
    found = [name for name in (*_PROGRAMS, *further) if shutil.which(name) is None]
    return found + [path for path in ("/usr/lib/cni/bridge", "/bin/busybox") if not os.path.exists(path)]
