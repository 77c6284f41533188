"""`SQLiteRows`: all rows of a database at one revision, also while another process serves from it.

A read transaction sees one state of the write-ahead log. Writers continue; the log is not truncated until the
transaction ends.
"""

import asyncio
import errno
import os
import sqlite3
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, closing

from sampan.storage.snapshot.format import Row
from sampan.storage.snapshot.rows import PAGE, RowSnapshot
from sampan.storage.sqlite.database import APPLICATION_ID, SCHEMA_VERSION, SNAPSHOT, open_present_reader

_ROWS = """
SELECT c.key, l.value, c.create_revision, c.revision, c.expires_at
FROM current c CROSS JOIN log l ON l.revision = c.revision ORDER BY c.key
"""
_ROWS_BY_REVISION = """
SELECT l.key, l.value, l.create_revision, l.revision, l.expires_at
FROM log l CROSS JOIN current c ON c.key = l.key AND c.revision = l.revision ORDER BY l.revision
"""


class SQLiteRows:
    """Rows of a database file. `state` raises `OSError` and `sqlite3.Error` for a file that is not a store."""

    engine = "sqlite"

    def __init__(self, path: str | os.PathLike[str], *, by_revision: bool = False) -> None:
        """`by_revision`: order rows by their last write, not by their keys."""
        self._path = os.fspath(path)
        self._rows = _ROWS_BY_REVISION if by_revision else _ROWS

    @asynccontextmanager
    async def state(self) -> AsyncIterator[RowSnapshot]:
        """Return the rows at one revision."""
        with closing(open_present(self._path)) as connection:
            connection.execute("BEGIN")
            revision = connection.execute(SNAPSHOT).fetchone()[0]
            count = connection.execute("SELECT count(*) FROM current").fetchone()[0]
            with closing(connection.execute(self._rows)) as cursor:

                async def pages() -> AsyncIterator[Sequence[Row]]:
                    while rows := cursor.fetchmany(PAGE):
                        yield [Row(*row) for row in rows]
                        await asyncio.sleep(0)  # lets the reader be cancelled

                yield RowSnapshot(revision, count, pages())


def open_present(path: str) -> sqlite3.Connection:
    """Open a connection that reads an existing store. Raises `OSError` if there is none, `sqlite3.Error`."""
    if not os.path.isfile(path):
        raise FileNotFoundError(errno.ENOENT, "the store does not exist", path)
    connection = open_present_reader(path)
    try:
        form = [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")]
    except BaseException:
        connection.close()
        raise
    if form != [APPLICATION_ID, SCHEMA_VERSION]:
        connection.close()
        raise OSError(errno.EINVAL, "not a store, or a store of another version", path)
    return connection
