"""Path of each file of the repository in the site. All paths are relative, with `/`."""

import posixpath
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
THEME: Final = Path(__file__).parent / "theme"
OUTPUT: Final = ROOT / "build" / "site"
CACHE: Final = ROOT / "build" / "site.cache"
CHINESE: Final = "zh-CN"
PICTURES: Final = frozenset({".svg", ".png", ".jpg", ".webp"})

_RENAMED: Final = {
    "README.md": "readme.md",
    "ARCHITECTURE.md": "architecture.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "reporting-a-vulnerability.md",
    "docs/README.md": "contents.md",
    f"docs/{CHINESE}/README.md": f"{CHINESE}/readme.md",
}
"""The front pages have the place of the two READMEs, and docs/security.md that of SECURITY.md."""


def page_path(source: str) -> str:
    """Return the path of a Markdown file of the repository: `docs/reading/README.md` is `reading/index.md`."""
    if source in _RENAMED:
        return _RENAMED[source]
    path = source.removeprefix("docs/")
    return posixpath.join(posixpath.dirname(path), "index.md") if posixpath.basename(path) == "README.md" else path


def view_path(source: str) -> str:
    """Return the path of the view of another file: `source/src/sampan/core/clock.py.html`."""
    return f"source/{source}.html"


def listing_path(folder: str) -> str:
    """Return the path of the list of a folder's files."""
    return f"source/{folder}/index.md"


def html_of(path: str) -> str:
    """Return the path of the HTML of a page in Markdown."""
    return path.removesuffix(".md") + ".html"


def language_of(path: str) -> str:
    """Return the language of a page, from its path in the site."""
    return CHINESE if path.startswith(f"{CHINESE}/") else "en"


def translation_of(path: str) -> str:
    """Return the path that the page has in the other language, if it is translated."""
    return path.removeprefix(f"{CHINESE}/") if language_of(path) == CHINESE else f"{CHINESE}/{path}"


def relative(target: str, start: str) -> str:
    """Return a path in the site, relative to the page at `start`."""
    return posixpath.relpath(target, posixpath.dirname(start) or ".")
