"""The SQLite engine: one file, one writer, group commit; acknowledged means on disk."""

from sampan.storage.sqlite.store import SQLiteStore

__all__ = ["SQLiteStore"]
