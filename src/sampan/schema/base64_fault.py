"""Where Go's reader of base64 stops. Source: Go's encoding/base64 decodeQuantum."""

from typing import Final

_ALPHABET: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")


def bad_byte(text: str) -> int:
    """Where Go's base64 reader stops: the first character that cannot stand there, or the last full group's end."""
    for index, char in enumerate(text):
        if char not in _ALPHABET:
            return index if char != "=" or index % 4 < 2 else _after_padding(text, index)
    return len(text) // 4 * 4


def _after_padding(text: str, index: int) -> int:
    """Where Go stops when the first `=` stands there: at what follows the padding, or where the second should be."""
    if index % 4 == 3 or index + 1 == len(text):
        return index + 1
    return index + 2 if text[index + 1] == "=" else index
