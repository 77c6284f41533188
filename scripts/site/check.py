"""Faults of a built site: links and anchors that lead to nothing, files from other hosts, pictures without a text."""

import posixpath
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

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
        elif "src" in found or (tag == "link" and "href" in found):
            self.files.append(found.get("src") or found.get("href", ""))
        if tag == "img" and not found.get("alt"):
            self.faults.append(f"picture {found.get('src')} has no text (alt)")


def faults_of(folder: Path) -> list[str]:
    """Return the faults of all pages, with the path of the page."""
    pages = {path.relative_to(folder).as_posix(): _parts(path) for path in sorted(folder.rglob("*.html"))}
    return [f"{path}: {fault}" for path, parts in pages.items() for fault in _faults(path, parts, pages, folder)]


def _parts(path: Path) -> _Parts:
    parts = _Parts()
    parts.feed(path.read_text())
    return parts


def _faults(path: str, parts: _Parts, pages: dict[str, _Parts], folder: Path) -> Iterator[str]:
    yield from parts.faults
    yield from (f"{address} is a file of another host" for address in parts.files if "://" in address)
    for address in _own([*parts.links, *parts.files]):
        target, _, anchor = address.partition("#")
        linked = posixpath.normpath(posixpath.join(posixpath.dirname(path), unquote(target))) if target else path
        if not (folder / linked).is_file():
            yield f"{address} does not exist"
        elif anchor and linked in pages and unquote(anchor) not in pages[linked].anchors:
            yield f"{address} has no such anchor"


def _own(addresses: Iterable[str]) -> Iterator[str]:
    return (address for address in addresses if not is_external(address) and not address.startswith("data:"))
