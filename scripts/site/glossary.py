"""Words of the glossary: the first use on each page is a link."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from scripts.site.page import plain, prose_lines

GLOSSARY: Final = "glossary.md"
EVERYDAY: Final = frozenset(
    {
        "agent",
        "change",
        "definition",
        "dialect",
        "drain",
        "endpoint",
        "group",
        "kind",
        "object",
        "record",
        "resource",
        "runtime",
        "setting",
        "store",
        "strategy",
        "version",
        "write",
    }
)
"""Words that are ordinary English as well: a link would often lead to another meaning."""
_ROW: Final = re.compile(r"\| ([^|]+) \| ([^|]+) \|")


@dataclass(frozen=True)
class Glossary:
    """Meaning of each word, in lower case."""

    meanings: Mapping[str, str]

    @classmethod
    def of(cls, text: str) -> "Glossary":
        """Return the words of the tables of a page, without those of everyday English."""
        meanings: dict[str, str] = {}
        for line in prose_lines(text):
            row = _ROW.fullmatch(line)
            if row and row[1] != "word" and not row[1].startswith("-"):
                for word in words_of(row[1]):
                    if word not in EVERYDAY:
                        meanings[word] = plain(row[2])
        return cls(meanings)

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Finds a word, also in the plural. Longer words come first."""
        words = "|".join(re.escape(word) for word in sorted(self.meanings, key=len, reverse=True))
        return re.compile(rf"(?<![\w/.-])({words})(s|es)?(?![\w/-]|\.\w)", re.IGNORECASE)


def words_of(cell: str) -> list[str]:
    """Return the words that a row of the glossary explains: `gvk, gvr` is two."""
    return [word.strip().lower() for word in plain(cell).split(",")]


def anchor_of(word: str) -> str:
    """Return the anchor of a word on the glossary's page."""
    return "word-" + word.replace(" ", "-")
