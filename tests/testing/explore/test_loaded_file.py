"""`sampan test explore FILE` loads the file like a module of the user's project."""

import subprocess
import sys
from pathlib import Path

import pytest

OPERATOR = """
from sampan.component_base.resources import CONFIG_MAPS
from sampan.operator.builder import Builder
from sampan.testing.explore import scenario


async def reconcile(request):
    pass


def set_up(manager):
    Builder(manager).for_(CONFIG_MAPS).complete(reconcile)
"""
SCENARIO = (
    OPERATOR
    + """
assert NAME


@scenario(set_up)
async def nothing(cluster):
    await cluster.settled()
"""
)


def explored(folder: Path, file: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a new process, whose search path has no folder of the test."""
    command = [sys.executable, "-P", "-c", "from sampan.cli.main import main; main()", "test", "explore", file]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)


def write(place: Path, text: str) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)


@pytest.mark.parametrize(
    ("neighbour", "file", "line"),
    [
        ("neighbour.py", "scenarios.py", "from neighbour import NAME"),
        ("tests/neighbour.py", "tests/scenarios.py", "from neighbour import NAME"),
        ("app/neighbour.py", "tests/scenarios.py", "from app.neighbour import NAME"),
        ("tests/neighbour.py", "tests/scenarios.py", "from .neighbour import NAME"),
    ],
    ids=["folder", "folder-of-the-file", "working-directory", "package"],
)
def test_a_scenario_file_imports_modules_of_its_project(tmp_path: Path, neighbour: str, file: str, line: str) -> None:
    write(tmp_path / neighbour, "NAME = 1\n")
    if line.startswith("from ."):
        write(tmp_path / "tests/__init__.py", "")
    write(tmp_path / file, line + SCENARIO)
    done = explored(tmp_path, file)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("nothing: ")


def test_a_file_that_cannot_be_loaded_is_one_line_with_its_place(tmp_path: Path) -> None:
    write(tmp_path / "scenarios.py", "import asyncio\nimport neighbuor\n")
    done = explored(tmp_path, "scenarios.py")
    assert done.returncode == 1
    place = tmp_path / "scenarios.py"
    assert done.stderr == (
        f"error: cannot load scenarios.py, in {place}:2: ModuleNotFoundError: No module named 'neighbuor'\n"
    )


THREE = (
    OPERATOR
    + """

@scenario(set_up, loops="chian")
async def wrong_loop(cluster):
    await cluster.settled()


@scenario(set_up, crds=["nowhere.yaml"])
async def wrong_crd(cluster):
    await cluster.settled()


@scenario(set_up)
async def wrong_steps(cluster):
    await cluster.get("cm/box")


@scenario(set_up)
async def right(cluster):
    await cluster.settled()
"""
)


def test_an_invalid_scenario_is_reported_in_a_line_and_the_rest_run(tmp_path: Path) -> None:
    write(tmp_path / "scenarios.py", THREE)
    done = explored(tmp_path, "scenarios.py")
    assert done.returncode == 1
    assert done.stdout.startswith("right: ")
    loop, crd, steps = done.stderr.splitlines()
    assert loop.startswith("error: wrong_loop: loops: 'chian' is unknown, did you mean 'chain'; known are gc, ")
    assert crd == 'error: wrong_crd: the path "nowhere.yaml" does not exist'
    assert steps == 'error: wrong_steps fails without a fault: NotFound: configmaps "box" not found'
