"""Growth of a database on a full disk: it uses the free pages that it has, and never becomes larger.

A commit that enlarges the database is only in the write-ahead log. If the disk has no room for the checkpoint, the log
can never begin again, and then not even a delete fits. With a limited number of pages, SQLite refuses such a commit.
"""

import sqlite3
from collections.abc import Callable

_OWN_PAGES = 16
"""More than the pages of a table with one long row that do not contain the row."""
PAGES_MAX = 0xFFFFFFFE
"""No limit. Source: sqlite.org/limits.html"""


def stop_growth(connection: sqlite3.Connection) -> None:
    """Limit the database to its present size."""
    limit_growth(connection, connection.execute("PRAGMA page_count").fetchone()[0])


def limit_growth(connection: sqlite3.Connection, pages: int) -> None:
    """Limit the number of pages."""
    connection.execute(f"PRAGMA max_page_count = {pages}").fetchall()


def keep_free_pages(connection: sqlite3.Connection, pages: int, room: Callable[[int], int]) -> None:
    """Give the database at least so many free pages, which exist on the disk. Raises `sqlite3.Error`.

    `room(size)` returns how much of a size in bytes the disk has room for.
    """
    connection.execute("DROP TABLE IF EXISTS ballast")  # a killed server leaves it
    missing = pages - connection.execute("PRAGMA freelist_count").fetchone()[0]
    page_size = connection.execute("PRAGMA page_size").fetchone()[0]
    size = room((missing + _OWN_PAGES) * page_size) - _OWN_PAGES * page_size if missing > 0 else 0
    if size > 0:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("CREATE TABLE ballast (content BLOB)")
        connection.execute("INSERT INTO ballast VALUES (zeroblob(?))", (size,))
        connection.execute("COMMIT")
        connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        connection.execute("DROP TABLE ballast")
