"""Words of the glossary: the first use on each page is a link. Chinese pages link to the page of their terms."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from scripts.site.page import plain, prose_lines
from scripts.site.places import CHINESE

GLOSSARY: Final = "glossary.md"
TERMS: Final = f"{CHINESE}/terms.md"
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
_NO_WORDS: Final = frozenset(
    {
        "事件",
        "冲突",
        "压缩",
        "存储",
        "打分",
        "校验",
        "模板",
        "监视",
        "缓存",
        "路由",
        "转换",
        "过滤",
        "过滤器",
        "默认值",
        "不译",
    }
)
"""Everyday words, and the remark that a word stays English."""
_NOTE: Final = re.compile(r"（[^）]*）|；.*| \([^)]*\)")
"""Remark in a cell of the terms."""
_ASCII: Final = re.compile(r"[\x00-\x7f]+")
_ROW: Final = re.compile(r"\| ([^|]+) \| ([^|]+) \|")


@dataclass(frozen=True)
class Glossary:
    """Words of one page, in lower case."""

    meanings: Mapping[str, str]
    page: str = GLOSSARY
    anchors: Mapping[str, str] = field(default_factory=dict)
    """Anchors of words that are not their own."""

    @classmethod
    def of(cls, text: str) -> "Glossary":
        """Return the words of the tables of a page, without those of everyday English."""
        meanings: dict[str, str] = {}
        for first, second in _rows(text):
            for word in words_of(first):
                if word not in EVERYDAY:
                    meanings[word] = plain(second)
        return cls(meanings)

    @classmethod
    def of_terms(cls, text: str) -> "Glossary":
        """Return the Chinese words of the page of terms. Their meaning is the English word."""
        meanings: dict[str, str] = {}
        anchors: dict[str, str] = {}
        for english, chinese in _rows(text):
            sources = words_of(english)
            words = [_NOTE.sub("", each).strip().lower() for each in plain(chinese).split("，")]
            for word, source in zip(words, sources, strict=False):
                if source not in EVERYDAY and word not in _NO_WORDS and not _ASCII.match(word):
                    meanings[word], anchors[word] = source, anchor_of(sources[0])
        return cls(meanings, TERMS, anchors)

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Finds a word, also in the plural. Longer words come first. Chinese has no spaces between words."""
        words = "|".join(re.escape(word) for word in sorted(self.meanings, key=len, reverse=True))
        if self.page == TERMS:
            return re.compile(f"({words})", re.IGNORECASE)
        return re.compile(rf"(?<![\w/.-])({words})(s|es)?(?![\w/-]|\.\w)", re.IGNORECASE)

    def anchor(self, word: str) -> str:
        """Return the anchor of a word on the page."""
        return self.anchors.get(word) or anchor_of(word)


def _rows(text: str) -> Iterator[tuple[str, str]]:
    """Yield the cells of the rows of tables, without their heads."""
    is_body = False
    for line in prose_lines(text):
        row = _ROW.fullmatch(line)
        if row is not None and is_body:
            yield row[1], row[2]
        else:
            is_body = line.startswith("|-")


def words_of(cell: str) -> list[str]:
    """Return the words that a row of the glossary explains: `gvk, gvr` is two."""
    return [_NOTE.sub("", word).strip().lower() for word in plain(cell).split(",")]


def anchor_of(word: str) -> str:
    """Return the anchor of a word on the glossary's page."""
    return "word-" + word.replace(" ", "-")
