"""Builds the site: collects pages, renders them, writes everything into a folder, and checks the result."""

import hashlib
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

from scripts.site.cache import SOURCES, Cache, signature
from scripts.site.check import faults_of
from scripts.site.collect import generated_page, index_of_decisions, pages_of_files
from scripts.site.copies import llms_txt
from scripts.site.front import FRONTS, front_page, markdown_of_front
from scripts.site.glossary import GLOSSARY, TERMS, Glossary
from scripts.site.layout import Layout
from scripts.site.links import BrokenLink, Links
from scripts.site.made import Made, made
from scripts.site.navigation import Section, sections
from scripts.site.page import Page
from scripts.site.places import CHINESE, ROOT, THEME, page_path, view_path
from scripts.site.render import BadHeading, Rendered
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
    made: dict[str, Made] = field(default_factory=dict)
    """By path."""

    @property
    def rendered(self) -> dict[str, Rendered]:
        """HTML by path."""
        return {path: each.rendered for path, each in self.made.items()}


@dataclass(frozen=True, slots=True)
class _Generated:
    """What is made from the code."""

    pages: dict[str, str]
    charts: dict[str, str]
    inventory: bytes


def build(output: Path, *, edit_address: str = "", cache: Cache | None = None) -> Site:
    """Write the site. Raises `Faulty`; the pages are written all the same, except broken ones."""
    cache = cache or Cache()
    sources = signature(SOURCES)
    generated = cache.get(_generated, "generated", sources)
    pages = [*pages_of_files(), index_of_decisions()]
    pages += [generated_page(path, text) for path, text in generated.pages.items()]
    links = Links.among(pages, {f"docs/charts/{name}": drawn for name, drawn in generated.charts.items()})
    site = Site(pages, {language: _sections(pages, language) for language in LANGUAGES})
    faults = _render(site, links, _glossaries(pages), cache, sources)
    found = [*pages, *links.found_pages]
    layout = Layout(site.sections, frozenset(page.path for page in found) | set(FRONTS), edit_address)
    shutil.rmtree(output, ignore_errors=True)
    for page in found:
        if page.path in site.made:
            _write(output / page.path, site.made[page.path].markdown)
            _write(output / page.html, _document(page, site.made[page.path].rendered, layout, cache))
    _write_fronts(output, site, layout)
    _write_files(output, links, layout, cache)
    (output / "objects.inv").write_bytes(generated.inventory)
    _write_search(output, site)
    faults += faults_of(output, cache)
    cache.save()
    if faults:
        raise Faulty(*faults)
    return site


def _generated() -> _Generated:
    # These import the server. A build without a change of the code does without.
    from scripts.site.charts import charts
    from scripts.site.reference import inventory, pages

    return _Generated(pages(), dict(charts()), inventory())


def _document(page: Page, rendered: Rendered, layout: Layout, cache: Cache) -> str:
    inputs = ("document", page.path, page.text, rendered.html, layout.signature)
    return cache.get(lambda: layout.page(page, rendered), *inputs)


def _sections(pages: Sequence[Page], language: str) -> list[Section]:
    return sections(pages, language, next(page for page in pages if page.path == "contents.md"))


def _glossaries(pages: Iterable[Page]) -> dict[str, Glossary]:
    """Return the words that pages link, by language."""
    texts = {page.path: page.text for page in pages if page.path in (GLOSSARY, TERMS)}
    return {"en": Glossary.of(texts[GLOSSARY]), CHINESE: Glossary.of_terms(texts[TERMS])}


def _render(site: Site, links: Links, glossaries: Mapping[str, Glossary], cache: Cache, sources: str) -> list[str]:
    """Render all pages, and those that links need. Return the faults."""
    faults: list[str] = []
    pictures = {file.name: file.read_text() for file in sorted((ROOT / "docs").rglob("*.svg"))}
    words = [sorted(each.meanings.items()) for each in glossaries.values()]
    shared = repr([words, sorted(links.drawn.items()), sorted(pictures.items())])
    shared = hashlib.sha256(shared.encode()).hexdigest()
    waiting = [*site.pages]
    while waiting:
        for page in waiting:
            try:
                # Signatures in the reference have links that depend on the code.
                depends = sources if page.path.startswith("reference/") else ""
                site.made[page.path] = made(page, links, glossaries[page.language], cache, shared + depends)
            except (BrokenLink, BadHeading) as error:
                faults.append(str(error))
        waiting = [page for page in links.found_pages if page.path not in site.made]
        waiting = [page for page in waiting if not any(fault.startswith(f"{page.source}: ") for fault in faults)]
    return faults


def _write_fronts(output: Path, site: Site, layout: Layout) -> None:
    for path in FRONTS:
        document = front_page(path, site.sections["en"], layout)
        _write(output / path.replace(".md", ".html"), document)
        _write(output / path, markdown_of_front(path))
    summary = next(page.description for page in site.pages if page.path == "readme.md")
    _write(output / "llms.txt", llms_txt([each for language in LANGUAGES for each in site.sections[language]], summary))


def _write_files(output: Path, links: Links, layout: Layout, cache: Cache) -> None:
    for source in sorted(links.pictures):
        target = output / page_path(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        if source in links.drawn:
            target.write_text(links.drawn[source])
        else:
            shutil.copyfile(ROOT / source, target)
    for source in sorted(links.views):
        text = (ROOT / source).read_text()
        body = cache.get(partial(view_html, source), "view", source, text)
        _write(output / view_path(source), layout.view(view_path(source), source, body))
        _write(output / "source" / source, text)
    _write(output / "assets" / "site.css", "".join((THEME / name).read_text() for name in _STYLES))
    for name in _SCRIPTS:
        shutil.copyfile(THEME / name, output / "assets" / name)


def _write_search(output: Path, site: Site) -> None:
    rendered = site.rendered
    for language in LANGUAGES:
        pages = [page for page in site.pages if page.language == language and page.path in rendered]
        _write(output / index_name(language), index_of((page, rendered[page.path]) for page in pages))


def _write(target: Path, text: str) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text)
