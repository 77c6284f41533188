"""Kind of each page: what a reader does with it. Each file in docs/ states its own in front matter: `kind: how-to`."""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Final

from scripts.site.places import CHINESE

TUTORIAL: Final = "tutorial"
HOW_TO: Final = "how-to"
REFERENCE: Final = "reference"
EXPLANATION: Final = "explanation"
KINDS: Final = (TUTORIAL, HOW_TO, REFERENCE, EXPLANATION)
"""In the order of the navigation: learn, do, look up, understand."""

_PATTERNS: Final[Mapping[str, tuple[str, ...]]] = {
    TUTORIAL: ("readme.md",),
    REFERENCE: ("reference/*", "benchmarks.md", "benchmarks/*", "changelog.md", "source/*", "terms.md"),
    EXPLANATION: ("adr/index.md", "architecture.md"),
}
"""Paths of pages that cannot state their kind, without the language: generated pages, and files that other sites show
as well. All others of these, such as the READMEs of examples, are how-tos.
"""


def kind_of(path: str, front_matter: Mapping[str, str]) -> str:
    """Return the kind of a page. Raises `ValueError` if its front matter names no kind of `KINDS`."""
    stated = front_matter.get("kind")
    if stated is not None:
        if stated not in KINDS:
            raise ValueError(f"{path}: kind: {stated}: must be one of {', '.join(KINDS)}")
        return stated
    name = path.removeprefix(f"{CHINESE}/")
    return next((kind for kind, patterns in _PATTERNS.items() if _matches(name, patterns)), HOW_TO)


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
