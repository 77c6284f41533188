"""One page as HTML and Markdown, from an earlier build if its sources and the targets of its links are unchanged."""

from dataclasses import dataclass, field

from scripts.site.cache import Cache
from scripts.site.copies import markdown_of
from scripts.site.glossary import Glossary
from scripts.site.links import BrokenLink, Links
from scripts.site.page import Page
from scripts.site.render import Rendered, render


@dataclass(frozen=True, slots=True)
class Made:
    """A rendered page, and the targets that its links had."""

    rendered: Rendered
    markdown: str
    targets: list[tuple[str, str, str]]
    """Link, ending and target of each."""


@dataclass
class _Recorded(Links):
    """Links that remember what was looked up. All else is that of the links of the site."""

    targets: list[tuple[str, str, str]] = field(default_factory=list)

    def target(self, page: Page, href: str, *, ending: str = ".html") -> str:
        """Return the target, and remember it."""
        found = Links.target(self, page, href, ending=ending)
        self.targets.append((href, ending, found))
        return found


def made(page: Page, links: Links, glossary: Glossary, cache: Cache, shared: str) -> Made:
    """Return a page. `shared` changes if anything else changes that pages depend on.

    Raises `BrokenLink` and `BadHeading`.
    """

    def make() -> Made:
        cache.made += 1
        recorded = _Recorded(links.by_source, links.drawn, links.found_pages, links.views, links.pictures)
        return Made(render(page, recorded, glossary), markdown_of(page, recorded), recorded.targets)

    def valid(found: Made) -> bool:
        # A lookup also adds the files and pages that the link needs.
        try:
            return all(links.target(page, href, ending=ending) == target for href, ending, target in found.targets)
        except BrokenLink:
            return False

    return cache.get(make, "page", page.path, page.source, page.kind, page.text, shared, valid=valid)
