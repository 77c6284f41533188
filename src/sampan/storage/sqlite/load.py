"""`Loader`: creates a database from the rows of another store, including their revisions."""

import errno
import os
import sqlite3
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from sampan.storage.snapshot.format import Row
from sampan.storage.sqlite.database import open_writer

_INSERT = "INSERT INTO log VALUES (?, ?, ?, 0, ?, ?)"


class Loader:
    """Fills a new database file. The file is not usable unless the block ends without an error.

    The history of the rows is not copied: reads and watches of older revisions raise `Compacted`.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Raise `FileExistsError` if the file exists."""
        self._path = os.fspath(path)
        if os.path.lexists(self._path):
            raise FileExistsError(errno.EEXIST, "the store exists already", self._path)
        self._connection: sqlite3.Connection

    def __enter__(self) -> Self:
        self._connection = open_writer(self._path, 0)
        # Sync once at the end: a partly loaded file has no use.
        self._connection.execute("PRAGMA synchronous = OFF")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is None:
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        self._connection.close()
        if kind is None:
            with open(self._path, "rb") as file:
                os.fsync(file.fileno())

    def add(self, rows: Sequence[Row]) -> None:
        """Insert rows. Raises `ValueError` if two have the same revision, `sqlite3.Error`."""
        connection = self._connection
        connection.execute("BEGIN IMMEDIATE")
        try:
            connection.executemany(
                _INSERT, [(row.mod_revision, row.key, row.create_revision, row.expires_at, row.value) for row in rows]
            )
        except sqlite3.IntegrityError as error:
            connection.execute("ROLLBACK")
            raise ValueError("two rows have the same revision, which this engine cannot store") from error
        connection.execute("COMMIT")

    def finish(self, revision: int) -> None:
        """Set the revision of the store; all history before it counts as compacted."""
        newest = self._connection.execute("SELECT coalesce(max(revision), 0) FROM log").fetchone()[0]
        if newest > revision:
            raise ValueError(f"a row has revision {newest}, which is after the store's revision {revision}")
        self._connection.execute("UPDATE state SET compacted = ?, swept = ?", (revision, revision))
