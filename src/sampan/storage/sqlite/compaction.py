"""Compaction in small steps, each a transaction of some milliseconds, so that writers never wait long."""

import sqlite3

from sampan.storage.sqlite.growth import stop_growth

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


def vacuum(connection: sqlite3.Connection, *, pages_left_full: int | None = None) -> bool:
    """Return free pages to the file system if there are many; on a full disk, all but `pages_left_full`.

    Return False when nothing is left to do.
    """
    hurry = pages_left_full is not None
    free: int = connection.execute("PRAGMA freelist_count").fetchone()[0]
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    if free <= (max(pages * _FREE_MAX, _VACUUM_PAGES) if pages_left_full is None else pages_left_full):
        if hurry:
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()  # the file shrinks only at a checkpoint
            stop_growth(connection)
        return False
    step = _VACUUM_PAGES_FULL if hurry else _VACUUM_PAGES
    # A script, because the pragma returns a row without columns for each page, and `execute` stops at the first one.
    connection.executescript(f"PRAGMA incremental_vacuum({step});")
    left: int = connection.execute("PRAGMA freelist_count").fetchone()[0]
    return left < free
