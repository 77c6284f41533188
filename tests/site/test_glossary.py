"""Words of the glossary: on each English page, the first use of each one is a link to its meaning."""

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Final

import pytest
from scripts.site.glossary import GLOSSARY, Glossary
from scripts.site.places import CHINESE

from tests.site.conftest import Built

NO_PROSE: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "pre", "code", "th", "details", "nav", "script"})


@dataclass
class Prose(HTMLParser):
    """Words of an article in their order: those in links to the glossary, and the text around them."""

    pattern: re.Pattern[str]
    unlinked: list[str] = field(default_factory=list)
    """Words whose first use is no link."""
    linked: list[str] = field(default_factory=list)
    _open: list[str] = field(default_factory=list)
    _term: str = ""

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Enter an element."""
        if tag in NO_PROSE or tag == "a":
            self._open.append(tag)
        found = dict(attrs)
        if found.get("class") == "term":
            self._term = (found["href"] or "").partition("#word-")[2].replace("-", " ")
            self.linked.append(self._term)

    def handle_endtag(self, tag: str) -> None:
        """Leave an element."""
        if self._open and self._open[-1] == tag:
            self._open.pop()

    def handle_data(self, data: str) -> None:
        """Note the words of a text that is no link."""
        if not self._open:
            found = (match[1].lower() for match in self.pattern.finditer(data))
            self.unlinked += [word for word in found if word.replace("-", " ") not in self.linked]


@pytest.fixture(scope="module")
def articles(built: Built) -> list[tuple[str, Prose]]:
    """Return the words of all English pages, except the glossary."""
    pattern = Glossary.of(next(page.text for page in built.site.pages if page.path == GLOSSARY)).pattern
    return [
        (page.path, read(built.site.rendered[page.path].html, pattern))
        for page in built.site.pages
        if page.language != CHINESE and page.path != GLOSSARY
    ]


def read(document: str, pattern: re.Pattern[str]) -> Prose:
    """Return the words of a page."""
    prose = Prose(pattern)
    prose.feed(document)
    return prose


def test_the_first_use_of_each_word_is_a_link_on_every_page(articles: list[tuple[str, Prose]]) -> None:
    assert {path: prose.unlinked for path, prose in articles if prose.unlinked} == {}


def test_no_word_has_two_links_on_a_page(articles: list[tuple[str, Prose]]) -> None:
    assert [path for path, prose in articles if len(set(prose.linked)) < len(prose.linked)] == []


def test_more_than_a_hundred_pages_use_words_of_the_glossary(articles: list[tuple[str, Prose]]) -> None:
    assert sum(1 for _, prose in articles if prose.linked) > 100


def test_a_first_use_without_a_link_is_found() -> None:
    pattern = Glossary({"lease": "", "watch cache": ""}).pattern
    link = '<a href="glossary.html#word-lease" class="term">lease</a>'
    assert read(f"<h2>Leases</h2><p>A {link} and a lease.</p>", pattern).unlinked == []
    assert read(f"<p>A lease and a {link}; <code>watch cache</code>.</p>", pattern).unlinked == ["lease"]
