"""Expand `$(NAME)`, by which commands, arguments and variables of containers refer to variables.

Source: kubernetes third_party/forked/golang/expansion/expand.go (1.36).
"""

import re
from collections.abc import Callable, Mapping
from typing import Final

_REFERENCE: Final = re.compile(r"\$(?:\(([^)]*)\)|(.)|\Z)", re.DOTALL)
"""Matches a reference, an escaped `$`, or a literal `$`."""


def expand(text: str, value_of: Callable[[str], str]) -> str:
    """Replace each `$(NAME)`; `$$` becomes `$`, and all other `$` are kept."""

    def replaced(match: re.Match[str]) -> str:
        name, other = match.group(1), match.group(2)
        if name is not None:
            return value_of(name)
        return "$" if other == "$" else match.group()

    return _REFERENCE.sub(replaced, text) if "$" in text else text


def from_mappings(*mappings: Mapping[str, str]) -> Callable[[str], str]:
    """Return a lookup in the first mapping that contains the name. A name in none of them is left unexpanded."""

    def value_of(name: str) -> str:
        for mapping in mappings:
            value = mapping.get(name)
            if value is not None:
                return value
        return f"$({name})"

    return value_of
