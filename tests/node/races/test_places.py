"""Every place where the agent works in a volume, while a container replaces a directory of it by a link.

`python -m tests.attack races` runs each of them for a minute.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from sampan.node.beneath import detach_all_below
from sampan.node.volumes.mounts import MountError
from sampan.node.volumes.parts import PartError, Parts
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
    parts = Parts(place.agent, binds=True)
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
            _, identity = Parts(place.agent).of_volume(place.volume, "part/inner", place="main/0")
        except (PartError, MountError):
            return
        assert identity not in elsewhere

    attack(place, step)


def test_missing_part_is_never_created_outside_of_its_volume(place: Place) -> None:
    def step(number: int) -> None:
        try:
            Parts(place.agent).of_volume(place.volume, f"part/new-{number}/deep", place="main/0")
        except PartError:
            return

    attack(place, step)


def test_copied_part_has_no_file_of_the_machine(place: Place) -> None:
    def step(number: int) -> None:
        try:
            copy = Parts(place.agent).of_written(place.volume, "part/inner", place="main/0")
        except PartError:
            return
        assert not (copy / "secret").exists()

    attack(place, step)
