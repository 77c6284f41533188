"""The engine `sqlite`: a database file in the data directory."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sampan.app.engines.engine import Engine, engine
from sampan.storage.snapshot.rows import Rows
from sampan.storage.sqlite import SQLiteStore
from sampan.storage.sqlite.dump import SQLiteRows
from sampan.storage.sqlite.restore import DATABASE, is_unfinished
from sampan.storage.store import Store

_NEVER_S: Final = 1e9


@engine
@dataclass(frozen=True, slots=True)
class SQLiteEngine(Engine):
    """Store of one server, in its data directory."""

    name = "sqlite"
    summary = "a file in --data"
    url_form = "sqlite:DIRECTORY"
    local = True

    def store(self, directory: Path, *, read_only: bool = False) -> Store:
        """Return the store, not yet open. A read-only store deletes no expired rows."""
        return SQLiteStore(directory / DATABASE, expiry_interval_s=_NEVER_S if read_only else 1.0)

    def database(self, directory: Path) -> Path:
        """Return the database file in a data directory; None if the engine has none."""
        return directory / DATABASE

    @classmethod
    def is_unfinished(cls, directory: Path) -> bool:
        """Return True if a restore or a copy ended before it had made the store in the data directory."""
        return is_unfinished(directory)

    def at(self, place: str) -> tuple[Engine, Path]:
        """Return the engine for the place in a store URL, and the data directory if the place is one."""
        return self, Path(place)

    @asynccontextmanager
    async def rows(self, directory: Path) -> AsyncIterator[Rows]:
        """Return the content of a store, which is not changed and may be in use by a server."""
        self.check_whole(directory)
        yield SQLiteRows(directory / DATABASE)
