"""`Page`: one document of the site, in Markdown."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from scripts.site.kinds import kind_of
from scripts.site.places import html_of, language_of, page_path

_FRONT_MATTER: Final = re.compile(r"---\n(.*?\n)---\n", re.DOTALL)
_OTHER_LANGUAGE: Final = re.compile(r"^\[(?:中文|English)\]\([^)]*\)\n+", re.MULTILINE)
"""A paragraph with a link to the translation. The site has a switch in its header."""
_COMMENT: Final = re.compile(r"<!--.*?-->\n?", re.DOTALL)
_LINK: Final = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_NO_PROSE: Final = ("#", "|", "!", "```", "    ", "- ", "<", "> ")
_DESCRIPTION_MAX: Final = 200


@dataclass(frozen=True, slots=True)
class Page:
    """A document in Markdown."""

    path: str
    """Place in the site: `reading/watch.md`."""
    source: str
    """File of the repository that its links are relative to. A generated page has the one that it would have."""
    text: str
    """Markdown without front matter."""
    is_generated: bool = False
    is_listed: bool = True
    """False if only links lead to it: it is in no navigation and in no search index."""
    front_matter: dict[str, str] = field(default_factory=dict)

    @property
    def html(self) -> str:
        """Place of the HTML in the site."""
        return html_of(self.path)

    @property
    def kind(self) -> str:
        """Kind, as in `KINDS`."""
        return kind_of(self.path, self.front_matter)

    @property
    def language(self) -> str:
        """`en` or `zh-CN`."""
        return language_of(self.path)

    @property
    def title(self) -> str:
        """First heading, without marks."""
        heading = next((line for line in prose_lines(self.text) if line.startswith("# ")), None)
        return plain(heading[2:]) if heading else self.path

    @property
    def description(self) -> str:
        """First paragraph without marks, up to about 200 characters."""
        text = "\n".join(prose_lines(_COMMENT.sub("", self.text)))
        for paragraph in re.split(r"\n{2,}", text.strip("\n")):
            if paragraph and not paragraph.startswith(_NO_PROSE):
                return _shortened(plain(" ".join(paragraph.split())))
        return ""


def page_from(source: str, text: str, *, is_listed: bool = True) -> Page:
    """Return the page of a Markdown file of the repository."""
    found = _FRONT_MATTER.match(text)
    front_matter = dict(_entries(found[1])) if found else {}
    body = _OTHER_LANGUAGE.sub("", text[found.end() :] if found else text, count=1)
    return Page(page_path(source), source, body, is_listed=is_listed, front_matter=front_matter)


def prose_lines(text: str) -> Iterator[str]:
    """Yield the lines of a text that are in no fenced block."""
    fence = ""
    for line in text.splitlines():
        mark = re.match(r" *(`{3,})", line)
        if mark and not fence:
            fence = mark[1]
        elif fence and line.strip() == fence:
            fence = ""
        elif not fence:
            yield line


def plain(markdown: str) -> str:
    """Return a line of Markdown without links and marks."""
    return re.sub(r"[*`]|\\(?=[_*|])", "", _LINK.sub(r"\1", markdown)).strip()


def _entries(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        name, colon, value = line.partition(":")
        if colon:
            yield name.strip(), value.strip().strip("\"'")


def _shortened(text: str) -> str:
    """Return the first sentences that fit."""
    if len(text) <= _DESCRIPTION_MAX:
        return text.rstrip(":")
    end = max(text.rfind(mark, 0, _DESCRIPTION_MAX) for mark in (". ", "。", ": "))
    return text[: end + 1].rstrip(":") if end > 0 else text[:_DESCRIPTION_MAX].rpartition(" ")[0] + " …"
