"""`Loader`: a new database from the rows that another store had, revisions and all."""

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
    """Fills a database file that is not there yet. Until the block has ended without an error it is not to be used.

    Nothing of the rows' history is there: reads and watches of older revisions are answered with `Compacted`.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Raises `FileExistsError`."""
        self._path = os.fspath(path)
        if os.path.lexists(self._path):
            raise FileExistsError(errno.EEXIST, "there is a store already", self._path)
        self._connection: sqlite3.Connection

    def __enter__(self) -> Self:
        self._connection = open_writer(self._path, 0)
        # Durable at the end, as a whole: a file that is half loaded is of no use.
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
        """Take rows. Raises `ValueError` when two share a revision, `sqlite3.Error`."""
        connection = self._connection
        connection.execute("BEGIN IMMEDIATE")
        try:
            connection.executemany(
                _INSERT, [(row.mod_revision, row.key, row.create_revision, row.expires_at, row.value) for row in rows]
            )
        except sqlite3.IntegrityError as error:
            connection.execute("ROLLBACK")
            raise ValueError("two rows have one revision: this engine cannot keep them") from error
        connection.execute("COMMIT")

    def finish(self, revision: int) -> None:
        """Say at which revision the store is; all before it is history that is forgotten."""
        newest = self._connection.execute("SELECT coalesce(max(revision), 0) FROM log").fetchone()[0]
        if newest > revision:
            raise ValueError(f"a row is at revision {newest}, beyond the store's {revision}")
        self._connection.execute("UPDATE state SET compacted = ?, swept = ?", (revision, revision))
