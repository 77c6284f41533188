"""`sampan init`."""

import json
import tomllib
from pathlib import Path

import pytest

from sampan.project.errors import ProjectError
from sampan.project.templates import SCAFFOLD
from tests.project.conftest import Sampan, tree


def test_a_new_project_is_small_and_has_no_yaml(boats: Path) -> None:
    files = tree(boats)
    assert len(files) <= 12
    assert sum(len(text.splitlines()) for text in files.values()) <= 200
    assert not [path for path in files if path.endswith((".yaml", ".yml"))]


def test_the_second_run_prints_identical_for_all_and_changes_nothing(boats: Path, sampan: Sampan) -> None:
    before = tree(boats)
    result = sampan("init", "boats", folder=boats.parent)
    words = {line.split()[0] for line in result.output.splitlines() if not line.startswith("next")}
    assert words == {"identical"}
    assert tree(boats) == before


def test_an_edited_file_is_a_conflict_and_nothing_is_written(boats: Path, sampan: Sampan) -> None:
    (boats / "src/boats/app.py").write_text("mine = 1\n")
    (boats / "tests/test_operator.py").unlink()
    before = tree(boats)
    result = sampan("init", "boats", folder=boats.parent)
    assert "conflict  src/boats/app.py" in result.output
    assert "--force" in str(result.exception)
    assert tree(boats) == before


def test_force_overwrites(boats: Path, sampan: Sampan) -> None:
    before = tree(boats)
    (boats / "src/boats/app.py").write_text("mine = 1\n")
    assert "overwrite  src/boats/app.py" in sampan("init", "boats", "--force", folder=boats.parent).output
    assert tree(boats) == before


def test_a_file_in_the_place_of_the_folder_is_one_error(tmp_path: Path, sampan: Sampan) -> None:
    (tmp_path / "boats").touch()
    assert "boats is no folder" in str(sampan("init", "boats").exception)
    assert tree(tmp_path) == {"boats": ""}


def test_dry_run_and_diff_write_nothing(tmp_path: Path, sampan: Sampan) -> None:
    assert "create  pyproject.toml" in sampan("init", "boats", "--dry-run").output
    assert '+name = "boats"' in sampan("init", "boats", "--diff").output
    assert tree(tmp_path) == {}


def test_explain_has_an_owner_and_a_reason_for_each_file(boats: Path, sampan: Sampan) -> None:
    (boats / "src/boats/mine.py").write_text("")
    lines = sampan("init", "--explain", folder=boats).output.splitlines()
    assert len(lines) == len(tree(boats))
    assert all(line.split()[0] in ("you", "sampan") and ": " in line for line in lines)
    assert "you        src/boats/mine.py: a file of your own; Sampan never touches it" in lines


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("Boats", "lower-case letters"),
        ("my_boats", "lower-case letters"),
        ("-boats", "unknown command|No such option|lower-case letters"),
        ("1boats", "no name of a Python package"),
        ("class", "no name of a Python package"),
        ("sampan", "would hide the Python package sampan"),
        ("json", "would hide the Python package json"),
        ("b" * 64, "more than 63"),
        ("../boats", "lower-case letters"),
        ("", "a name must follow"),
    ],
)
def test_a_name_that_cannot_be_one_is_refused_and_nothing_is_written(
    tmp_path: Path, sampan: Sampan, name: str, fault: str
) -> None:
    result = sampan("init", "--", name)
    assert any(each in str(result.exception) for each in fault.split("|"))
    assert tree(tmp_path) == {}


@pytest.mark.parametrize(
    "options",
    [
        ("--group", "harbour"),
        ("--group", "UPPER.example"),
        ("--python", "3.9"),
        ("--license", "a b"),
        ("--kind", "boat"),
    ],
    ids=str,
)
def test_an_invalid_option_is_refused_and_nothing_is_written(
    tmp_path: Path, sampan: Sampan, options: tuple[str, str]
) -> None:
    result = sampan("init", "boats", *options)
    assert options[1] in str(result.exception)
    assert tree(tmp_path) == {}


def test_options_reach_the_files(tmp_path: Path, sampan: Sampan) -> None:
    options = ("--domain", "example.org", "--license", "Apache-2.0", "--python", "3.12", "--ci", "github")
    sampan("init", "my-boats", *options, "--kind", "Boat")
    content = tomllib.loads((tmp_path / "my-boats/pyproject.toml").read_text())
    assert content["project"]["license"] == "Apache-2.0"
    assert content["project"]["requires-python"] == ">=3.12"
    assert content["tool"]["sampan"] == {"group": "my-boats.example.org", "package": "my_boats"}
    assert "run: sampan ci" in (tmp_path / "my-boats/.github/workflows/ci.yml").read_text()
    assert 'group="my-boats.example.org"' in (tmp_path / "my-boats/src/my_boats/boat/v1.py").read_text()


