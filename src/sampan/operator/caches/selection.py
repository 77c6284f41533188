"""`Selection`: the objects that a cache with selectors contains. It is computed here for objects in responses."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from sampan.core.selectors import FieldSelector, Selector, parse_fields, parse_labels
from sampan.resource import meta


@dataclass(frozen=True, slots=True)
class Selection:
    """Label and field selector of a cache."""

    labels: Selector
    fields: FieldSelector

    @classmethod
    def parse(cls, label_selector: str, field_selector: str) -> "Selection | None":
        """Return the selection; None if it contains all objects. Raises `ValueError`."""
        made = cls(parse_labels(label_selector), parse_fields(field_selector))
        return None if made.labels.empty and made.fields.empty else made

    def contains(self, obj: Any) -> bool:
        """Return True if an object (typed, or a dict) is in the cache.

        A field of a selector is a path in the object, as it is for custom resources. A few built-in fields are not:
        then the object counts as outside the cache, and is read from the server.
        """
        if not self.labels.matches(meta(obj).labels):
            return False
        if self.fields.empty:
            return True
        value = obj if isinstance(obj, dict) else msgspec.to_builtins(obj)
        named = {each.field: _text(value, each.field) for each in self.fields.requirements}
        return self.fields.matches(named)


def _text(value: Any, path: str) -> str:
    for name in path.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value)
