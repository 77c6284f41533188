"""`sampan upgrade`: a three-way merge of what was written, what the user made of it, and the new templates.

`corpus/N` has what version N of the templates wrote; it stays, and is upgraded to each later version.
"""

import json
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampan.project.errors import ProjectError
from sampan.project.organisation import rendered
from sampan.project.templates.text import SCAFFOLD, Files, FileText
from sampan.project.units import read_units
from sampan.project.upgrade.merge import YOURS, merge
from sampan.project.upgrade.migrations import MIGRATIONS, Migration
from sampan.project.upgrade.plan import NewVersion, Upgrade, plan_upgrade
from tests.project.conftest import Sampan, tree

CORPUS = Path(__file__).parent / "corpus"
VERSIONS = sorted(path.name for path in CORPUS.iterdir())
RECONCILE, TYPES, TEST = "src/boats/boat/reconcile.py", "src/boats/boat/v1.py", "tests/test_boat.py"

CHANGES = {
    "pyproject.toml": ("[tool.ruff.lint]", "[tool.coverage.run]\nbranch = true\n\n[tool.ruff.lint]"),
    "README.md": ("A Kubernetes operator in Python", "An operator in Python"),
    ".gitignore": (".venv/\n", ".venv/\n.coverage\n"),
    RECONCILE: ('"""Controller of boats."""', '"""The controller of boats."""'),
    TYPES: ('"""A boat."""', '"""A boat of the harbour."""'),
    TEST: ("async def test_a_restart_changes_nothing", "async def test_a_restart_writes_nothing"),
    "samples/boat.yaml": ("  name: example\n", "  name: example\n  labels: {sample: boat}\n"),
}


def next_rendered(command: str, inputs: Mapping[str, Any]) -> Files:
    """Return the files of a next version: seven changed, one dropped, one new, one in another place."""
    files = dict(rendered(command, inputs))
    for path, (old, new) in CHANGES.items():
        if path in files:
            assert old in files[path].text
            files[path] = replace(files[path], text=files[path].text.replace(old, new))
    if command == "init":
        del files["src/boats/py.typed"]
        files["CONTRIBUTING.md"] = FileText("# Contributing\n", "for others")
        files["src/boats/entry.py"] = files.pop("src/boats/__main__.py")
    return files


def next_renames(inputs: Mapping[str, Any]) -> Mapping[str, str]:
    package = inputs["package"]
    return {f"src/{package}/__main__.py": f"src/{package}/entry.py"}


MOVE = Migration(SCAFFOLD + 1, "the entry point is in entry.py", next_renames)
NEXT = NewVersion(SCAFFOLD + 1, next_rendered, (*MIGRATIONS, MOVE))


