"""Find the position at which Go's base64 decoder fails. Source: Go's encoding/base64 decodeQuantum."""

from typing import Final

_ALPHABET: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")


def bad_byte(text: str) -> int:
    """Return the position of the first character that is invalid at its position, or the end of the last complete
    group.
    """
    for index, char in enumerate(text):
        if char not in _ALPHABET:
            return index if char != "=" or index % 4 < 2 else _after_padding(text, index)
    return len(text) // 4 * 4


def _after_padding(text: str, index: int) -> int:
    """Return the position of the error when the first `=` is at `index`.

    It is the position after the padding, or the place where the second `=` is missing.
    """
    if index % 4 == 3 or index + 1 == len(text):
        return index + 1
    return index + 2 if text[index + 1] == "=" else index
