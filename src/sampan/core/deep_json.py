"""`DeepJson`: part of a JSON value that is nested too deeply for recursive code. It keeps its text and is never walked.

Kubernetes accepts bodies with 10,000 levels. The encoder writes 254, and Python's stack ends soon after. So a decoded
value has at most `LEVELS_MAX` levels, and parts that are deeper are leaves of this type. All code between decoder and
encoder handles them like other leaves: it compares them, and moves references to them.
"""

import secrets
from collections.abc import Iterator
from typing import Any, Final

import orjson

LEVELS_MAX: Final = 254
"""Nested lists and maps that the encoder writes."""
DEPTH_MAX: Final = 10_000
"""Nested lists and maps that Go's decoders accept. Source: sigs.k8s.io/json scanner.go maxNestingDepth."""
LEVELS_WALKED: Final = 200
"""Level below which a part that exceeds `LEVELS_MAX` becomes a leaf. The rest is for values that contain the object."""

_MARK_BYTES: Final = 16


class DeepJson:
    """List or map as its normalised text: compact, keys sorted, numbers as Go writes them.

    Equal values have equal texts. It is immutable, so copies share it.
    """

    __slots__ = ("text",)

    def __init__(self, text: bytes) -> None:
        self.text = text

    @property
    def is_map(self) -> bool:
        """Return True for a map, False for a list."""
        return self.text.startswith(b"{")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DeepJson) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __copy__(self) -> "DeepJson":
        return self

    def __deepcopy__(self, memo: object) -> "DeepJson":
        return self

    def __str__(self) -> str:
        return self.text.decode()


def dumps(value: Any, *, sort: bool = False) -> bytes:
    """Encode a value that may have such leaves as compact JSON. Raises `orjson.JSONEncodeError`."""
    return dumped(value, orjson.OPT_SORT_KEYS if sort else 0)


def dumped(value: Any, option: int) -> bytes:
    """Encode a value with these options of orjson. Raises `orjson.JSONEncodeError`.

    A word that cannot be foreseen takes the place of each leaf, because `orjson.Fragment` damages memory: orjson 3.13.0
    writes the brackets after a fragment beyond the end of its buffer.
    """
    mark = ""
    leaves: list[bytes] = []

    def marked(part: object) -> str:
        nonlocal mark
        if not isinstance(part, DeepJson):
            raise TypeError(f"a {type(part).__name__} is not a JSON value")
        mark = mark or secrets.token_hex(_MARK_BYTES)
        leaves.append(part.text)
        return mark

    text = orjson.dumps(value, default=marked, option=option)
    if not leaves:
        return text
    first, *rest = text.split(b'"%b"' % mark.encode())
    return first + b"".join(each for pair in zip(leaves, rest, strict=True) for each in pair)


def copied(value: Any) -> Any:
    """Return a deep copy of a value with any number of levels. Leaves are shared."""
    root = [value]
    waiting: list[Any] = [root]
    while waiting:
        one = waiting.pop()
        for key, item in one.items() if one.__class__ is dict else enumerate(one):
            if item.__class__ is dict or item.__class__ is list:
                one[key] = item.copy()
                waiting.append(one[key])
    return root[0]


def has_leaf(value: Any) -> bool:
    """Return True if the value contains such a leaf."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if one.__class__ is DeepJson:
            return True
        waiting.extend(items(one))
    return False


def items(value: Any) -> Iterator[Any]:
    """Return the values in a list or map; for other values, nothing."""
    if value.__class__ is dict:
        return iter(value.values())
    return iter(value if value.__class__ is list else ())
