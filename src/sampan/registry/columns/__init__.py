"""Building blocks of table columns. The columns of a kind are in its module.

Source: pkg/printers/internalversion/printers.go (1.36).
"""

from sampan.registry.columns.cells import NAME, at, column

__all__ = ["DEFAULT_COLUMNS"]

DEFAULT_COLUMNS = (NAME, column("Created At", at("metadata", "creationTimestamp"), type="date"))
"""Columns of kinds that declare none (Roles, LimitRanges, CustomResourceDefinitions …)."""
