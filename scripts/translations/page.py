"""`Translation`: a translated page. Its front matter has the path of its source, and the SHA-256 of the source's bytes.

    ---
    source: docs/reading/watch.md
    source_sha256: 07ab...
    ---

A page is stale if its source has other bytes now.
"""

import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
FOLDER: Final = "docs/zh-CN"
NO_SOURCE: Final = frozenset({"docs/zh-CN/terms.md"})
"""Pages that are no translations."""

_FRONT_MATTER: Final = re.compile(r"---\n(.*?)^---\n", re.DOTALL | re.MULTILINE)
_BANNER: Final = re.compile(r"> 本文译自较早的版本.*\n\n?")


@dataclass(frozen=True)
class Translation:
    """A translated page. Paths are relative to the root of the repository."""

    page: str
    source: str
    source_sha256: str
    """SHA-256 of the source that the page was translated from; empty if the page does not have it."""

    @property
    def is_stale(self) -> bool:
        """Return True if the source has changed since. Raises `FileNotFoundError` if it does not exist."""
        return digest((ROOT / self.source).read_bytes()) != self.source_sha256

    @property
    def banner(self) -> str:
        """Line in Chinese for the top of a stale page, with a link to the source."""
        link = os.path.relpath(self.source, Path(self.page).parent)
        return f"> 本文译自较早的版本，最新内容请看[英文版]({link})。\n\n"


def digest(data: bytes) -> str:
    """Return the SHA-256 of bytes in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def front_matter(text: str) -> Mapping[str, str]:
    """Return the fields of a page's front matter. Without front matter: none."""
    found = _FRONT_MATTER.match(text)
    fields = (line.partition(":") for line in found[1].splitlines()) if found else ()
    return {name.strip(): value.strip() for name, _, value in fields}


def body_of(text: str) -> str:
    """Return a page without its front matter and without a banner."""
    return _BANNER.sub("", _FRONT_MATTER.sub("", text, count=1), count=1)


def translations() -> list[Translation]:
    """Return all translated pages, by path."""
    return [Translation(page, *_fields(page)) for page in sorted(_pages())]


def stale_pages() -> list[Translation]:
    """Return the pages whose sources have changed since. Pages without a source, or with an absent one, are faults."""
    return [each for each in translations() if (ROOT / each.source).is_file() and each.is_stale]


def faults() -> list[str]:
    """Return messages about pages without a source, with an absent one, or without its revision."""
    found = []
    for each in translations():
        if not (ROOT / each.source).is_file():
            found.append(f"{each.page}: source {each.source or 'is missing in the front matter'}: no such file")
        elif not re.fullmatch(r"[0-9a-f]{64}", each.source_sha256):
            found.append(f"{each.page}: source_sha256 is not 64 hexadecimal digits: run --accept {each.page}")
    return found


def with_banner(page: str, text: str) -> str:
    """Return the text of a page for readers: with a banner below its heading if it is a stale translation.

    `page`: its path from the root of the repository.
    """
    fields = front_matter(text)
    translation = Translation(page, fields.get("source", ""), fields.get("source_sha256", ""))
    is_stale = (ROOT / translation.source).is_file() and translation.is_stale
    return _with_banner(_BANNER.sub("", text, count=1), translation.banner) if is_stale else text


def mark(translation: Translation) -> bool:
    """Write the banner into a stale page, or remove it from a current one. Return True if the page has changed."""
    return _write(translation, translation.source_sha256, translation.banner if translation.is_stale else "")


def accept(translation: Translation) -> bool:
    """Record that a page follows its source, and remove its banner. Return True if the page has changed."""
    return _write(translation, digest((ROOT / translation.source).read_bytes()), "")


def _pages() -> Iterator[str]:
    for path in (ROOT / FOLDER).rglob("*.md"):
        name = path.relative_to(ROOT).as_posix()
        if name not in NO_SOURCE:
            yield name


def _fields(page: str) -> tuple[str, str]:
    fields = front_matter((ROOT / page).read_text())
    return fields.get("source", ""), fields.get("source_sha256", "")


def _write(translation: Translation, sha256: str, banner: str) -> bool:
    path = ROOT / translation.page
    before = path.read_text()
    fields = {**front_matter(before), "source": translation.source, "source_sha256": sha256}
    lines = [f"{name}: {value}\n" for name, value in fields.items()]
    after = "".join(["---\n", *lines, "---\n", _with_banner(body_of(before), banner)])
    path.write_text(after)
    return after != before


def _with_banner(body: str, banner: str) -> str:
    """Return a page with a banner below its heading, where a reader begins."""
    heading, separator, rest = body.partition("\n\n")
    return f"{heading}{separator}{banner}{rest}"
