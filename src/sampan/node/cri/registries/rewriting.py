"""`RewriteRule`: replaces a part of a repository's name, as a rewrite rule of registries.yaml does.

The expressions have Go's syntax, and RE2 matches them in time linear in the name. So no expression blocks the agent.
Where the package google-re2 is absent, because it has no wheel for the platform (musl), rules are refused.
Source: Go regexp `ReplaceAllString`, `Expand` (1.24).
"""

import re
from importlib import import_module
from typing import Any, Final

_REFERENCE: Final = re.compile(r"\$(?:\{(\w+)\}|(\w+)|(\$))")


class RewriteRule:
    """Expression and replacement. Raises `ValueError` if one of them is invalid."""

    def __init__(self, pattern: str, replacement: str) -> None:
        """`replacement`: text with `$1`, `${1}` or `${name}` for groups of the expression."""
        re2 = _engine()
        options = re2.Options()
        options.log_errors = False
        try:
            self._compiled = re2.compile(pattern, options=options)
        except re2.error as error:
            [reason] = error.args or ("invalid",)
            raise ValueError(reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)) from None
        self._replacement = replacement
        names = [found[1] or found[2] for found in _REFERENCE.finditer(replacement) if not found[3]]
        for name in names:
            if name not in self._compiled.groupindex and not (name.isdecimal() and int(name) <= self._compiled.groups):
                raise ValueError(f"the expression has no group {name}")

    def applied(self, name: str) -> str | None:
        """Return the name after the replacement; None if the expression does not fit it."""
        if self._compiled.search(name) is None:
            return None
        return str(self._compiled.sub(self._expanded, name))

    def _expanded(self, match: Any) -> str:
        def text(reference: "re.Match[str]") -> str:
            if reference[3]:
                return "$"
            group = reference[1] or reference[2]
            return match[int(group) if group.isdecimal() else group] or ""

        return _REFERENCE.sub(text, self._replacement)


def _engine() -> Any:
    try:
        return import_module("re2")
    except ModuleNotFoundError:
        raise ValueError("rewrite rules need the package google-re2, which is not installed") from None
