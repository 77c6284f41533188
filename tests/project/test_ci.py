"""`sampan ci`, and the files with which GitHub and GitLab run it."""

import re
import sys
from pathlib import Path

import pytest

from sampan.project.checks import checks_of
from sampan.project.pyproject import project_at
from sampan.wire import yaml
from tests.project.conftest import Sampan, tree

COMMIT = re.compile(r"[\w./-]+@[0-9a-f]{40}\Z")


def names(root: Path) -> list[str]:
    return [check.name for check in checks_of(project_at(root))]


def add_own(boats: Path, line: str) -> None:
    text = (boats / "pyproject.toml").read_text()
    (boats / "pyproject.toml").write_text(text.replace("[tool.sampan]\n", f"[tool.sampan]\n{line}\n"))


def name_image(boats: Path) -> None:
    with (boats / "pyproject.toml").open("a") as file:
        file.write('[tool.sampan.image]\nname = "registry.test/boats"\n')


@pytest.fixture
def broken_style(boats: Path) -> Path:
    """Return a project with an unused import."""
    (boats / "src/boats/mine.py").write_text("import json\n")
    return boats


def test_manifests_and_image_are_checks_once_they_can_be_made(boats: Path) -> None:
    assert names(boats) == ["lint", "format", "types", "tests"]
    name_image(boats)
    (boats / "pylock.toml").touch()
    assert names(boats)[4:] == ["manifests", "image"]


def test_the_check_of_manifests_writes_nothing_into_the_project(boats: Path, sampan: Sampan) -> None:
    name_image(boats)
    before = tree(boats)
    assert sampan("ci", "--only", "manifests", folder=boats).return_value == 0
    assert tree(boats) == before


def test_a_broken_setting_of_the_manifests_fails(boats: Path, sampan: Sampan) -> None:
    name_image(boats)
    with (boats / "pyproject.toml").open("a") as file:
        file.write("[tool.sampan.bundle]\nreplicas = -1\n")
    assert sampan("ci", "--only", "manifests", folder=boats).return_value == 1


def test_a_project_can_add_commands(boats: Path, sampan: Sampan, capfd: pytest.CaptureFixture[str]) -> None:
    add_own(boats, f"ci = [\"{sys.executable} -c 'print(6 * 7)'\"]")
    (name,) = names(boats)[4:]
    result = sampan("ci", "--only", name, folder=boats)
    assert (result.return_value, result.exception) == (0, None)
    assert "42\n" in capfd.readouterr().out


@pytest.mark.parametrize("line", ["ci = 1", "ci = [1]", "ci = ['']", """ci = ["echo 'x"]"""])
def test_a_list_that_is_no_list_of_commands_is_one_error(boats: Path, sampan: Sampan, line: str) -> None:
    add_own(boats, line)
    assert "tool.sampan.ci is no list of commands" in str(sampan("ci", "--list", folder=boats).exception)


def test_all_checks_run_although_one_has_failed(broken_style: Path, sampan: Sampan) -> None:
    result = sampan("ci", "--only", "lint", "--only", "format", folder=broken_style)
    assert result.return_value == 1
    lines = result.output.splitlines()
    assert lines[:2] == ["--- lint: ruff check .", "--- format: ruff format --check ."]
    assert "failed  lint" in lines[2]
    assert "again: ruff check ." in lines[2]
    assert "ok  format" in lines[3]


def test_github_folds_the_output_of_each_check(boats: Path, sampan: Sampan, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    output = sampan("ci", "--only", "lint", folder=boats).output
    assert output.startswith("::group::lint\n::endgroup::\n")


def test_an_unknown_check_is_an_error_with_the_names(boats: Path, sampan: Sampan) -> None:
    error = str(sampan("ci", "--only", "lints", folder=boats).exception)
    assert error == "there is no check 'lints': the checks of this project are lint, format, types, tests"


@pytest.mark.parametrize(("name", "hint"), [("lint", "pip install -e '.[dev]'"), ("absent-tool", "tool.sampan.ci")])
def test_no_check_runs_if_a_tool_is_missing(
    boats: Path, sampan: Sampan, monkeypatch: pytest.MonkeyPatch, name: str, hint: str
) -> None:
    add_own(boats, 'ci = ["absent-tool --fast"]')
    monkeypatch.setattr("importlib.util.find_spec", lambda module: None)
    result = sampan("ci", "--only", name, folder=boats)
    assert "is not installed" in str(result.exception)
    assert hint in str(result.exception)
    assert "---" not in result.output


def test_actions_are_pinned_by_commit_and_have_no_right_to_write(tmp_path: Path, sampan: Sampan) -> None:
    sampan("init", "boats", "--ci", "github", "--python", "3.12")
    text = (tmp_path / "boats/.github/workflows/ci.yml").read_text()
    workflow = yaml.decode(text.encode())
    job = workflow["jobs"]["checks"]
    assert [step["uses"] for step in job["steps"] if not COMMIT.match(step.get("uses", f"x@{0:040x}"))] == []
    assert workflow["permissions"] == {"contents": "read"}
    assert job["steps"][0]["with"] == {"persist-credentials": False}
    assert job["strategy"]["matrix"] == {"python": ["3.12", "3.13", "3.14"]}
    assert job["steps"][-1] == {"run": "sampan ci"}


def test_gitlab_runs_the_same_command(tmp_path: Path, sampan: Sampan) -> None:
    sampan("init", "boats", "--ci", "gitlab")
    job = yaml.decode((tmp_path / "boats/.gitlab-ci.yml").read_bytes())["checks"]
    assert job["script"] == ["pip install -e '.[dev]'", "sampan ci"]
    assert job["parallel"]["matrix"] == [{"PYTHON": ["3.11", "3.12", "3.13", "3.14"]}]
