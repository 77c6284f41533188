"""`Disk`: a small file system of a member's own, which can be full, and can stand still.

It is ext4 on a loop device, on an image in memory: it needs root, and a mount namespace (`network.isolate`).
"""

import fcntl
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_FREEZE, _THAW = 0xC0045877, 0xC0045878
"""ioctls FIFREEZE and FITHAW of linux/fs.h."""
_SIZE_BYTES = 256 << 20
"""etcd takes twice 64 MB at once for its log."""
_BLOCK = 1 << 12


class Disk:
    """A mounted one."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._ballast = directory / "ballast"
        self._frozen = False

    def fill(self) -> None:
        """Nothing is left."""
        file = os.open(self._ballast, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
        try:
            for size in (_BLOCK << 8, _BLOCK, 1):
                with suppress(OSError):  # that is what it is for
                    while True:
                        os.write(file, bytes(size))
        finally:
            os.close(file)

    def free(self) -> None:
        """There is space again. Idempotent."""
        self._ballast.unlink(missing_ok=True)

    def freeze(self) -> None:
        """Block all writers until `thaw`."""
        self._control(_FREEZE)
        self._frozen = True

    def thaw(self) -> None:
        """Writes go on. Idempotent."""
        if self._frozen:
            self._control(_THAW)
            self._frozen = False

    def _control(self, number: int) -> None:
        file = os.open(self.directory, os.O_RDONLY)
        try:
            fcntl.ioctl(file, number, 0)
        finally:
            os.close(file)


def disks_possible() -> bool:
    """Return whether this process may mount disks."""
    return os.geteuid() == 0 and Path("/dev/loop-control").exists() and not _in_user_namespace()


@contextmanager
def disk(directory: Path, images: Path) -> Iterator[Disk]:
    """An empty one at `directory`, whose image is in `images`."""
    image = made_image(images / f"{directory.name}.img", _SIZE_BYTES)
    directory.mkdir(parents=True, exist_ok=True)
    _run("mount", "-o", "loop", str(image), str(directory))
    made = Disk(directory)
    try:
        yield made
    finally:
        made.thaw()
        _run("umount", str(directory))


def made_image(image: Path, size_bytes: int) -> Path:
    """A file that can be mounted as a disk."""
    with image.open("wb"):
        os.truncate(image, size_bytes)
    _run("mkfs.ext4", "-q", "-F", "-m", "0", "-O", "^has_journal", str(image))
    return image


@contextmanager
def memory(directory: Path) -> Iterator[Path]:
    """A file system in memory at `directory`."""
    directory.mkdir(parents=True, exist_ok=True)
    _run("mount", "-t", "tmpfs", "tmpfs", str(directory))
    try:
        yield directory
    finally:
        _run("umount", str(directory))


def _in_user_namespace() -> bool:
    """Return whether this process runs in a user namespace, where root is another user outside."""
    return Path("/proc/self/uid_map").read_text().split() != ["0", "0", "4294967295"]


def _run(*line: str) -> None:
    subprocess.run(line, check=True)
