"""Words of the glossary: on each page, the first use of each one is a link to its meaning."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Final

import pytest
from scripts.site.glossary import GLOSSARY, TERMS, Glossary
from scripts.site.places import CHINESE

from tests.site.conftest import Built

NO_PROSE: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "pre", "code", "th", "details", "nav", "script"})


@dataclass
class Prose(HTMLParser):
    """Words of an article in their order: those in links to the glossary, and the text around them."""

    pattern: re.Pattern[str]
    by_text: bool = False
    """A Chinese word is the text of its link; an English one, perhaps in the plural, is its anchor."""
    unlinked: list[str] = field(default_factory=list)
    """Words whose first use is no link."""
    linked: list[str] = field(default_factory=list)
    _open: list[str] = field(default_factory=list)
    _in_term: bool = False

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Enter an element."""
        if tag in NO_PROSE or tag == "a":
            self._open.append(tag)
        found = dict(attrs)
        if found.get("class") == "term":
            self._in_term = True
            if not self.by_text:
                self.linked.append((found["href"] or "").partition("#word-")[2].replace("-", " "))

    def handle_endtag(self, tag: str) -> None:
        """Leave an element."""
        if self._open and self._open[-1] == tag:
            self._open.pop()

    def handle_data(self, data: str) -> None:
        """Note the words of a text that is no link."""
        if self._in_term and self.by_text:
            self.linked.append(data.lower())
        self._in_term = False
        if not self._open:
            found = (match[1].lower() for match in self.pattern.finditer(data))
            self.unlinked += [word for word in found if word.replace("-", " ") not in self.linked]


@pytest.fixture(scope="module")
def articles(built: Built) -> list[tuple[str, Prose]]:
    """Return the words of all English pages, except the glossary."""
    return list(prose_of(built, "en", Glossary.of(text_of(built, GLOSSARY))))


@pytest.fixture(scope="module")
def chinese_articles(built: Built) -> list[tuple[str, Prose]]:
    """Return the words of all Chinese pages, except that of the terms."""
    return list(prose_of(built, CHINESE, Glossary.of_terms(text_of(built, TERMS))))


def text_of(built: Built, path: str) -> str:
    """Return the Markdown of a page."""
    return next(page.text for page in built.site.pages if page.path == path)


def prose_of(built: Built, language: str, glossary: Glossary) -> Iterator[tuple[str, Prose]]:
    """Yield path and words of the pages of a language."""
    for page in built.site.pages:
        if page.language == language and page.path != glossary.page:
            document = built.site.rendered[page.path].html
            yield page.path, read(document, glossary.pattern, by_text=language == CHINESE)


def read(document: str, pattern: re.Pattern[str], *, by_text: bool = False) -> Prose:
    """Return the words of a page."""
    prose = Prose(pattern, by_text)
    prose.feed(document)
    return prose


def test_the_first_use_of_each_word_is_a_link_on_every_page(articles: list[tuple[str, Prose]]) -> None:
    assert {path: prose.unlinked for path, prose in articles if prose.unlinked} == {}


def test_the_first_use_of_each_chinese_word_is_a_link(chinese_articles: list[tuple[str, Prose]]) -> None:
    assert {path: prose.unlinked for path, prose in chinese_articles if prose.unlinked} == {}
    assert [path for path, prose in chinese_articles if len(set(prose.linked)) < len(prose.linked)] == []
    assert sum(1 for _, prose in chinese_articles if prose.linked) > 10


def test_a_remark_in_the_terms_is_no_word() -> None:
    rows = ["| 英文 | 中文 |", "|---|---|", "| reconcile, reconciler | 调谐，调谐器 |"]
    rows += ["| watch | 监视（动词），watch（名词） |", "| filter (of a request) | 筛选 |"]
    found = Glossary.of_terms("\n".join(rows))
    assert found.meanings == {"调谐": "reconcile", "调谐器": "reconciler", "筛选": "filter"}
    assert found.anchor("调谐器") == "word-reconcile"


def test_no_word_has_two_links_on_a_page(articles: list[tuple[str, Prose]]) -> None:
    assert [path for path, prose in articles if len(set(prose.linked)) < len(prose.linked)] == []


def test_more_than_a_hundred_pages_use_words_of_the_glossary(articles: list[tuple[str, Prose]]) -> None:
    assert sum(1 for _, prose in articles if prose.linked) > 100


def test_a_first_use_without_a_link_is_found() -> None:
    pattern = Glossary({"lease": "", "watch cache": ""}).pattern
    link = '<a href="glossary.html#word-lease" class="term">lease</a>'
    assert read(f"<h2>Leases</h2><p>A {link} and a lease.</p>", pattern).unlinked == []
    assert read(f"<p>A lease and a {link}; <code>watch cache</code>.</p>", pattern).unlinked == ["lease"]
