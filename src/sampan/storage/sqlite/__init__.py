"""The SQLite engine: one file, one writer, group commit. An acknowledged write is on disk."""

from sampan.storage.sqlite.store import SQLiteStore

__all__ = ["SQLiteStore"]
