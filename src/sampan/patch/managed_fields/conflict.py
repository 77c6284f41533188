"""Conflicts of server-side apply: fields that other managers own and that an apply would change.

Source: apimachinery pkg/util/managedfields/internal/conflict.go, apiserver's 409 (1.36).
"""

from collections.abc import Sequence

from sampan.core.errors import StatusError, apply_conflict
from sampan.core.field import quote
from sampan.patch.field_sets.fieldset import FieldSet, difference, path_text, paths
from sampan.patch.managed_fields.entries import UPDATE, Entry


class Conflicts(Exception):
    """Entries of other managers, each with those of its fields that the apply would change."""

    def __init__(self, found: Sequence[tuple[Entry, FieldSet]]) -> None:
        super().__init__()
        self.found = found

    def without(self, allowed: FieldSet) -> "Conflicts":
        """Return the conflicts that remain when the `allowed` fields may be taken over."""
        rest = [(entry, difference(fields, allowed)) for entry, fields in self.found]
        return Conflicts([(entry, fields) for entry, fields in rest if fields])

    def error(self) -> StatusError:
        """Return a 409 with one cause for each field."""
        found = sorted(self.found, key=lambda pair: _order(pair[0]))
        pairs = [(_manager_text(entry), path_text(path)) for entry, fields in found for path in paths(fields)]
        causes = [
            {"reason": "FieldManagerConflict", "message": f"conflict with {manager}", "field": path}
            for manager, path in pairs
        ]
        return apply_conflict(_message(pairs), causes)


def _order(entry: Entry) -> tuple[str, str, str, str]:
    return (entry.get("manager", ""), entry["operation"], entry["apiVersion"], entry.get("subresource", ""))


def _manager_text(entry: Entry) -> str:
    text = quote(entry.get("manager", ""))
    if entry.get("subresource"):
        text = f"{text} with subresource {quote(entry['subresource'])}"
    return f"{text} using {entry['apiVersion']}" if entry["operation"] == UPDATE else text


def _message(pairs: Sequence[tuple[str, str]]) -> str:
    if len(pairs) == 1:
        manager, path = pairs[0]
        return f"Apply failed with 1 conflict: conflict with {manager}: {path}"
    lines: list[str] = []
    last = None
    for manager, path in pairs:
        if manager != last:
            lines.append(f"conflicts with {manager}:")
            last = manager
        lines.append(f"- {path}")
    return f"Apply failed with {len(pairs)} conflicts: " + "\n".join(lines)
