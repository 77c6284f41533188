"""`sampan generate`: manifests and code from types, and types from manifests."""

import sys
from collections.abc import Mapping
from pathlib import Path

import click

from sampan.generate.crds import crd_files
from sampan.generate.declared import SourceError, load
from sampan.generate.files import changed, write

_FOLDER = click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
_CHECK = click.option("--check", is_flag=True, help="Write nothing; fail when a file would change (for CI).")


@click.group("generate")
def generate_command() -> None:
    """Write manifests and code from declared types, and types from manifests."""


@generate_command.command("crds")
@_FOLDER
@click.option("--from", "modules", multiple=True, required=True, metavar="MODULE", help="Module with declared kinds.")
@_CHECK
def crds_command(folder: Path, modules: tuple[str, ...], check: bool) -> int:
    """Write a CustomResourceDefinition for each kind that MODULE declares into FOLDER.

    Modules are looked for in the present folder too.
    """
    sys.path.insert(0, "")
    try:
        files = crd_files(load(modules), folder)
    except (SourceError, TypeError) as error:
        raise click.ClickException(str(error)) from error
    return emit(files, check)


def emit(files: Mapping[Path, bytes], check: bool) -> int:
    """Write the files and say which; with `check`, say which would change. Gives the exit code."""
    if not check:
        for path in write(files):
            click.echo(f"wrote {path}")
        return 0
    stale = changed(files)
    for path in stale:
        click.echo(f"{path} is not what would be generated", err=True)
    return 1 if stale else 0
