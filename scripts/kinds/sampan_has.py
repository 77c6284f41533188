"""Look up what Sampan has of a schema: its packaged definitions, its kinds, and the names in its code."""

import re
from functools import cached_property
from typing import Any, Final

from scripts.kinds.files import ROOT
from scripts.kinds.published import merge_of

from sampan.registry.kinds.builtin import BUILTIN_KINDS
from sampan.schema.builtin import Definitions

SOURCES: Final = ROOT / "src/sampan"
_LITERAL = re.compile(r'"([^"\n]*)"')
_WORD = re.compile(r"\w+")


class SampanHas:
    """Sampan as it stands in this checkout."""

    def __init__(self) -> None:
        self._definitions = Definitions()
        self._known = set(self._definitions.names())
        self._nodes: dict[str, dict[str, Any]] = {}
        self._kinds = {(kind.group, kind.resource) for kind in BUILTIN_KINDS}

    @cached_property
    def _text(self) -> str:
        return "\n".join(path.read_text() for path in sorted(SOURCES.rglob("*.py")))

    @cached_property
    def _words(self) -> set[str]:
        """Words in the string literals of all modules."""
        return {word for literal in _LITERAL.findall(self._text) for word in _WORD.findall(literal)}

    def mentions(self, word: str) -> bool:
        """Return whether a module contains this text anywhere, also in a comment."""
        return word in self._text

    def names(self, word: str) -> bool:
        """Return whether a string in some module contains this word. A common word may be there for another reason."""
        return word in self._words

    def definition(self, name: str) -> bool:
        """Return whether the packaged schemas have a definition."""
        return name in self._known

    def kind(self, group: str, resource: str) -> bool:
        """Return whether a module adds rules for a resource to those that all kinds share."""
        return (group, resource) in self._kinds

    def field(self, definition: str, field: str) -> dict[str, Any] | None:
        """Return the packaged node of a field; None if there is none."""
        if definition not in self._known:
            return None
        if definition not in self._nodes:
            self._nodes[definition] = self._definitions.raw(definition)
        found: dict[str, Any] | None = self._nodes[definition].get("properties", {}).get(field)
        return found

    def default(self, definition: str, field: str) -> Any:
        """Return the packaged default of a field; None if there is none."""
        return (self.field(definition, field) or {}).get("default")

    def merge(self, definition: str, field: str) -> str:
        """Return how the packaged schema merges a list or map."""
        return merge_of(self.field(definition, field) or {})
