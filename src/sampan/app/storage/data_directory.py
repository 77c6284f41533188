"""Protection of a data directory that has lost its database: a server must not start an empty cluster by accident."""

from contextlib import suppress
from pathlib import Path

from sampan.app.engines import ENGINES
from sampan.app.errors import StartError
from sampan.app.settings.up import UpSettings
from sampan.server.pki.directory import write_private
from sampan.storage.sqlite.restore import DATABASE

ENGINE_FILE = "storage"
"""File with the name of the last engine in the directory. It is written once the store is open."""


def check_whole(directory: Path) -> None:
    """Raise `StartError` if the data directory has the unfinished store of any engine."""
    for engine in ENGINES.values():
        engine.check_whole(directory)


def check_database(settings: UpSettings) -> None:
    """Raise `StartError` if the directory belongs to a cluster whose database is missing or empty.

    A directory of another engine, or of a first start that failed, belongs to none.
    """
    data, database = settings.data, settings.storage.database(settings.data)
    if database is None or settings.new_cluster or not _belongs_to_cluster(data, settings.storage.name):
        return
    if (database.is_file() and database.stat().st_size == 0) or not database.exists():
        raise StartError(
            f"{database} is missing or empty, but {data} belongs to a cluster that had one: put the file back; or move "
            f"{data} away and restore a snapshot with `sampan snapshot restore FILE --data {data}`; or begin a new, "
            "empty cluster with --new-cluster"
        )


def note_engine(settings: UpSettings) -> None:
    """Record the engine for `check_database`. Errors of an unwritable directory are ignored."""
    with suppress(OSError):
        write_private(settings.data / ENGINE_FILE, f"{settings.storage.name}\n".encode())


def _belongs_to_cluster(data: Path, engine: str) -> bool:
    """Return True if a server with this engine has used the directory, also one that wrote no `ENGINE_FILE`."""
    try:
        return (data / ENGINE_FILE).read_text().strip() == engine
    except FileNotFoundError:
        return (data / "pki").is_dir() and (data / f"{DATABASE}-lock").exists()
