"""A page whose source has changed is stale until it is accepted, and has a banner for its readers."""

from pathlib import Path

import pytest
from scripts.translations import page
from scripts.translations.page import accept, digest, faults, mark, stale_pages, translations, with_banner

SOURCE = "# Boats\n\n## Length\n12\n"
PAGE = f"---\nsource: docs/boats.md\nsource_sha256: {digest(SOURCE.encode())}\n---\n# 船\n\n## 长度\n12\n"
BANNER = "> 本文译自较早的版本，最新内容请看[英文版](../boats.md)。\n"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Repository with a page and its translation, which is up to date."""
    monkeypatch.setattr(page, "ROOT", tmp_path)
    (tmp_path / "docs/zh-CN").mkdir(parents=True)
    (tmp_path / "docs/boats.md").write_text(SOURCE)
    (tmp_path / "docs/zh-CN/boats.md").write_text(PAGE)
    return tmp_path


def change(root: Path) -> None:
    (root / "docs/boats.md").write_text(SOURCE.replace("12", "13"))


def test_a_page_is_stale_if_its_source_has_changed(root: Path) -> None:
    assert stale_pages() == []
    change(root)
    assert [each.page for each in stale_pages()] == ["docs/zh-CN/boats.md"]


def test_an_accepted_page_is_up_to_date(root: Path) -> None:
    change(root)
    assert accept(translations()[0])
    assert stale_pages() == []


def test_a_stale_page_is_marked_until_it_is_accepted(root: Path) -> None:
    file = root / "docs/zh-CN/boats.md"
    change(root)
    mark(translations()[0])
    mark(translations()[0])
    assert file.read_text() == PAGE.replace("# 船\n\n", f"# 船\n\n{BANNER}\n")
    accept(translations()[0])
    assert BANNER not in file.read_text()


def test_readers_get_a_banner_only_on_a_stale_page(root: Path) -> None:
    assert with_banner("docs/zh-CN/boats.md", PAGE) == PAGE
    change(root)
    assert with_banner("docs/zh-CN/boats.md", PAGE) == PAGE.replace("# 船\n\n", f"# 船\n\n{BANNER}\n")
    assert with_banner("docs/boats.md", SOURCE) == SOURCE


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("# 船\n", "source is missing"),
        (PAGE.replace("boats.md", "ships.md"), "no such file"),
        (PAGE.replace("source_sha256", "other"), "not 64 hexadecimal digits"),
    ],
    ids=["no front matter", "absent source", "no revision"],
)
def test_a_page_without_source_or_revision_is_a_fault(root: Path, text: str, message: str) -> None:
    (root / "docs/zh-CN/boats.md").write_text(text)
    assert message in faults()[0]
