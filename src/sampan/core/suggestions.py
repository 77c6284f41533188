"""`closest`: the name that a user probably meant by a mistyped word, for error messages."""

from collections.abc import Iterable
from difflib import SequenceMatcher
from typing import Final

CUTOFF: Final = 0.65
"""Least score of a suggestion. A lower score would suggest names that only share some letters."""
_FOR_SAME_START: Final = 0.2
"""Bonus of a name whose first letters are those of the word: the first letters are rarely mistyped."""
_START: Final = 2
_FOR_PART: Final = 0.7
"""Weight of a match with one part of a longer name: `--namespce` with `--all-namespaces`."""


def closest(word: str, names: Iterable[str], *, cutoff: float = CUTOFF) -> str | None:
    """Return the name that is most similar to the word; None if none is similar.

    Leading dashes, case, and `_` in place of `-` do not count. Names that start like the word are preferred, then names
    that share most letters, then shorter names.
    """
    plain = _plain(word)
    if not plain:
        return None
    scored = sorted((-_score(plain, _plain(name)), len(name), name) for name in set(names) if _plain(name))
    return scored[0][2] if scored and -scored[0][0] >= cutoff else None


def did_you_mean(word: str, names: Iterable[str]) -> str:
    """Return the end of a message about an unknown name: the suggestion, or an empty text."""
    found = closest(word, names)
    return f"; did you mean {found}?" if found else ""


def _plain(name: str) -> str:
    return name.lstrip("-").replace("_", "-").lower()


def _score(word: str, name: str) -> float:
    """Return the similarity of two plain names: 0 for none, 1 and more for names that start alike."""
    if word == name:
        return 2.0
    score = _similarity(word, name)
    parts = name.split("-")
    if len(parts) > 1:
        score = max(score, _FOR_PART * max(_similarity(word, part) for part in parts))
    return score


def _similarity(word: str, name: str) -> float:
    """Return the share of common letters. Transposed letters count as common."""
    matcher = SequenceMatcher(None, word, name, autojunk=False)
    ratio = max(matcher.ratio(), SequenceMatcher(None, name, word, autojunk=False).ratio())
    if len(word) == len(name) and sorted(word) == sorted(name):
        ratio = max(ratio, 1 - 1 / len(word))
    alike = word[:_START] == name[:_START] or (word[:1] == name[:1] and len(word) <= _START)
    return ratio + (_FOR_SAME_START if alike and ratio >= 0.5 else 0.0)