def test_wheels_of_sampan_are_found_without_an_index(tmp_path: Path, sampan: Sampan) -> None:
    wheels = tmp_path / "dist"
    wheels.mkdir()
    refused = sampan("init", "boats", "--sampan-wheels", str(wheels))
    assert "make release" in str(refused.exception)
    (wheels / "sampan-0.2.0-py3-none-any.whl").touch()
    sampan("init", "boats", "--sampan-wheels", str(wheels))
    content = tomllib.loads((tmp_path / "boats/pyproject.toml").read_text())
    assert content["project"]["dependencies"] == ["sampan==0.2.0"]
    assert content["tool"]["uv"]["find-links"] == [str(wheels)]
    assert f"pip install --find-links {wheels} -e" in (tmp_path / "boats/README.md").read_text()


OWN = """\
# Ours.
[project]
name = "fleet"
version = "3"
dependencies = [
    "httpx>=0.28",  # a comment
]

[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[tool.ruff]
line-length = 99
"""


@pytest.mark.parametrize("source", ["src/fleet", "fleet"])
def test_here_adds_only_what_a_package_lacks(tmp_path: Path, sampan: Sampan, source: str) -> None:
    (tmp_path / "pyproject.toml").write_text(OWN)
    (tmp_path / source).mkdir(parents=True)
    (tmp_path / source / "__init__.py").write_text("mine = 1\n")
    result = sampan("init", "--here")
    assert result.exception is None
    text = (tmp_path / "pyproject.toml").read_text()
    content = tomllib.loads(text)
    assert [line for line in OWN.splitlines() if line not in text.splitlines()] == ["dependencies = ["]
    assert content["project"]["dependencies"][1] == "httpx>=0.28"
    assert content["tool"]["ruff"]["line-length"] == 99
    assert content["build-system"]["build-backend"] == "setuptools.build_meta"
    assert (tmp_path / source / "__init__.py").read_text() == "mine = 1\n"
    assert (tmp_path / source / "app.py").is_file()
    assert (tmp_path / "src").exists() == source.startswith("src")
    assert "identical  pyproject.toml" in sampan("init", "--here").output
    sampan("create", "api", "--kind", "Boat")
    assert (tmp_path / source / "boat/v1.py").is_file()


def test_here_refuses_a_broken_pyproject(tmp_path: Path, sampan: Sampan) -> None:
    (tmp_path / "pyproject.toml").write_text("[project\n")
    assert "no valid TOML" in str(sampan("init", "fleet", "--here").exception)
    assert tree(tmp_path) == {"pyproject.toml": "[project\n"}


def test_a_template_of_an_organisation_changes_one_file(tmp_path: Path, sampan: Sampan) -> None:
    template = tmp_path / "ours.py"
    template.write_text(
        "def files(command, inputs, files):\n"
        "    return {**files, 'README.md': f'# {inputs[\"name\"]} of ours\\n', 'OWNERS': 'us\\n'}\n"
    )
    sampan("init", "boats", "--template", str(template))
    assert (tmp_path / "boats/README.md").read_text() == "# boats of ours\n"
    assert (tmp_path / "boats/OWNERS").read_text() == "us\n"


@pytest.mark.parametrize(
    "body",
    ["1 / 0", "return {'/etc/x': ''}", "return {'../x': ''}", "return 1"],
    ids=["raises", "root", "above", "type"],
)
def test_a_broken_template_is_one_error(tmp_path: Path, sampan: Sampan, body: str) -> None:
    (tmp_path / "ours.py").write_text(f"def files(command, inputs, files):\n    {body}\n")
    result = sampan("init", "boats", "--template", "ours.py")
    assert "ours.py" in str(result.exception)
    assert not (tmp_path / "boats").exists()


def test_interactive_init_prompts_for_names(tmp_path: Path, sampan: Sampan, monkeypatch: pytest.MonkeyPatch) -> None:
    inputs = iter(["fleet", "fleet.example.net", "Ship", "gitlab"])
    monkeypatch.setattr("click.prompt", lambda *_, **__: next(inputs))
    sampan("init", "--interactive")
    assert (tmp_path / "fleet/src/fleet/ship/v1.py").is_file()
    assert (tmp_path / "fleet/.gitlab-ci.yml").is_file()


