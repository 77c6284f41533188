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
        """See `Engine`. A read-only store deletes no expired rows."""
        return SQLiteStore(directory / DATABASE, expiry_interval_s=_NEVER_S if read_only else 1.0)

    def database(self, directory: Path) -> Path:
        """See `Engine`."""
        return directory / DATABASE

    @classmethod
    def is_unfinished(cls, directory: Path) -> bool:
        """See `Engine`."""
        return is_unfinished(directory)

    def at(self, place: str) -> tuple[Engine, Path]:
        """See `Engine`."""
        return self, Path(place)

    @asynccontextmanager
    async def rows(self, directory: Path) -> AsyncIterator[Rows]:
        """See `Engine`."""
        self.check_whole(directory)
        yield SQLiteRows(directory / DATABASE)
