"""Every place where the agent works in a volume, while a container replaces a directory of it by a link.

`python -m tests.attack races` runs each of them for a minute.
"""

import datetime as dt
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from sampan.node.beneath import detach_all_below, open_directory, opened, remove_tree, walk
from sampan.node.cri.container_log import rotate
from sampan.node.eviction.meter import disk_use
from sampan.node.process.logs.log_reader import log_tail
from sampan.node.volumes.atomic_writer import File, write_files
from sampan.node.volumes.mounts import MountError
from sampan.node.volumes.ownership import give_to_group
from sampan.node.volumes.sub_path_mounts import PartError, SubPathMounts
from tests.node.races.swapping import repetitions, snapshot, swapping

SECONDS = float(os.environ.get("SAMPAN_RACE_SECONDS", "0.5"))
OWNED = pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount and own files")


@dataclass(frozen=True, slots=True)
class Place:
    """Volume with a directory `part` that is a link to the machine's files half of the time."""

    volume: Path
    machine: Path
    agent: Path


@pytest.fixture
def place(tmp_path: Path) -> Place:
    found = Place(tmp_path / "volume", tmp_path / "machine", tmp_path / "agent")
    for directory in (found.volume / "part" / "inner", found.machine / "inner", found.agent):
        directory.mkdir(parents=True)
        directory.chmod(0o700)
    (found.machine / "inner" / "secret").write_text("of the machine")
    (found.machine / "inner" / "secret").chmod(0o600)
    (found.volume / "part" / "inner" / "own").write_text("of the volume")
    (found.volume / "other").symlink_to(found.machine)
    return found


def attack(place: Place, step: Callable[[int], None]) -> None:
    """Repeat a step while the link is swapped. Nothing of the machine may change."""
    before = snapshot(place.machine)
    with swapping(place.volume / "part", place.volume / "other"):
        for number in repetitions(SECONDS):
            step(number)
    assert snapshot(place.machine) == before


@pytest.mark.parametrize("sub_path", ["part", "part/inner", "part/inner/secret"])
@OWNED
def test_mounted_part_is_never_outside_of_its_volume(place: Place, sub_path: str) -> None:
    parts = SubPathMounts(place.agent, binds=True)
    mounted = 0

    def step(number: int) -> None:
        nonlocal mounted
        try:
            path, _ = parts.of_volume(place.volume, sub_path, place="main/0")
        except PartError:
            return
        mounted += 1
        names = {each.name for each in path.rglob("*")}
        assert "secret" not in names
        assert os.lstat(path).st_ino != os.lstat(place.machine / "inner").st_ino

    try:
        attack(place, step)
    finally:
        detach_all_below(place.agent)
    assert mounted


def test_identity_of_a_part_is_never_that_of_a_file_outside_of_the_volume(place: Place) -> None:
    elsewhere = {(each.lstat().st_dev, each.lstat().st_ino) for each in (place.machine, *place.machine.rglob("*"))}

    def step(number: int) -> None:
        try:
            _, identity = SubPathMounts(place.agent).of_volume(place.volume, "part/inner", place="main/0")
        except (PartError, MountError):
            return
        assert identity not in elsewhere

    attack(place, step)


def test_missing_part_is_never_created_outside_of_its_volume(place: Place) -> None:
    def step(number: int) -> None:
        try:
            SubPathMounts(place.agent).of_volume(place.volume, f"part/new-{number}/deep", place="main/0")
        except PartError:
            return

    attack(place, step)


def test_copied_part_has_no_file_of_the_machine(place: Place) -> None:
    def step(number: int) -> None:
        try:
            copy = SubPathMounts(place.agent).of_written(place.volume, "part/inner", place="main/0")
        except PartError:
            return
        assert not (copy / "secret").exists()

    attack(place, step)


@OWNED
def test_group_never_owns_files_of_the_machine(place: Place) -> None:
    def step(number: int) -> None:
        with suppress(OSError):
            give_to_group(place.volume, 4000 + number % 2)

    attack(place, step)


def test_measured_files_are_never_those_of_the_machine(place: Place) -> None:
    for number in range(200):
        (place.machine / "inner" / f"file-{number}").touch()

    def step(number: int) -> None:
        assert disk_use(place.volume).inodes < 100

    attack(place, step)


def test_removal_never_deletes_files_of_the_machine(place: Place) -> None:
    (place.volume / "part" / "link").symlink_to(place.machine / "inner")
    before = snapshot(place.machine)

    def step(number: int) -> None:
        with opened(open_directory(place.volume)) as top:
            for each in walk(top, unlock=True):
                assert each.name != "secret"

    with suppress(OSError):  # A directory that is moved ends the walk.
        attack(place, step)
    remove_tree(place.volume)
    assert not place.volume.exists()
    assert snapshot(place.machine) == before


@pytest.mark.parametrize("target", ["/", "absolute", "../machine"])
def test_link_of_a_container_is_not_the_writers_data(place: Place, target: str) -> None:
    before = snapshot(place.machine)
    write_files(place.volume, {"a": File(b"1")})
    (place.volume / "..data").unlink()
    (place.volume / "..data").symlink_to(place.machine if target == "absolute" else target)
    assert write_files(place.volume, {"a": File(b"2")})
    assert (place.volume / "a").read_bytes() == b"2"
    assert snapshot(place.machine) == before


def test_log_is_never_a_file_of_the_machine(place: Place) -> None:
    log = place.volume / "part" / "inner" / "0.log"
    log.write_text("2026-01-01T00:00:00Z stdout F of the volume\n")
    (place.machine / "inner" / "0.log").write_text("2026-01-01T00:00:00Z stdout F of the machine\n")

    def step(number: int) -> None:
        assert b"machine" not in log_tail(log, lines_max=10, bytes_max=1000)
        rotate(log, dt.datetime(2026, 1, 1, tzinfo=dt.UTC), bytes_max=1 << 20)

    attack(place, step)
