"""`sampan leave`: what it refuses, and what it must not delete."""

import fcntl
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sampan.app.controller_manager.join_settings import LeaveSettings
from sampan.app.errors import StartError
from sampan.app.nodes.leave import leave
from sampan.node.process.instance import INSTANCE_FILE, instance_of
from tests.machines import Machine, machine, missing


def test_a_directory_that_is_no_nodes_is_not_deleted(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StartError, match="is not the directory of a node"):
        leave(LeaveSettings(root=tmp_path))
    assert (tmp_path / "file").exists()


def test_the_directory_of_a_running_agent_is_not_deleted(tmp_path: Path) -> None:
    instance_of(tmp_path)
    with (tmp_path / INSTANCE_FILE).open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(StartError, match="an agent uses the directory"):
            leave(LeaveSettings(root=tmp_path))
    assert (tmp_path / INSTANCE_FILE).exists()


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Machine]:
    """Machine without a container runtime."""
    lacking = missing()
    if lacking:
        pytest.skip(lacking)
    with machine(tmp_path / "machine") as found:
        yield found


def test_files_that_are_mounted_below_the_directory_stay(other: Machine) -> None:
    root, data = other.root / "node", other.root / "data"
    instance_of(root)
    data.mkdir()
    (data / "precious").touch()
    (root / "pods" / "mounted").mkdir(parents=True)
    other.run("mount", "--bind", str(data), str(root / "pods" / "mounted"))
    other.run(sys.executable, "-m", "sampan.cli", "leave", "--root", str(root))
    assert (data / "precious").exists()
    assert not root.exists()
