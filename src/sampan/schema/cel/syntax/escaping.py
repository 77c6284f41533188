"""Escape property names as identifiers: `my-name` becomes `my__dash__name`, `namespace` becomes `__namespace__`.

Source: apiserver pkg/cel/escaping.go (1.36).
"""

import re

from sampan.schema.cel.syntax.ast import Expr, Select

RESERVED = frozenset(
    (
        "true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if", "import",
        "let", "loop", "package", "namespace", "return", "var", "void", "while",
    )
)  # fmt: skip
"""Keywords of the language; a property with such a name becomes `__name__`."""
_EXPANDED = {"__": "__underscores__", ".": "__dot__", "-": "__dash__", "/": "__slash__"}
_TO_EXPAND = re.compile(r"__|[-./]")
_TO_SHORTEN = re.compile(r"__([^_]+)__")
_SHORT = {expanded.strip("_"): short for short, expanded in _EXPANDED.items()}
_ALLOWED = re.compile(r"[A-Za-z_./-][A-Za-z0-9_./-]*", re.ASCII)


def escape(name: str) -> str | None:
    """Return the identifier of a property; None if it cannot have one."""
    if not _ALLOWED.fullmatch(name):
        return None
    if name in RESERVED:
        return f"__{name}__"
    return _TO_EXPAND.sub(lambda match: _EXPANDED[match[0]], name)


def unescape(identifier: str) -> str:
    """Return the property of an identifier; an identifier that is not escaped is returned unchanged."""
    words = [match[1] for match in _TO_SHORTEN.finditer(identifier)]
    if any(word not in _SHORT and not (word in RESERVED and identifier == f"__{word}__") for word in words):
        return identifier
    return _TO_SHORTEN.sub(lambda match: _SHORT.get(match[1], match[1]), identifier)


def unescape_fields(root: Expr) -> None:
    """Replace escaped identifiers by property names in all selections of an unchecked tree."""
    if isinstance(root, Select):
        root.field = unescape(root.field)
    for child in root.children():
        unescape_fields(child)
