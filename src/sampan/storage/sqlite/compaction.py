"""Compaction in small steps, each a transaction of some milliseconds, so that writers never wait long."""

import sqlite3

SWEEP_REVISIONS = 250
SWEEP_REVISIONS_FULL = 10
"""Revisions of one step on a full disk. The write-ahead log gets every changed page, so a step must fit the reserve."""
_VACUUM_PAGES = 128
_VACUUM_PAGES_FULL = 32
_FREE_MAX = 0.25


def mark(connection: sqlite3.Connection, revision: int) -> int:
    """Mark the history up to the revision as compacted. Return the revision up to which rows are deleted."""
    connection.execute("UPDATE state SET compacted = max(compacted, ?)", (revision,))
    swept: int = connection.execute("SELECT swept FROM state").fetchone()[0]
    return swept


def sweep(connection: sqlite3.Connection, after: int, until: int) -> None:
    """Delete the rows that the writes of (after, until] superseded, and the deletes among those writes."""
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(
        "DELETE FROM log WHERE revision IN (SELECT previous FROM log WHERE revision > ? AND revision <= ?)",
        (after, until),
    )
    connection.execute("DELETE FROM log WHERE revision > ? AND revision <= ? AND value IS NULL", (after, until))
    connection.execute("UPDATE state SET swept = ?", (until,))
    connection.execute("COMMIT")


def vacuum(connection: sqlite3.Connection, *, hurry: bool) -> bool:
    """Return free pages to the file system if there are many; with `hurry` (on a full disk), if there are any.

    Return False when nothing is left to do.
    """
    free = connection.execute("PRAGMA freelist_count").fetchone()[0]
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    if free <= (0 if hurry else max(pages * _FREE_MAX, _VACUUM_PAGES)):
        if hurry:
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()  # the file shrinks only at a checkpoint
        return False
    pages = _VACUUM_PAGES_FULL if hurry else _VACUUM_PAGES
    connection.execute(f"PRAGMA incremental_vacuum({pages})").fetchall()
    return True
