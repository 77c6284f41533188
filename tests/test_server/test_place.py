"""The place of the warm parent has one parent, and never none for long."""

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from sampan.test_server.place import LOCK, SOCKET, PlaceError, prepare_place
from tests.test_server.api import until


def start_parent(directory: Path) -> "subprocess.Popen[bytes]":
    """Start a warm parent that ends after five seconds without an order."""
    command = [sys.executable, "-m", "sampan.cli.test_server.warm", str(directory)]
    return subprocess.Popen(command, env={**os.environ, "SAMPAN_TEST_IDLE_S": "5"})


def test_a_parent_waits_for_the_end_of_the_one_before_and_then_serves(tmp_path: Path) -> None:
    directory = tmp_path / "of-user" / "of-code"
    prepare_place(directory)
    with (directory / LOCK).open("w") as ending:
        fcntl.flock(ending, fcntl.LOCK_EX)  # a parent that has removed its socket
        parent = start_parent(directory)
        with pytest.raises(subprocess.TimeoutExpired):
            parent.wait(1)
    until(lambda: (directory / SOCKET).exists(), 3000)
    assert parent.wait(60) == 0


def test_a_parent_ends_when_another_one_serves(tmp_path: Path) -> None:
    directory = tmp_path / "of-user" / "of-code"
    first = start_parent(directory)
    until(lambda: (directory / SOCKET).exists(), 3000)
    second = start_parent(directory)
    assert second.wait(30) == 0
    assert first.poll() is None
    assert first.wait(60) == 0


def test_a_directory_readable_by_other_users_is_refused(tmp_path: Path) -> None:
    parent = tmp_path / "parent"
    parent.mkdir(mode=0o755)
    with pytest.raises(PlaceError, match="only you may use"):
        prepare_place(parent / "place")
