"""Compaction in small steps, each a transaction of some milliseconds, so that writers never wait long."""

import sqlite3

SWEEP_REVISIONS = 250
_VACUUM_PAGES = 128
_FREE_MAX = 0.25


def mark(connection: sqlite3.Connection, revision: int) -> int:
    """Forget history up to the revision; gives how far it is swept already."""
    connection.execute("UPDATE state SET compacted = max(compacted, ?)", (revision,))
    swept: int = connection.execute("SELECT swept FROM state").fetchone()[0]
    return swept


def sweep(connection: sqlite3.Connection, after: int, until: int) -> None:
    """Take out what the writes of (after, until] superseded, and those that are deletes themselves."""
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(
        "DELETE FROM log WHERE revision IN (SELECT previous FROM log WHERE revision > ? AND revision <= ?)",
        (after, until),
    )
    connection.execute("DELETE FROM log WHERE revision > ? AND revision <= ? AND value IS NULL", (after, until))
    connection.execute("UPDATE state SET swept = ?", (until,))
    connection.execute("COMMIT")


def vacuum(connection: sqlite3.Connection) -> bool:
    """Give some free pages back to the file system when many are free; False when there is no more to do."""
    free = connection.execute("PRAGMA freelist_count").fetchone()[0]
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    if free <= max(pages * _FREE_MAX, _VACUUM_PAGES):
        return False
    connection.execute(f"PRAGMA incremental_vacuum({_VACUUM_PAGES})").fetchall()
    return True
