"""The command names stale pages and the changes of their sources."""

import subprocess
from pathlib import Path

import pytest
from scripts.translations import __main__ as command
from scripts.translations import changes, page
from scripts.translations.page import digest

SOURCE = "# Boats\n\n## Length\n12\n"
PAGE = f"---\nsource: docs/boats.md\nsource_sha256: {digest(SOURCE.encode())}\n---\n# 船\n\n## 长度\n12\n"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Repository with a commit of a page and its translation; the page has changed since."""
    for module in (page, changes, command):
        monkeypatch.setattr(module, "ROOT", tmp_path)
    (tmp_path / "docs/zh-CN").mkdir(parents=True)
    (tmp_path / "docs/boats.md").write_text(SOURCE)
    (tmp_path / "docs/zh-CN/boats.md").write_text(PAGE)
    author = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
    for arguments in (["init", "--quiet"], ["add", "."], [*author, "commit", "--quiet", "--message", "Add boats"]):
        subprocess.run(["git", *arguments], cwd=tmp_path, check=True)
    (tmp_path / "docs/boats.md").write_text(SOURCE.replace("12", "13") + "\n## Home\n")
    return tmp_path


def run(*arguments: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Run the command, and return the lines that it prints."""
    monkeypatch.setattr("sys.argv", ["translations", *arguments])
    assert command.main() == 0
    return capsys.readouterr().out.splitlines()


@pytest.mark.usefixtures("root")
def test_a_stale_page_is_listed_with_the_changed_sections(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first, difference, *sections = run(monkeypatch=monkeypatch, capsys=capsys)
    assert first == "docs/zh-CN/boats.md: docs/boats.md has changed"
    assert difference.startswith("    git diff ")
    assert sections == ["    changed: ## Length", "    new: ## Home", "translated pages: 1, stale: 1"]


def test_an_accepted_page_is_not_listed(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(root / "docs/zh-CN/boats.md")
    assert run("--accept", path, monkeypatch=monkeypatch, capsys=capsys) == ["translated pages: 1, stale: 0"]


@pytest.mark.usefixtures("root")
def test_a_source_without_the_translated_revision_in_the_history_is_listed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(changes, "translated_commit", lambda _: None)
    assert "does not have the translated revision" in run(monkeypatch=monkeypatch, capsys=capsys)[1]
