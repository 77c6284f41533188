"""Volumes and snapshots of the test driver: directories, files for block volumes, and one JSON file about them."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from threading import RLock
from typing import Any


@dataclass
class Volume:
    """Volume of the driver."""

    id: str
    name: str
    capacity: int
    is_block: bool = False
    nodes: list[str] = field(default_factory=list)
    """Nodes to which it is attached."""
    source: str = ""
    """Snapshot or volume from which it was made."""


@dataclass
class Snapshot:
    """Copy of a volume."""

    id: str
    name: str
    volume: str
    size: int
    created: float


class Store:
    """State of the driver. It survives the end of the process."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._lock = RLock()
        self._file = directory / "state.json"
        directory.mkdir(parents=True, exist_ok=True)
        stored = json.loads(self._file.read_text()) if self._file.exists() else {"volumes": [], "snapshots": []}
        self.volumes = {each["id"]: Volume(**each) for each in stored["volumes"]}
        self.snapshots = {each["id"]: Snapshot(**each) for each in stored["snapshots"]}

    @contextmanager
    def change(self) -> Iterator[None]:
        """Hold the lock, and write the state at the end."""
        with self._lock:
            yield
            state: dict[str, Any] = {
                "volumes": [asdict(each) for each in self.volumes.values()],
                "snapshots": [asdict(each) for each in self.snapshots.values()],
            }
            new = self._file.with_suffix(".new")
            new.write_text(json.dumps(state))
            new.rename(self._file)

    def content(self, volume: str) -> Path:
        """Return the directory of a volume's files."""
        return self.directory / "volumes" / volume

    def image(self, volume: str) -> Path:
        """Return the file behind a block volume."""
        return self.directory / "images" / volume

    def create(self, volume: Volume) -> None:
        """Create a volume, with the content of its source."""
        if volume.is_block:
            self.image(volume.id).parent.mkdir(parents=True, exist_ok=True)
            with self.image(volume.id).open("wb") as file:
                file.truncate(volume.capacity)
        else:
            source = self._source(volume.source)
            if source is not None:
                shutil.copytree(source, self.content(volume.id), symlinks=True, dirs_exist_ok=True)
            self.content(volume.id).mkdir(parents=True, exist_ok=True)
            self.content(volume.id).chmod(0o777)
        self.volumes[volume.id] = volume

    def _source(self, source: str) -> Path | None:
        if source in self.snapshots:
            return self.directory / "snapshots" / source
        return self.content(source) if source in self.volumes else None

    def delete(self, volume: str) -> None:
        """Delete a volume. Does nothing if it does not exist."""
        detach_loop(self.image(volume))
        shutil.rmtree(self.content(volume), ignore_errors=True)
        self.image(volume).unlink(missing_ok=True)
        self.volumes.pop(volume, None)

    def create_snapshot(self, snapshot: Snapshot) -> None:
        """Copy a volume."""
        target = self.directory / "snapshots" / snapshot.id
        target.parent.mkdir(exist_ok=True)
        if self.content(snapshot.volume).is_dir():
            shutil.copytree(self.content(snapshot.volume), target, symlinks=True, dirs_exist_ok=True)
        self.snapshots[snapshot.id] = snapshot

    def delete_snapshot(self, snapshot: str) -> None:
        """Delete a copy. Does nothing if it does not exist."""
        shutil.rmtree(self.directory / "snapshots" / snapshot, ignore_errors=True)
        self.snapshots.pop(snapshot, None)


def loop_of(image: Path, *, create: bool) -> str:
    """Return the loop device of a file; empty if it has none and none is to be created."""
    found = subprocess.run(
        ["losetup", "-j", str(image), "-O", "NAME", "-n"], capture_output=True, text=True, check=True
    )
    if found.stdout.strip() or not create:
        return found.stdout.split("\n")[0].strip()
    made = subprocess.run(["losetup", "-f", "--show", str(image)], capture_output=True, text=True, check=True)
    return made.stdout.strip()


def detach_loop(image: Path) -> None:
    """Remove the loop device of a file, if it has one."""
    device = loop_of(image, create=False) if image.exists() and os.geteuid() == 0 else ""
    if device:
        subprocess.run(["losetup", "-d", device], check=True)


def is_mounted(path: Path) -> bool:
    """Return whether something is mounted at a path; `os.path.ismount` misses bind mounts in a file system."""
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    return any(line.split(" ")[4] == str(path) for line in lines)


def bind(source: str, target: Path, *, read_only: bool = False) -> None:
    """Bind-mount a file or directory where this process may; else make a link. Does nothing if that was done."""
    if is_mounted(target) or target.is_symlink():
        return
    if os.geteuid() != 0:
        target.symlink_to(source)
        return
    if os.path.isdir(source):
        target.mkdir(exist_ok=True)
    else:
        target.touch()
    subprocess.run(["mount", "--bind", source, str(target)], check=True)
    if read_only:
        subprocess.run(["mount", "-o", "remount,bind,ro", str(target)], check=True)


def unbind(target: Path, *, remove: bool) -> None:
    """Undo `bind`. Does nothing if there is nothing."""
    if target.is_symlink():
        target.unlink()
        return
    while is_mounted(target):
        subprocess.run(["umount", str(target)], check=True)
    if remove and target.is_dir():
        target.rmdir()
    elif remove:
        target.unlink(missing_ok=True)
