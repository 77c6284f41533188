"""Translated pages name their sources, and lead to the same files as those."""

import re
from pathlib import Path

import pytest
from scripts.translations.page import FOLDER, ROOT, Translation, faults, translations

from tests.reading.guide import PAGES, rows_of

GUIDE = ROOT / FOLDER / "reading"
TRANSLATIONS = translations()

each_page = pytest.mark.parametrize("page", TRANSLATIONS, ids=lambda each: each.page)
each_page_of_the_guide = pytest.mark.parametrize("source", PAGES, ids=lambda path: path.stem)


def headings_of(page: str) -> list[str]:
    """Return the levels of the headings of a page, in order."""
    text = re.sub(r"^```.*?^```$", "", (ROOT / page).read_text(), flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"^(#+) ", text, re.MULTILINE)


def test_each_page_names_a_source_that_exists_and_its_revision() -> None:
    assert faults() == []


@each_page
def test_a_page_that_is_up_to_date_has_the_sections_of_its_source(page: Translation) -> None:
    if page.is_stale:
        pytest.skip("stale: make translations lists the changes")
    assert headings_of(page.page) == headings_of(page.source)


def test_each_page_of_the_reading_guide_is_translated() -> None:
    assert {path.name for path in GUIDE.glob("*.md")} == {"README.md", *(path.name for path in PAGES)}


@each_page_of_the_guide
def test_a_page_of_the_reading_guide_lists_the_files_and_names_of_its_source(source: Path) -> None:
    page = next(each for each in TRANSLATIONS if each.source == source.relative_to(ROOT).as_posix())
    if page.is_stale:
        pytest.skip("stale: make translations lists the changes")
    assert rows_of(ROOT / page.page) == rows_of(source)
