"""Builds the site: collects pages, renders them, writes everything into a folder, and checks the result."""

import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from scripts.site.charts import charts
from scripts.site.check import faults_of
from scripts.site.collect import generated_page, index_of_decisions, pages_of_files
from scripts.site.copies import llms_txt, markdown_of
from scripts.site.front import FRONTS, front_page, markdown_of_front
from scripts.site.glossary import GLOSSARY, Glossary
from scripts.site.layout import Layout
from scripts.site.links import BrokenLink, Links
from scripts.site.navigation import Section, sections
from scripts.site.page import Page
from scripts.site.places import CHINESE, ROOT, THEME, page_path, view_path
from scripts.site.reference import inventory
from scripts.site.reference import pages as reference_pages
from scripts.site.render import BadHeading, Rendered, render
from scripts.site.search import index_name, index_of
from scripts.site.views import view_html

_STYLES: Final = ("base.css", "layout.css", "front.css", "print.css")
_SCRIPTS: Final = ("early.js", "site.js", "search.js", "sampan.svg")
LANGUAGES: Final = ("en", CHINESE)


class Faulty(Exception):
    """The site has faults; the arguments are their texts."""


@dataclass
class Site:
    """A site that was built."""

    pages: list[Page]
    """Pages of the navigation."""
    sections: dict[str, list[Section]]
    rendered: dict[str, Rendered] = field(default_factory=dict)
    """By path."""


def build(output: Path, *, edit_address: str = "") -> Site:
    """Write the site. Raises `Faulty`; the pages are written all the same, except broken ones."""
    generated = [generated_page(path, text) for path, text in reference_pages().items()]
    pages = [*pages_of_files(), index_of_decisions(), *generated]
    links = Links.among(pages, {f"docs/charts/{name}": drawn for name, drawn in charts().items()})
    site = Site(pages, {language: _sections(pages, language) for language in LANGUAGES})
    faults = _render(site, links, _glossary(pages))
    found = [*pages, *links.found_pages]
    layout = Layout(site.sections, frozenset(page.path for page in found) | set(FRONTS), edit_address)
    shutil.rmtree(output, ignore_errors=True)
    for page in found:
        if page.path in site.rendered:
            _write(output / page.path, markdown_of(page, links))
            _write(output / page.html, layout.page(page, site.rendered[page.path]))
    _write_fronts(output, site, layout)
    _write_files(output, links, layout)
    _write_search(output, site)
    faults += faults_of(output)
    if faults:
        raise Faulty(*faults)
    return site


def _sections(pages: Sequence[Page], language: str) -> list[Section]:
    return sections(pages, language, next(page for page in pages if page.path == "contents.md"))


def _glossary(pages: Iterable[Page]) -> Glossary:
    return Glossary.of(next(page.text for page in pages if page.path == GLOSSARY))


def _render(site: Site, links: Links, glossary: Glossary) -> list[str]:
    """Render all pages, and those that links need. Return the faults."""
    faults: list[str] = []
    waiting = [*site.pages]
    while waiting:
        for page in waiting:
            try:
                site.rendered[page.path] = render(page, links, glossary)
            except (BrokenLink, BadHeading) as error:
                faults.append(str(error))
        waiting = [page for page in links.found_pages if page.path not in site.rendered]
        waiting = [page for page in waiting if not any(fault.startswith(f"{page.source}: ") for fault in faults)]
    return faults


def _write_fronts(output: Path, site: Site, layout: Layout) -> None:
    for path in FRONTS:
        document = front_page(path, site.sections["en"], layout)
        _write(output / path.replace(".md", ".html"), document)
        _write(output / path, markdown_of_front(path))
    summary = next(page.description for page in site.pages if page.path == "readme.md")
    _write(output / "llms.txt", llms_txt([each for language in LANGUAGES for each in site.sections[language]], summary))


def _write_files(output: Path, links: Links, layout: Layout) -> None:
    for source in sorted(links.pictures):
        target = output / page_path(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        if source in links.drawn:
            target.write_text(links.drawn[source])
        else:
            shutil.copyfile(ROOT / source, target)
    for source in sorted(links.views):
        _write(output / view_path(source), layout.view(view_path(source), source, view_html(source)))
        _write(output / "source" / source, (ROOT / source).read_text())
    (output / "objects.inv").write_bytes(inventory())
    _write(output / "assets" / "site.css", "".join((THEME / name).read_text() for name in _STYLES))
    for name in _SCRIPTS:
        shutil.copyfile(THEME / name, output / "assets" / name)


def _write_search(output: Path, site: Site) -> None:
    for language in LANGUAGES:
        pages = [page for page in site.pages if page.language == language and page.path in site.rendered]
        _write(output / index_name(language), index_of((page, site.rendered[page.path]) for page in pages))


def _write(target: Path, text: str) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text)
