"""Columns of all built-in kinds at a fixed time."""

from sampan.registry.catalogue import builtin_definitions
from sampan.registry.columns import DEFAULT_COLUMNS
from sampan.registry.definition import Column
from sampan.registry.kinds.builtin import BUILTIN_KINDS
from sampan.schema.builtin import Definitions

Tables = dict[tuple[str, str, str], tuple[Column, ...]]
"""Columns by group, resource and version."""


def tables_at(now: float) -> Tables:
    """Return the tables with ages until `now`, in seconds since 1970."""
    return {
        (definition.group, definition.resource, version.name): version.columns() if version.columns else DEFAULT_COLUMNS
        for definition in builtin_definitions(Definitions(), BUILTIN_KINDS, lambda: now)
        for version in definition.versions.values()
    }