def test_a_project_of_a_newer_sampan_is_refused(boats: Path, sampan: Sampan) -> None:
    place = boats / ".sampan/base/init.json"
    place.write_text(json.dumps({**json.loads(place.read_text()), "scaffold": SCAFFOLD + 1}))
    before = tree(boats)
    for command in (("init", "boats"), ("create", "api", "--kind", "Boat")):
        folder = boats if command[0] == "create" else boats.parent
        assert "install a newer Sampan" in str(sampan(*command, folder=folder).exception)
    assert tree(boats) == before


@pytest.mark.parametrize("text", ["", "{", "[]", '{"command": 1}'], ids=str)
def test_a_broken_record_is_one_error(boats: Path, sampan: Sampan, text: str) -> None:
    (boats / ".sampan/base/init.json").write_text(text)
    result = sampan("create", "api", "--kind", "Boat", folder=boats)
    assert "init.json is broken" in str(result.exception)


def test_a_failed_move_is_undone(boats: Path, sampan: Sampan, monkeypatch: pytest.MonkeyPatch) -> None:
    before, moves = tree(boats), []

    def replace(source: Path, target: Path) -> None:
        moves.append(target)
        if len(moves) == 3:
            raise OSError(28, "No space left on device", str(target))
        source.rename(target)

    monkeypatch.setattr("os.replace", replace)
    result = sampan("create", "api", "--kind", "Boat", folder=boats)
    assert isinstance(result.exception.__cause__, ProjectError)  # type: ignore[union-attr]
    assert "No space left" in str(result.exception)
    assert tree(boats) == before
    assert sorted(path.name for path in boats.iterdir()) == sorted({path.split("/")[0] for path in before})


@pytest.mark.parametrize(
    ("ci", "note"),
    [
        ("github", "defaults: {run: {working-directory: services/boats}}"),
        ("gitlab", "include services/boats/.gitlab-ci.yml"),
        ("none", ""),
    ],
)
def test_a_file_for_ci_that_the_host_would_not_read_gets_a_note(
    tmp_path: Path, sampan: Sampan, ci: str, note: str
) -> None:
    (tmp_path / ".git").mkdir()
    services = tmp_path / "services"
    services.mkdir()
    result = sampan("init", "boats", "--ci", ci, folder=services)
    assert note in result.output
    assert ("note:" in result.output) == bool(note)


def test_a_project_with_a_repository_has_its_files_for_ci_in_their_place(tmp_path: Path, sampan: Sampan) -> None:
    (tmp_path / "boats/.git").mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    assert "note:" not in sampan("init", "boats", "--ci", "github").output


def test_the_next_step_does_not_create_a_second_kind(sampan: Sampan) -> None:
    assert sampan("init", "boats", "--kind", "Boat").output.splitlines()[-1] == "next: cd boats && sampan test"


def test_here_puts_the_dependency_below_the_name_of_the_project(tmp_path: Path, sampan: Sampan) -> None:
    (tmp_path / "boats").mkdir()
    (tmp_path / "boats/__init__.py").touch()
    (tmp_path / "pyproject.toml").write_text(
        '[project]\nname = "boats"\nversion = "1"\n\n[tool.ruff]\nline-length = 100\n'
    )
    assert sampan("init", "--here").exception is None
    lines = (tmp_path / "pyproject.toml").read_text().splitlines()
    assert lines[:3] == ["[project]", 'name = "boats"', 'version = "1"']
    assert lines[3].startswith('dependencies = ["sampan')
    assert lines[4:6] == ["", "[tool.ruff]"]


@pytest.mark.parametrize("value", ['keywords = [\n  "a",\n\n  "b",\n]\n', 'description = """\nfirst\n\nlast"""\n'])
def test_here_adds_the_dependency_next_to_a_value_with_an_empty_line(
    tmp_path: Path, sampan: Sampan, value: str
) -> None:
    (tmp_path / "boats").mkdir()
    (tmp_path / "boats/__init__.py").touch()
    (tmp_path / "pyproject.toml").write_text(f'[project]\nname = "boats"\n{value}')
    assert sampan("init", "--here").exception is None
    content = tomllib.loads((tmp_path / "pyproject.toml").read_text())
    assert content["project"]["dependencies"][0].startswith("sampan")
