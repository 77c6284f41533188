"""Markdown of each page next to its HTML, and `llms.txt`: the site for programs."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from scripts.site.links import Links, is_external
from scripts.site.navigation import Section
from scripts.site.page import Page
from scripts.site.places import relative
from scripts.site.render import pictures_in

_TARGET: Final = re.compile(r"(\]\()([^)\s]+)(\))")


def markdown_of(page: Page, links: Links) -> str:
    """Return a page with front matter, and with links to the Markdown of other pages."""
    head = [f"title: {page.title}", f"kind: {page.kind}", f"language: {page.language}"]
    if not page.is_generated:
        head.append(f"source: {page.source}")
    return "\n".join(["---", *head, "---", "", *_lines(page, links)]) + "\n"


def _lines(page: Page, links: Links) -> Iterator[str]:
    def point(match: re.Match[str]) -> str:
        address = match[2]
        if is_external(address) or address.startswith("#"):
            return match[0]
        return match[1] + relative(links.target(page, address, ending=".md"), page.path) + match[3]

    def picture(address: str) -> str:
        return relative(links.target(page, address, ending=".md"), page.path)

    fence = ""
    for line in page.text.splitlines():
        mark = re.match(r" *(`{3,})", line)
        if mark and (not fence or line.strip() == fence):
            fence = "" if fence else mark[1]
        yield line if fence or line.startswith("    ") else pictures_in(_TARGET.sub(point, line), picture)


def llms_txt(sections: Iterable[Section], summary: str) -> str:
    """Return the list of all pages for language models: one line for each, with its Markdown."""
    lines = ["# Sampan", "", f"> {summary}", ""]
    for section in sections:
        lines += [f"## {section.title}", "", *_entries(section.pages), ""]
    return "\n".join(lines)


def _entries(pages: Sequence[Page]) -> Iterator[str]:
    for page in pages:
        yield f"- [{page.title}]({page.path})" + (f": {page.description}" if page.description else "")
