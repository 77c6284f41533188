"""Snapshots: the content of a store at one revision, in one file (docs/snapshots.md)."""

from sampan.storage.snapshot.format import Header, Row, SnapshotError, Summary
from sampan.storage.snapshot.reader import read_file, verify
from sampan.storage.snapshot.rows import Rows, StoreRows
from sampan.storage.snapshot.writer import write_snapshot

__all__ = ["Header", "Row", "Rows", "SnapshotError", "StoreRows", "Summary", "read_file", "verify", "write_snapshot"]
