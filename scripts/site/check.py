"""Faults of a built site: links and anchors that lead to nothing, files from other hosts, pictures without a text."""

import posixpath
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

from scripts.site.cache import Cache
from scripts.site.links import is_external


@dataclass
class _Parts(HTMLParser):
    """Links, anchors and files of one page."""

    anchors: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a tag refers to."""
        found = {name: value or "" for name, value in attrs}
        if "id" in found:
            if found["id"] in self.anchors:
                self.faults.append(f"two elements have the id {found['id']}")
            self.anchors.add(found["id"])
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        elif tag == "source" and "srcset" in found:
            self.files.append(found["srcset"])
        elif "src" in found or (tag == "link" and "href" in found):
            self.files.append(found.get("src") or found.get("href", ""))
        if tag == "img" and not found.get("alt"):
            self.faults.append(f"picture {found.get('src')} has no text (alt)")


@dataclass(frozen=True, slots=True)
class _Checked:
    """One page: what it has, and what it needs."""

    anchors: set[str]
    faults: list[str]
    targets: list[tuple[str, str, str]]
    """Address, file and anchor of each link within the site."""


def faults_of(folder: Path, cache: Cache | None = None) -> list[str]:
    """Return the faults of all pages, with the path of the page."""
    cache = cache or Cache()
    files = {path.relative_to(folder).as_posix() for path in folder.rglob("*")}
    pages: dict[str, _Checked] = {}
    for path in sorted(files):
        if path.endswith(".html"):
            text = (folder / path).read_text()
            pages[path] = cache.get(partial(_checked, path, text), "checked", path, text)
    return [f"{path}: {fault}" for path, page in pages.items() for fault in _faults(page, pages, files)]


def _checked(path: str, text: str) -> _Checked:
    parts = _Parts()
    parts.feed(text)
    faults = [*parts.faults, *(f"{address} is a file of another host" for address in parts.files if "://" in address)]
    return _Checked(parts.anchors, faults, [_target(path, each) for each in _own([*parts.links, *parts.files])])


def _target(path: str, address: str) -> tuple[str, str, str]:
    target, _, anchor = address.partition("#")
    linked = posixpath.normpath(posixpath.join(posixpath.dirname(path), unquote(target))) if target else path
    return address, linked, unquote(anchor)


def _faults(page: _Checked, pages: dict[str, _Checked], files: set[str]) -> Iterator[str]:
    yield from page.faults
    for address, linked, anchor in page.targets:
        if linked not in files:
            yield f"{address} does not exist"
        elif anchor and linked in pages and anchor not in pages[linked].anchors:
            yield f"{address} has no such anchor"


def _own(addresses: Iterable[str]) -> Iterator[str]:
    return (address for address in addresses if not is_external(address) and not address.startswith("data:"))
