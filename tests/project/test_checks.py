"""A new project passes its own tests, ruff and mypy."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.project.conftest import Sampan
from tests.user_environment import user_environment

CHECKS = (
    ("ruff", "check", "."),
    ("ruff", "format", "--check", "."),
    ("mypy",),
    ("pytest", "-q", "-p", "no:cacheprovider", "-p", "no:asyncio"),
)
KINDS = (
    ("Boat", "length:int>0", "home:str=Wuhan!", "mode:enum(slow,fast)", "note:str?"),
    ("HarbourPilot",),
    ("Operator", "class:str", "max_crew:int>=2<=9", "sizes:list(float)", "labels:map(str)", "speed:float>0=1.5"),
    ("Event", "zero:int=0", "ok:bool=false", "memory:quantity", "on:bool!", "type:enum(a)=a"),
)


@pytest.fixture(scope="module", params=["new", "flat"])
def project(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a project with kinds of all forms of fields; `flat`: in a package that existed."""
    folder = tmp_path_factory.mktemp("project")
    sampan = [sys.executable, "-m", "sampan"]
    if request.param == "flat":
        root = folder
        (root / "boats").mkdir()
        (root / "pyproject.toml").write_text('[project]\nname = "boats"\nversion = "1"\n')
        subprocess.run([*sampan, "init", "--here"], cwd=folder, check=True)
    else:
        root = folder / "boats"
        subprocess.run([*sampan, "init", "boats"], cwd=folder, check=True)
    for number, (kind, *fields) in enumerate(KINDS):
        options = [part for field in fields for part in ("--field", field)]
        scope = ["--cluster", "--version", "v1alpha1"] if number % 2 else []
        subprocess.run([*sampan, "create", "api", "--kind", kind, *options, *scope], cwd=root, check=True)
    return root


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check[0] + (" format" if "format" in check else ""))
def test_a_project_passes_its_checks(project: Path, check: tuple[str, ...]) -> None:
    environment = user_environment()
    done = subprocess.run(
        [sys.executable, "-m", *check], cwd=project, capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_an_operator_without_kinds_has_a_test_that_passes(boats: Path, sampan: Sampan) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=boats, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_sampan_test_runs_pytest_with_its_options(boats: Path) -> None:
    command = [sys.executable, "-m", "sampan", "test", "-p", "no:cacheprovider", "-k", "fit_together", "-v"]
    without_tests = [*command, "."]  # else releases of pytest differ in what they collect from within a folder
    done = subprocess.run(without_tests, cwd=boats / "src", capture_output=True, text=True, check=False)
    assert (done.returncode, "1 passed" in done.stdout) == (5, False), done.stdout
    done = subprocess.run(command, cwd=boats, capture_output=True, text=True, check=False)
    assert "1 passed" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("command", [("init", "boats"), ("create", "api", "--kind", "Boat")], ids=lambda each: each[0])
def test_a_command_that_writes_files_imports_neither_server_nor_client(
    tmp_path: Path, sampan: Sampan, command: tuple[str, ...]
) -> None:
    sampan("init", "boats")
    folder = tmp_path / "boats" if command[0] == "create" else tmp_path
    call = f"cli.main({list(command)}, standalone_mode=False)"
    code = f"import sys; from sampan.cli.main import cli; {call}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True)
    slow = ("sampan.registry", "sampan.server", "sampan.client", "sampan.operator", "sampan.testing")
    assert [name for name in done.stdout.split() if name in slow] == []
