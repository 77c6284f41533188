"""Output of commands that write files of a project."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from sampan.cli.plain_error import PlainError
from sampan.project.create import summary
from sampan.project.errors import ProjectError
from sampan.project.writing import ProjectChange

_OPTIONS = (
    click.option("--dry-run", is_flag=True, help="Print what would happen, and write nothing."),
    click.option("--diff", is_flag=True, help="Print the differences too, and write nothing."),
    click.option("--force", is_flag=True, help="Overwrite files that have other content."),
)


def writes(command: Callable[..., ProjectChange]) -> Callable[..., int]:
    """Decorate a function that returns a change: print a line for each file, and write them.

    Adds the options --dry-run, --diff and --force; the function gets `force`. Exit code 1 for a conflict.
    """

    @wraps(command)
    def run(*, dry_run: bool, diff: bool, force: bool, **options: Any) -> int:
        with one_line():
            return finish(command(force=force, **options), dry_run=dry_run or diff, diff=diff)

    decorated: Any = run
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated  # type: ignore[no-any-return]  # options of click are untyped


def finish(change: ProjectChange, *, dry_run: bool, diff: bool) -> int:
    """Print the change, and write it unless it is a dry run. Return the exit code."""
    for line in summary(change):
        click.echo(line)
    if diff:
        click.echo(change.diff(), nl=False)
    if not dry_run:
        change.apply()
    return 1 if change.conflicts else 0


class one_line:
    """Turn a `ProjectError` into the error of a command."""

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if not isinstance(error, ProjectError):
            return
        text = str(error)
        # A list has a line for each entry: in one line, its entries have no ends.
        raise PlainError(f"sampan: error: {text}") if "\n  " in text else click.ClickException(text) from error
