"""The reading guide is true: its files exist, define the names that it gives, and its pictures are up to date."""

import re
from pathlib import Path

import pytest

from tests.reading.guide import FOLDER, PAGES, defined_in, rows_of

SECTIONS = ["The idea", "Files to open", "Experiment", "In Kubernetes", "You can now answer"]
INDEX = (FOLDER / "README.md").read_text()

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)


@each_page
def test_the_files_of_a_page_define_the_names_to_look_for(page: Path) -> None:
    rows = rows_of(page)
    assert len(rows) >= 4, "the pattern finds no files"
    missing = [f"{row.path.name}: {name}" for row in rows for name in row.names if name not in defined_in(row.path)]
    assert missing == []


@each_page
def test_a_page_has_all_sections_in_order(page: Path) -> None:
    assert re.findall(r"^## (.*)$", page.read_text(), re.MULTILINE) == SECTIONS


@each_page
def test_a_page_has_a_picture_with_a_text_for_readers_that_cannot_see_it(page: Path) -> None:
    pictures = re.findall(r"!\[([^\]]*)\]\(pictures/([\w-]+\.svg)\)", page.read_text())
    assert pictures
    assert all(text and (FOLDER / "pictures" / name).exists() for text, name in pictures)


@each_page
def test_an_experiment_shows_output(page: Path) -> None:
    consoles = re.findall(r"^```console\n\$ .*\n(.+)", page.read_text(), re.MULTILINE)
    assert consoles


@each_page
def test_the_index_lists_a_page(page: Path) -> None:
    assert f"({page.name})" in INDEX


def test_the_index_links_the_page_for_each_of_five_questions() -> None:
    section = INDEX.partition("## You can now answer")[2]
    questions = re.findall(r"^\| ([^|]+\?) \| [^|]*\]\(([\w-]+\.md)#you-can-now-answer\) \|$", section, re.MULTILINE)
    assert len(questions) == 5
    for question, page in questions:
        assert f"*{question}*" in (FOLDER / page).read_text()
