"""Property names as identifiers of expressions: `my-name` is `my__dash__name`, `namespace` is `__namespace__`.

Source: apiserver pkg/cel/escaping.go (1.36).
"""

import re

RESERVED = frozenset(
    (
        "true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if", "import",
        "let", "loop", "package", "namespace", "return", "var", "void", "while",
    )
)  # fmt: skip
"""Words of the language: a property of such a name is `__name__`."""
_EXPANDED = {"__": "__underscores__", ".": "__dot__", "-": "__dash__", "/": "__slash__"}
_TO_EXPAND = re.compile(r"__|[-./]")
_ALLOWED = re.compile(r"[A-Za-z_./-][A-Za-z0-9_./-]*", re.ASCII)


def escape(name: str) -> str | None:
    """The identifier of a property; None if it cannot have one."""
    if not _ALLOWED.fullmatch(name):
        return None
    if name in RESERVED:
        return f"__{name}__"
    return _TO_EXPAND.sub(lambda match: _EXPANDED[match[0]], name)
