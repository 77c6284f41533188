"""Search index: titles, headings and names of all pages, and the pages of each word of prose.

The index is a script that sets one variable, so that it also works in pages that are opened as files. The browser
ranks the results (`theme/search.js`).
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from scripts.site.kinds import KINDS, REFERENCE
from scripts.site.page import Page
from scripts.site.places import CHINESE
from scripts.site.render import Rendered

_WORD: Final = re.compile(r"[a-z][a-z0-9]*(?:[._-][a-z0-9]+)*|[\u4e00-\u9fff]+")
_STOP: Final = frozenset(
    re.findall(
        r"\w+",
        "a all also an and any are as at be because been before both but by can do does each for from get has have"
        " if in into is it its more most no not of on one only or other own same so some such than that the their them"
        " then there these they this to two up use used uses was when which while will with without you your",
    )
)
_HEADINGS_MAX: Final = 400
"""Headings of one page. The pages of large kinds have more."""


def index_of(pages: Iterable[tuple[Page, Rendered]]) -> str:
    """Return the script with the index of some pages."""
    entries: list[list[object]] = []
    headings: list[list[object]] = []
    found: dict[str, list[str]] = {}
    for number, (page, rendered) in enumerate(pages):
        entries.append([page.title, page.html, KINDS.index(page.kind), page.description[:110]])
        headings += [
            [number, heading.text, heading.anchor] for heading in rendered.headings[:_HEADINGS_MAX] if heading.level > 1
        ]
        for word, count in Counter(_words_of(page, rendered)).items():
            # The number of uses counts up to 3.
            found.setdefault(word, []).append(f"{number}{'.' * (min(count, 3) - 1)}")
    words = {word: " ".join(numbers) for word, numbers in sorted(found.items())}
    index = {"pages": entries, "headings": headings, "words": words}
    return "window.sampanIndex = " + json.dumps(index, ensure_ascii=False, separators=(",", ":")) + ";\n"


def _words_of(page: Page, rendered: Rendered) -> Iterator[str]:
    if page.kind == REFERENCE and page.path.startswith("reference/"):
        return
    for piece in rendered.words:
        for word in _WORD.findall(piece.lower()):
            if word[0] >= "\u4e00":
                yield from (word[start : start + 2] for start in range(len(word) - 1))
            elif len(word) > 2 and word not in _STOP:
                yield word


def index_name(language: str) -> str:
    """Return the file name of the index of a language."""
    return f"assets/search-{'zh' if language == CHINESE else 'en'}.js"
