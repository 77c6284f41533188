"""`Links`: the place in the site that a link of a page leads to, and which files the links need."""

import posixpath
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from scripts.site.collect import page_of_file
from scripts.site.page import Page
from scripts.site.places import PICTURES, ROOT, listing_path, page_path, view_path
from scripts.site.views import listing_page


class BrokenLink(Exception):
    """A link leads to nothing. The message names page and link."""


def is_external(href: str) -> bool:
    """Return True for an address with a scheme."""
    return "://" in href or href.startswith("mailto:")


@dataclass
class Links:
    """Finds targets. Pages, views and pictures that links need are added as they are found."""

    by_source: dict[str, Page]
    drawn: Mapping[str, str] = field(default_factory=dict)
    """Pictures that are made from data: the file of the repository that each would be, and its SVG."""
    found_pages: list[Page] = field(default_factory=list)
    """Pages that only links lead to, in the order in which they were found."""
    views: set[str] = field(default_factory=set)
    """Files of the repository that are shown as they are."""
    pictures: set[str] = field(default_factory=set)
    """Files of the repository that are copied."""

    @classmethod
    def among(cls, pages: Iterable[Page], drawn: Mapping[str, str] | None = None) -> "Links":
        """Return the links among pages."""
        return cls({page.source: page for page in pages}, drawn or {})

    def target(self, page: Page, href: str, *, ending: str = ".html") -> str:
        """Return the path of a target in the site, with its anchor. Pages get `ending`.

        Raises `BrokenLink`.
        """
        path, mark, anchor = href.partition("#")
        source = posixpath.normpath(posixpath.join(posixpath.dirname(page.source), path)) if path else page.source
        return self._place(page, source, href, ending) + mark + anchor

    def _place(self, page: Page, source: str, href: str, ending: str) -> str:
        linked = self.by_source.get(source) or self.by_source.get(f"{source}/README.md")
        if linked is None and not source.startswith(".."):
            linked = self._unlisted(source)
        if linked is not None:
            return linked.path.removesuffix(".md") + ending
        file = ROOT / source
        if source in self.drawn:
            self.pictures.add(source)
            return page_path(source)
        if source.startswith("..") or not file.is_file():
            raise BrokenLink(f"{page.source}: {href} does not exist")
        if file.suffix in PICTURES:
            self.pictures.add(source)
            return page_path(source)
        self.views.add(source)
        return view_path(source) if ending == ".html" else f"source/{source}"

    def _unlisted(self, source: str) -> Page | None:
        """Return a page that is in no navigation: another Markdown file, or the files of a folder."""
        file = ROOT / source
        if file.is_dir() and (file / "README.md").is_file():
            return self._add(page_of_file(file / "README.md", is_listed=False))
        if file.is_dir():
            return self._add(listing_page(source, listing_path(source)))
        if file.suffix == ".md" and file.is_file():
            return self._add(page_of_file(file, is_listed=False))
        return None

    def _add(self, page: Page) -> Page:
        self.by_source[page.source] = page
        self.found_pages.append(page)
        return page
