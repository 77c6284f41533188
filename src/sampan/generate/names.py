"""Names in generated code."""

import keyword
import re
from collections import Counter
from collections.abc import Iterable

_boundary = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_plural_acronym = re.compile(r"([A-Z]{2,})s(?![a-z])")
_not_word = re.compile(r"[^0-9a-zA-Z]+")


_TYPES = frozenset(["bool", "bytes", "dict", "float", "int", "list", "str", "msgspec"])
"""Names that the annotations of a class use. A field must not shadow them."""


def snake_case(name: str) -> str:
    """Convert a field's or kind's name to Python style: `podCIDRs` to `pod_cidrs`, `from` to `from_`."""
    plain = _plural_acronym.sub(lambda found: f"{found[1].capitalize()}s", name)
    words = _not_word.sub("_", _boundary.sub("_", plain)).strip("_").lower()
    if not words or words[0].isdigit():
        words = f"field_{words}"
    return f"{words}_" if keyword.iskeyword(words) or words in _TYPES else words


def camel_case(name: str) -> str:
    """Convert a field's name as msgspec's `rename="camel"` does."""
    first, *rest = name.strip("_").split("_")
    return first + "".join(word.title() for word in rest)


def class_name(*parts: str) -> str:
    """Join words to a class name: `Network`, `status`, `conditions` to `NetworkStatusConditions`."""
    return "".join(word[:1].upper() + word[1:] for part in parts for word in _not_word.split(part) if word)


def singular(name: str) -> str:
    """Return the singular of a list's name, for its items: `condition` for `conditions`, `policy` for `policies`."""
    if name.endswith("ies"):
        return f"{name[:-3]}y"
    if name.endswith(("sses", "xes", "ches", "shes")):
        return name[:-2]
    return name[:-1] if name.endswith("s") and not name.endswith("ss") else name


def group_names(groups: Iterable[str]) -> dict[str, str]:
    """Return short names of groups for code: `samplecrd` for `samplecrd.k8s.io`, `core` for the core group.

    Groups with equal short names get their full name: `networking_k8s_io`.
    """
    distinct = sorted(set(groups))
    short = {group: snake_case(group.partition(".")[0]) if group else "core" for group in distinct}
    counts = Counter(short.values())
    return {group: name if counts[name] == 1 else snake_case(group) for group, name in short.items()}
