"""Images made of Debian's busybox-static, as archives for `ctr images import`."""

import subprocess
import tarfile
from pathlib import Path

from tests.machines.oci import OciArchive

APP, PAUSE = "registry.test/app:1", "registry.test/pause:1"
_BUSYBOX = Path("/bin/busybox")


def build(archive: Path) -> None:
    """Write an OCI archive with both images."""
    layer = archive.with_suffix(".layer")
    write_layer(layer)
    with OciArchive(archive) as images:
        busybox = images.layer(layer)
        for name in (APP, PAUSE):
            config = {"Cmd": ["/bin/sleep", "1000000"], "Env": ["PATH=/bin"], "Labels": {"name": name}}
            images.image(name, [busybox], config)
    layer.unlink()


def write_layer(path: Path) -> None:
    """Write a tar with busybox under the names of all its programs."""
    programs = subprocess.run([_BUSYBOX, "--list"], capture_output=True, text=True, check=True).stdout.split()
    with tarfile.open(path, "w") as tar:
        for name, mode in (("bin", 0o755), ("tmp", 0o1777), ("dev", 0o755), ("proc", 0o755), ("sys", 0o755)):
            entry = tarfile.TarInfo(name)
            entry.type, entry.mode = tarfile.DIRTYPE, mode
            tar.addfile(entry)
        tar.add(_BUSYBOX, "bin/busybox")
        for name in programs:
            entry = tarfile.TarInfo(f"bin/{name}")
            entry.type, entry.linkname = tarfile.SYMTYPE, "busybox"
            if name != "busybox":
                tar.addfile(entry)
