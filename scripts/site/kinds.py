"""Kind of each page: what a reader does with it. Front matter may state another one with `kind:`."""

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
    TUTORIAL: ("book/*", "readme.md", "testing-tutorial.md", "from-zero-to-a-released-operator.md"),
    REFERENCE: (
        "reference/*",
        "benchmarks.md",
        "benchmarks/*",
        "changelog.md",
        "configuration.md",
        "glossary.md",
        "project-upgrades.md",
        "source/*",
        "terms.md",
        "toolkit-features.md",
    ),
    EXPLANATION: (
        "adr/*",
        "architecture.md",
        "coming-from-k3s-or-kind.md",
        "compared-with/*",
        "reading/*",
        "which-test.md",
    ),
}
"""Paths of pages in the site, without the language. All other pages are how-tos."""


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