@pytest.fixture(params=VERSIONS)
def project(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Return a project as a version of the templates wrote it."""
    base = tmp_path / ".sampan/base"
    shutil.copytree(CORPUS / request.param, base)
    for unit in base.iterdir():
        for path, text in json.loads(unit.read_text())["files"].items():
            place = tmp_path / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
    return tmp_path


def upgraded(root: Path, version: NewVersion = NEXT, *restored: str) -> Upgrade:
    upgrade = plan_upgrade(root, restored, version)
    upgrade.change.apply()
    return upgrade


def edit(root: Path, path: str, old: str, new: str) -> None:
    text = (root / path).read_text()
    assert old in text, path
    (root / path).write_text(text.replace(old, new, 1))


def edit_ends(place: Path) -> None:
    place.write_bytes(place.read_bytes().replace(b"\n", b"\r\n"))


EDITS: dict[str, tuple[str, Callable[[Path], None], str]] = {
    "a dependency is added": (
        "pyproject.toml",
        lambda root: edit(root, "pyproject.toml", 'dependencies = ["', 'dependencies = ["httpx>=0.28", "'),
        "httpx",
    ),
    "a table is added at the end": (
        "pyproject.toml",
        lambda root: edit(root, "pyproject.toml", 'select = ["E"', '# Ours.\nselect = ["E"'),
        "# Ours.",
    ),
    "the body of the reconciler is written": (
        RECONCILE,
        lambda root: edit(
            root, RECONCILE, "        # Create or change here", "        await launch()\n        # Create"
        ),
        "await launch()",
    ),
    "a function is added at the end": (
        RECONCILE,
        lambda root: edit(root, RECONCILE, "complete(reconcile)\n", "complete(reconcile)\n\n\ndef ours():\n    pass\n"),
        "def ours",
    ),
    "an import is added": (
        RECONCILE,
        lambda root: edit(root, RECONCILE, "from copy import deepcopy", "import logging\nfrom copy import deepcopy"),
        "import logging",
    ),
    "a field is added": (
        TYPES,
        lambda root: edit(root, TYPES, "    length:", "    crew: int = 1\n    length:"),
        "crew: int",
    ),
    "a column is removed": (TYPES, lambda root: edit(root, TYPES, 'Column("Home"', 'Column("Port"'), 'Column("Port"'),
    "a test is added at the end": (
        TEST,
        lambda root: edit(root, TEST, "report.findings, report\n", "report.findings\n\n\ndef test_ours():\n    pass\n"),
        "def test_ours",
    ),
    "README has a new section": (
        "README.md",
        lambda root: edit(root, "README.md", "Check a change with", "## Harbours\nWuhan.\n\nCheck a change with"),
        "## Harbours",
    ),
    "a line is ignored": (".gitignore", lambda root: edit(root, ".gitignore", "dist/\n", "dist/\nours/\n"), "ours/"),
    "the sample is larger": (
        "samples/boat.yaml",
        lambda root: edit(root, "samples/boat.yaml", "  length: 1\n", "  length: 40\n"),
        "length: 40",
    ),
    "the file has no line end at its end": (
        TYPES,
        lambda root: edit(
            root, TYPES, "    status: BoatStatus | None = None\n", "    status: BoatStatus | None = None"
        ),
        "None = None",
    ),
    "the file has CRLF at its line ends": (
        TYPES,
        lambda root: edit_ends(root / TYPES),
        "length",
    ),
}


@pytest.mark.parametrize("name", EDITS)
def test_edits_elsewhere_and_the_new_version_are_both_there_without_a_conflict(project: Path, name: str) -> None:
    path, change, mark = EDITS[name]
    change(project)
    upgrade = upgraded(project)
    assert upgrade.conflicts == []
    text = (project / path).read_bytes().decode()
    assert mark in text
    assert CHANGES[path][1].splitlines()[0] in text
    assert ("\r\n" in text) == ("CRLF" in name)


def test_all_edits_together_have_no_conflict(project: Path) -> None:
    for name, (_, change, _) in EDITS.items():
        if "at its" not in name:
            change(project)
    assert upgraded(project).conflicts == []


def test_a_second_upgrade_changes_nothing(project: Path) -> None:
    upgraded(project)
    before = tree(project)
    upgrade = upgraded(project)
    assert not upgrade.pending
    assert tree(project) == before


def test_a_project_of_each_version_becomes_what_this_version_writes(project: Path) -> None:
    upgraded(project, NewVersion())
    for unit in read_units(project):
        assert {path: (project / path).read_text() for path in unit.files} == unit.files
        assert unit.files == {path: file.text for path, file in rendered(unit.command, unit.inputs).items()}


def test_an_edit_of_a_changed_line_becomes_diff3_markers(project: Path) -> None:
    edit(project, TYPES, '"""A boat."""', '"""Our boat."""')
    upgrade = upgraded(project)
    assert upgrade.conflicts == [TYPES]
    text = (project / TYPES).read_text()
    marks = [line for line in text.splitlines() if line[:7] in ("<<<<<<<", "|||||||", "=======", ">>>>>>>")]
    assert [mark[0] for mark in marks] == ["<", "|", "=", ">"]
    assert all(part in text for part in ("Our boat.", '"""A boat."""', "A boat of the harbour."))


def test_a_deleted_file_stays_deleted_until_it_is_restored(project: Path) -> None:
    (project / TEST).unlink()
    upgrade = upgraded(project)
    assert not (project / TEST).exists()
    assert any(f"--restore {TEST}" in note for note in upgrade.notes)
    upgraded(project, NEXT, TEST)
    assert "test_a_restart_writes_nothing" in (project / TEST).read_text()
    with pytest.raises(ProjectError, match="no command wrote this file"):
        plan_upgrade(project, ["absent.py"], NEXT)


@pytest.mark.parametrize("edited", [False, True])
def test_a_file_that_the_templates_drop_is_removed_only_if_it_is_pristine(project: Path, edited: bool) -> None:
    if edited:
        (project / "src/boats/py.typed").write_text("partial\n")
    upgrade = upgraded(project)
    assert (project / "src/boats/py.typed").exists() == edited
    assert any("py.typed is not needed any more" in note for note in upgrade.notes) == edited


def test_a_renamed_file_moves_with_the_edits_of_the_user(project: Path) -> None:
    edit(
        project,
        "src/boats/__main__.py",
        "from sampan.operator import main",
        "# Ours.\nfrom sampan.operator import main",
    )
    upgrade = upgraded(project)
    assert not (project / "src/boats/__main__.py").exists()
    assert "# Ours." in (project / "src/boats/entry.py").read_text()
    assert "the entry point is in entry.py" in upgrade.notes


def test_a_new_file_is_added_and_one_of_the_user_is_no_victim(project: Path) -> None:
    (project / "CONTRIBUTING.md").write_text("ours\n")
    (project / "src/boats/mine.py").write_text("mine = 1\n")
    upgrade = upgraded(project)
    assert upgrade.conflicts == ["CONTRIBUTING.md"]
    assert (project / "src/boats/mine.py").read_text() == "mine = 1\n"


def entry(project: Path) -> str:
    """Return the path of the module with all parts, which version 3 renamed."""
    return next(path for path in ("src/boats/operator.py", "src/boats/app.py") if (project / path).exists())


def test_the_renamed_module_has_the_edits_and_its_new_imports(project: Path) -> None:
    edit(project, entry(project), "    add_parts(", "    print('ours')\n    add_parts(")
    edit(project, TEST, "from sampan.testing import", "import boats.operator as ours\nfrom sampan.testing import")
    assert upgraded(project, NewVersion()).conflicts == []
    assert entry(project) == "src/boats/app.py"
    assert "print('ours')" in (project / "src/boats/app.py").read_text()
    for path in ("src/boats/__main__.py", "tests/test_operator.py"):
        assert "from boats.app import set_up" in (project / path).read_text()
        assert "from sampan.operator import" in (project / path).read_text()
    before = tree(project)
    assert not upgraded(project, NewVersion()).pending
    assert tree(project) == before


CODE = st.lists(
    st.sampled_from(
        ["from boats.operator import set_up\n", "from sampan.operator import main\n", "    from a.operator import b\n"]
    )
).map("".join)


@given(text=CODE)
@pytest.mark.parametrize("step", MIGRATIONS, ids=lambda step: f"to-{step.to}")
def test_a_step_twice_is_like_once(step: Migration, text: str) -> None:
    once = step.rewrite("a.py", text)
    assert step.rewrite("a.py", once) == once
    assert once.count("sampan.operator") == text.count("sampan.operator")


def test_each_step_has_a_section_in_the_documentation() -> None:
    text = (Path(__file__).parents[2] / "docs/project-upgrades.md").read_text()
    assert [step.to for step in MIGRATIONS if f"## Version {step.to}\n" not in text] == []


def shout(path: str, text: str) -> str:
    return text.replace("def set_up(", "def add_to(")


def test_a_rewrite_reaches_edited_code_and_is_idempotent(project: Path) -> None:
    edit(project, entry(project), "    add_parts(", "    print('ours')\n    add_parts(")
    steps = (*MIGRATIONS, Migration(SCAFFOLD + 1, "", rewrite=shout))
    version = NewVersion(SCAFFOLD + 1, lambda *given: rewritten(rendered(*given)), steps)
    assert upgraded(project, version).conflicts == []
    text = (project / "src/boats/app.py").read_text()
    assert "def add_to(manager" in text
    assert "print('ours')" in text
    assert shout("", shout("", text)) == shout("", text)


def rewritten(files: Files) -> Files:
    return {path: replace(file, text=shout(path, file.text)) for path, file in files.items()}


def test_the_command_upgrades_a_project_of_an_older_version(project: Path, sampan: Sampan) -> None:
    place = project / ".sampan/base/init.json"
    unit = json.loads(place.read_text())
    unit["files"][".gitignore"] = "__pycache__/\n"
    place.write_text(json.dumps(unit))
    (project / ".gitignore").write_text("# Ours.\n__pycache__/\n")
    assert sampan("upgrade", "--check", folder=project).return_value == 1
    assert "+.venv/" in sampan("upgrade", "--diff", folder=project).output
    result = sampan("upgrade", folder=project)
    assert (result.return_value, result.exception) == (0, None)
    assert (project / ".gitignore").read_text().startswith("# Ours.\n__pycache__/\n")
    assert sampan("upgrade", "--check", folder=project).return_value == 0


def test_conflicts_have_exit_code_1_and_must_be_resolved_before_the_next_upgrade(project: Path, sampan: Sampan) -> None:
    place = project / ".sampan/base/init.json"
    unit = json.loads(place.read_text())
    unit["files"]["src/boats/__init__.py"] = "old = 1\n"
    place.write_text(json.dumps(unit))
    (project / "src/boats/__init__.py").write_text("mine = 1\n")
    result = sampan("upgrade", folder=project)
    assert result.return_value == 1
    assert "conflict  src/boats/__init__.py" in result.output
    before = tree(project)
    assert sampan("upgrade", folder=project).return_value == 2
    assert tree(project) == before


def test_a_folder_that_is_no_project_of_ours_is_one_error(tmp_path: Path, sampan: Sampan) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.sampan]\npackage = "boats"\ngroup = "a.b"\n')
    assert "has no .sampan/base" in str(sampan("upgrade").exception)


def git(root: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=test", "-c", "user.email=test@example.com")
    subprocess.run(["git", *identity, *arguments], cwd=root, check=True, capture_output=True)


@pytest.mark.skipif(shutil.which("git") is None, reason="git is absent")
def test_files_that_are_not_committed_stop_an_upgrade(project: Path, sampan: Sampan) -> None:
    git(project, "init")
    git(project, "add", ".")
    git(project, "commit", "-m", "first")
    assert sampan("upgrade", folder=project).return_value == 0
    git(project, "add", ".")
    git(project, "commit", "--allow-empty", "-m", "upgraded")
    (project / "README.md").write_text("changed\n")
    before = tree(project)
    result = sampan("upgrade", folder=project)
    assert result.return_value == 2
    assert "README.md: commit them first" in result.output
    assert tree(project) == before
    assert sampan("upgrade", "--force", folder=project).return_value == 0


LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "d\n"]), max_size=8).map("".join)


@given(base=LINES, other=LINES)
def test_a_change_of_one_side_is_taken_as_it_is(base: str, other: str) -> None:
    assert merge(base, other, base).text == other
    assert merge(base, base, other).text == other
    assert merge(base, other, other).text == other


@given(base=LINES, yours=LINES, new=LINES)
def test_a_merge_loses_no_line_that_one_side_has_added(base: str, yours: str, new: str) -> None:
    merged = merge(base, yours, new)
    assert (YOURS in merged.text) == bool(merged.conflicts)
    if "d\n" in yours + new and "d\n" not in base:
        assert "d\n" in merged.text
