"""Every generated page: its links lead somewhere, its headings are in order, and it names nothing of this machine."""

import posixpath
import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from scripts.site.charts import charts

from tests.site_reference.generated import anchors, generated, headings

ROOT = Path(__file__).parents[2]
LINK = re.compile(r"\]\(([^)\s#]*)(?:#([^)\s]*))?\)")


def broken_links(page: str) -> Iterator[str]:
    for target, name in LINK.findall(generated()[page]):
        place = posixpath.normpath(posixpath.join(posixpath.dirname(page), target)) if target else page
        text = linked_text(place)
        if text is None or (name and name not in anchors(text)):
            yield f"{target}#{name}"


def linked_text(place: str) -> str | None:
    """Return the text of another page, of a file of docs, or of a file of the repository."""
    if place in generated():
        return generated()[place]
    if posixpath.dirname(place) == "charts":
        return charts().get(posixpath.basename(place))
    file = ROOT / "docs" / place
    return file.read_text() if file.is_file() else None


def test_links_lead_to_a_page_and_a_heading() -> None:
    assert {page: found for page in generated() if (found := list(broken_links(page)))} == {}


def test_every_page_has_one_title_and_no_level_is_left_out() -> None:
    for page, text in generated().items():
        levels = [level for level, _ in headings(text)]
        assert (levels[0], levels.count(1)) == (1, 1), page
        assert all(after <= before + 1 for before, after in pairwise(levels)), page


def test_no_two_headings_of_a_page_have_the_same_anchor() -> None:
    assert {page for page, text in generated().items() if len(set(anchors(text))) < len(anchors(text))} == set()


def test_no_page_has_empty_cells_at_the_end_of_a_table_head() -> None:
    assert [page for page, text in generated().items() if re.search(r"^\|.*\| \|$\n\|---", text, re.MULTILINE)] == []


@pytest.mark.parametrize("private", [" at 0x", str(Path.home()) + "/", str(ROOT), "Sentinel"])
def test_no_page_depends_on_the_machine(private: str) -> None:
    assert [page for page, text in generated().items() if private in text] == []


def test_no_two_pages_have_the_same_title() -> None:
    titles = Counter(headings(text)[0][1] for text in generated().values())
    assert {title for title, count in titles.items() if count > 1} == set()
