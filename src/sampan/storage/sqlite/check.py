"""`check`: verifies the integrity of a database, also while another process serves from it."""

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import islice

from sampan.storage.encoding import decode, splice
from sampan.storage.sqlite.damage import is_damage
from sampan.storage.sqlite.database import SNAPSHOT
from sampan.storage.sqlite.dump import open_present
from sampan.storage.translation import canonical
from sampan.wire.json import UNREADABLE

PROBLEMS_MAX = 100
_PROGRESS_EVERY = 1000
"""Values for each report of the progress."""
_OBJECTS = "/registry/"
_ENCRYPTED = b"k8s:enc:"

_RULES = (
    (
        "{}: its row at revision {} is not in the history, or another key's, or a deletion",
        "SELECT c.key, c.revision FROM current c LEFT JOIN log l ON l.revision = c.revision "
        "WHERE l.key IS NOT c.key OR l.value IS NULL",
    ),
    (
        "{}: its row at revision {} has another creation or expiry in the history",
        "SELECT c.key, c.revision FROM current c JOIN log l ON l.revision = c.revision "
        "WHERE l.create_revision != c.create_revision OR l.expires_at != c.expires_at",
    ),
    (
        "{}: the newest write in the history, at revision {}, is not what is current",
        "SELECT n.key, n.revision "
        "FROM (SELECT key, max(revision) revision, value IS NULL gone FROM log GROUP BY key) n "
        "LEFT JOIN current c ON c.key = n.key WHERE (c.key IS NULL) != n.gone OR (c.key IS NOT NULL AND "
        "c.revision != n.revision)",
    ),
    (
        "{}: revision {} comes before what it is later than",
        "SELECT key, revision FROM log WHERE previous >= revision OR create_revision > revision OR revision < 1",
    ),
    (
        "the state: history is swept to {}, and forgotten only to {}",
        "SELECT swept, compacted FROM state WHERE swept > compacted",
    ),
)
"""Texts of problems, each with the query that finds them. A sound database returns no rows.

The text shows both columns.
"""


def check(
    path: str | os.PathLike[str], progress: Callable[[int, int], None] = lambda done, total: None
) -> tuple[int, int, list[str]]:
    """Return the revision, the number of keys, and the first `PROBLEMS_MAX` problems.

    `progress` receives the number of history values that have been read, and their total. A database that is too
    damaged to read has revision 0 and no keys. Raises `OSError` for a file that is not a store.
    """
    revision = keys = 0
    problems: list[str] = []
    try:
        with closing(open_present(os.fspath(path))) as connection:
            connection.execute("BEGIN")
            revision = connection.execute(SNAPSHOT).fetchone()[0]
            keys = connection.execute("SELECT count(*) FROM current").fetchone()[0]
            for problem in islice(_problems(connection, progress), PROBLEMS_MAX):
                problems.append(problem)  # noqa: PERF402 - keep what was found before an error
    except sqlite3.DatabaseError as error:
        if not is_damage(error):
            raise
        problems.append(f"the database: {error}")
    return revision, keys, problems


def _problems(connection: sqlite3.Connection, progress: Callable[[int, int], None]) -> Iterator[str]:
    for (found,) in connection.execute(f"PRAGMA integrity_check({PROBLEMS_MAX})"):
        if found != "ok":
            yield f"the database: {found}"
    for text, query in _RULES:
        for row in connection.execute(query):
            yield text.format(*row)
    total = connection.execute("SELECT count(*) FROM log l WHERE l.value IS NOT NULL").fetchone()[0]
    rows = connection.execute("SELECT l.key, l.revision, l.value FROM log l WHERE l.value IS NOT NULL")
    for number, (key, revision, value) in enumerate(rows, 1):
        if number % _PROGRESS_EVERY == 0:
            progress(number, total)
        if key.startswith(_OBJECTS) and not value.startswith(_ENCRYPTED) and not _is_object(value):
            yield f"{key}: its value at revision {revision} cannot be read"


def _is_object(value: bytes) -> bool:
    try:
        obj = decode(splice(canonical(value), 1))
    except UNREADABLE:
        return False
    return isinstance(obj, dict) and isinstance(obj.get("metadata"), dict)
