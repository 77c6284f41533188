"""Path elements, the keys of FieldsV1: `f:<field>`, `k:{"name":"x"}`, `v:<json>`, `i:<n>` and `.`.

Source: structured-merge-diff fieldpath/{element,serialize-pe}.go, value/{value,fields}.go (v6).
"""

import re
from functools import lru_cache
from typing import Any

import orjson

from sampan.core.field import quote

SELF = "."
"""Key in the dict of an element that makes the element itself a member of the set."""

_SORTED = orjson.OPT_SORT_KEYS
_KINDS = {"f": 0, "k": 1, "v": 2, "i": 3}
_escaped = re.compile("[<>&\u2028\u2029]")
_is_integer = re.compile(r"[+-]?[0-9]+").fullmatch


def json_text(value: Any) -> str:
    """Format a JSON value as Kubernetes writes it in a path element."""
    if value.__class__ is str:
        return _string_text(value)
    if value.__class__ is int:
        return str(value)
    return _any_text(value)


@lru_cache(maxsize=4096)
def _string_text(value: str) -> str:
    """Format a string; cached because the same few keys recur."""
    return _any_text(value)


def _any_text(value: Any) -> str:
    if value.__class__ is float and value.is_integer() and abs(value) < 1e21:
        value = int(value)
    text = orjson.dumps(value, option=_SORTED).decode()
    if _escaped.search(text) is None:
        return text
    return _escaped.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def canonical(element: str) -> str | None:
    """Return a path element in canonical form; None for an unknown kind, which is dropped.

    Raises `ValueError` when it is malformed.
    """
    kind, content = element[:2], element[2:]
    if len(element) < 2:
        raise ValueError("key must be 2 characters long:")
    if kind == "f:":
        return element
    if kind == "k:":
        keys = orjson.loads(content)
        if not isinstance(keys, dict):
            raise ValueError(f"expected an object: {element}")
        return "k:{" + ",".join(f"{json_text(name)}:{json_text(keys[name])}" for name in sorted(keys)) + "}"
    if kind == "v:":
        return "v:" + json_text(orjson.loads(content))
    if kind == "i:":
        if not _is_integer(content):
            raise ValueError(f"not an index: {element}")
        return f"i:{int(content)}"
    if kind[1] != ":":
        raise ValueError(f"missing colon: {element}")
    return None


@lru_cache(maxsize=8192)
def sort_key(element: str) -> tuple[Any, ...]:
    """Return the sort key of an element among its siblings."""
    if element == SELF:
        return (-1,)
    kind, content = element[0], element[2:]
    if kind == "f":
        return (0, content)
    if kind == "i":
        return (3, int(content))
    value = orjson.loads(content)
    if kind == "k":
        return (1, tuple((name, _value_key(value[name])) for name in sorted(value)))
    return (_KINDS[kind], _value_key(value))


def _value_key(value: Any) -> tuple[Any, ...]:
    if isinstance(value, bool):
        return (2, value)
    if isinstance(value, int | float):
        return (0, value)
    if isinstance(value, str):
        return (1, value)
    if isinstance(value, list):
        return (3, tuple(_value_key(item) for item in value))
    if isinstance(value, dict):
        return (4, tuple((name, _value_key(value[name])) for name in sorted(value)))
    return (5,)


def element_text(element: str) -> str:
    """Format an element for a field path: `.spec`, `[name="x"]`, `[="x"]`, `[0]`."""
    kind, content = element[0], element[2:]
    if kind == "f":
        return "." + content
    if kind == "k":
        keys = orjson.loads(content)
        return "[" + ",".join(f"{name}={_value_text(keys[name])}" for name in sorted(keys)) + "]"
    if kind == "v":
        return f"[={_value_text(orjson.loads(content))}]"
    return f"[{content}]"


def _value_text(value: Any) -> str:
    if isinstance(value, str):
        return quote(value)
    return orjson.dumps(value).decode()
