"""`sampan snapshot`: save a store to a file and restore it."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from sampan.app.engines import URL_FORMS, Engine, SQLiteEngine
from sampan.app.storage.lock import locked_directory
from sampan.app.storage.store_location import StoreLocation
from sampan.cli.progress import Advance, progress_bar
from sampan.cli.stores.engine_options import MADE_BY, engine_options, store_at, store_errors
from sampan.core.numbers.counts import counted
from sampan.storage.snapshot import Summary, verify, write_snapshot
from sampan.storage.sqlite.restore import BUMP_REVISION, check_empty, credentials, restore

_DIRECTORY = click.Path(file_okay=False, path_type=Path)


class _SnapshotFile(click.Path):
    """Type of snapshot files. Refuses `-`: the file is read twice, and renamed when it is complete."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "-":
            self.fail("a snapshot is a file, not the standard input or output (./- is one of that name)", param, ctx)
        return super().convert(value, param, ctx)


_FILE = _SnapshotFile(dir_okay=False, path_type=Path)


@click.group("snapshot")
def snapshot_command() -> None:
    """Save a store to a file and restore it."""


@snapshot_command.command("save")
@click.argument("file", type=_FILE)
@click.option("--data", type=_DIRECTORY, help="Data directory of the server, which may be running.")
@click.option("--from", "source", metavar="STORE", help=f"Any store: {URL_FORMS}.")
@engine_options
@click.option("--force", is_flag=True, help="Replace an existing file.")
@click.option("--with-credentials", is_flag=True, help="Also save certificates, keys and admin.token of the directory.")
def save_command(
    file: Path,
    data: Path | None,
    source: str | None,
    *,
    engines: Mapping[str, Engine],
    force: bool,
    with_credentials: bool,
) -> None:
    """Write all objects of one revision to FILE."""
    store = _source(data, source, engines)
    if with_credentials:
        click.echo(
            f"Warning: {file} will contain the keys of this server: any reader of the file can become its admin",
            err=True,
        )
    with store_errors(file), progress_bar("saving") as progress:
        files = credentials(store.directory) if with_credentials else {}
        summary = asyncio.run(_save(store, file, files, force=force, progress=progress))
    click.echo(f"saved {counted(summary.totals.keys, 'key')} at revision {summary.header.revision} to {file}")


def _source(data: Path | None, source: str | None, engines: Mapping[str, Engine]) -> StoreLocation:
    if source is not None and data is None:
        return store_at(source, engines)
    if data is not None and source is None:
        return StoreLocation(SQLiteEngine(), data)
    raise click.UsageError("give either --data or --from")


async def _save(
    store: StoreLocation, file: Path, files: Mapping[str, bytes], *, force: bool, progress: Advance
) -> Summary:
    async with store.rows() as rows:
        return await write_snapshot(rows, file, made_by=MADE_BY, files=files, force=force, progress=progress)


@snapshot_command.command("restore")
@click.argument("file", type=_FILE)
@click.option("--data", type=_DIRECTORY, required=True, help="Data directory to create; it must be empty or missing.")
@click.option(
    "--bump-revision",
    type=click.IntRange(0, BUMP_REVISION * 1000),
    default=BUMP_REVISION,
    show_default=True,
    help="Increase of the store's revision. It must exceed the number of writes since the snapshot, or clients take "
    "new objects for old ones.",
)
def restore_command(file: Path, data: Path, *, bump_revision: int) -> None:
    """Create a data directory from FILE after checking its checksum.

    Watches of older revisions get 410, so that clients list again.
    """
    summary = _verified(file)
    with store_errors(data), progress_bar("restoring") as progress:
        check_empty(data)
        with locked_directory(data):
            check_empty(data)
            revision = restore(file, summary, data, bump_revision=bump_revision, progress=progress)
    click.echo(f"restored {counted(summary.totals.keys, 'key')} to {data}; its revision is {revision}")


@snapshot_command.command("status")
@click.argument("file", type=_FILE)
def status_command(file: Path) -> None:
    """Print a summary of FILE after checking its checksum."""
    summary = _verified(file)
    header, totals = summary.header, summary.totals
    for name, value in (
        ("revision", header.revision),
        ("keys", totals.keys),
        ("bytes of values", totals.value_bytes),
        ("credentials", counted(totals.files, "file") if totals.files else "none"),
        ("size", summary.size_bytes),
        ("sha256", summary.sha256),
        ("engine", header.engine),
        ("made at", header.made_at),
        ("made by", header.made_by),
    ):
        click.echo(f"{name + ':':17}{value}")


def _verified(file: Path) -> Summary:
    with store_errors(file), progress_bar("verifying") as progress:
        return verify(file, progress)
