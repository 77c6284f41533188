"""`sampan storage`: copies and checks of stores."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import click

from sampan.app.engines import URL_FORMS, Engine
from sampan.app.storage.copy import CopyOptions, copy_storage
from sampan.app.storage.store_location import StoreLocation
from sampan.cli.progress import progress_bar
from sampan.cli.stores.engine_options import MADE_BY, engine_options, store_at, store_errors
from sampan.core.numbers.counts import counted
from sampan.storage.sqlite.check import check
from sampan.storage.sqlite.restore import DATABASE


@click.group("storage")
def storage_command() -> None:
    """Copy and check stores."""


@storage_command.command("copy")
@click.option("--from", "source", metavar="STORE", required=True, help=f"{URL_FORMS}.")
@click.option("--to", "target", metavar="STORE", required=True, help=f"Empty store: {URL_FORMS}.")
@engine_options
@click.option(
    "--clear-partial",
    is_flag=True,
    help="First remove the keys that an interrupted copy has left in the target's etcd, and no others.",
)
def copy_command(source: str, target: str, *, engines: Mapping[str, Engine], clear_partial: bool) -> None:
    """Copy all objects of one revision from one store to another.

    The source is not changed. Stop its servers first: later writes are not copied. In a SQLite target, objects keep
    their resourceVersions; etcd assigns new ones. The copy is read again and compared. Until
    then no server starts on the target. Repeat an interrupted copy from the start, for etcd with --clear-partial.
    """
    whence, whither = store_at(source, engines), store_at(target, engines)
    with store_errors(target), progress_bar(*_steps(whence, whither)) as progress, _left_overs() as begun:
        options = CopyOptions(MADE_BY, source, clear_partial, begun)
        keys = asyncio.run(copy_storage(whence, whither, options, progress))
    click.echo(f"copied {counted(keys, 'key')} from {source} to {target}, and found them there")
    if not whither.engine.local:
        click.echo(f"{whither.engine.name} assigned new resourceVersions: clients must list again")


def _steps(source: StoreLocation, target: StoreLocation) -> tuple[str, ...]:
    """Return the titles of the steps of a copy, as `copy_storage` takes them."""
    to_directory = ("reading", "verifying", "writing", "comparing")
    if target.engine.local:
        return to_directory
    return ("copying", "comparing") if source.engine.local else (*to_directory, "copying", "comparing")


@contextmanager
def _left_overs() -> Iterator[Callable[[], None]]:
    """Print the next steps if the block fails after it has called the yielded function, that is, during the copy."""
    seen: list[bool] = []
    try:
        yield lambda: seen.append(True)
    except BaseException:
        if seen:
            click.echo(
                "The copy was interrupted: the target contains a part of it, and no server starts on it. To remove "
                "that part and start over, run the same command with --clear-partial.",
                err=True,
            )
        raise


@storage_command.command("check")
@click.argument("directory", type=click.Path(file_okay=False, path_type=Path))
def check_command(directory: Path) -> int:
    """Check the store in the data DIRECTORY. Its server may be running.

    The check covers the database, that every value is readable, and that current values are the newest of the history.
    """
    with store_errors(directory), progress_bar("checking") as progress:
        revision, keys, problems = check(directory / DATABASE, progress)
    for problem in problems:
        click.echo(problem)
    found = counted(len(problems), "problem") if problems else "all is well"
    click.echo(f"{counted(keys, 'key')} at revision {revision}: {found}")
    if problems:
        click.echo(
            f"To recover: stop the server, move {directory} away, and restore the latest snapshot with `sampan "
            f"snapshot restore FILE --data {directory}`."
        )
    return 1 if problems else 0
