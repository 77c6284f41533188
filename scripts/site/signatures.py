"""Signatures in the API reference: public names in them are links to their sections."""

import html
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final

from scripts.reference.definitions import definition_of, public_names
from scripts.reference.packages import PACKAGES, anchor_of
from scripts.site.page import Page

_PAGES: Final = "reference/sampan."
_TAG: Final = re.compile(r"(<[^>]+>)")
_NAME: Final = re.compile(r"(?<![\w.&])[A-Z]\w+")


def with_links(page: Page, heading: str, code: str) -> str:
    """Return the HTML of a block below a heading. In the API reference, names have links to their sections."""
    package = page.path.removeprefix("reference/").removesuffix(".md")
    if not page.path.startswith(_PAGES) or heading not in public_names(package):
        return code
    module = definition_of(package, heading).module

    def link(match: re.Match[str]) -> str:
        place = _place(module, match[0], package)
        return match[0] if place is None or match[0] == heading else f'<a href="{html.escape(place)}">{match[0]}</a>'

    return "".join(part if part.startswith("<") else _NAME.sub(link, part) for part in _TAG.split(code))


@cache
def _place(module: str, name: str, package: str) -> str | None:
    """Return the address of what a name means in a module, relative to the page of a package; None if it has none."""
    try:
        owner = definition_of(module, name).module
    except (LookupError, FileNotFoundError):
        return None
    packages = _packages().get((owner, name), ())
    if not packages:
        return None
    chosen = package if package in packages else packages[0]
    return f"{'' if chosen == package else chosen + '.html'}#{anchor_of(chosen, name)}"


@cache
def _packages() -> Mapping[tuple[str, str], Sequence[str]]:
    """Return the packages that export each definition, by its module and name."""
    found: dict[tuple[str, str], list[str]] = {}
    for package in PACKAGES:
        for name in public_names(package):
            definition = definition_of(package, name)
            found.setdefault((definition.module, definition.name), []).append(package)
    return found
