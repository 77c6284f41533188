"""`sampan upgrade`."""

from pathlib import Path

import click

from sampan.cli.project.outcome import one_line
from sampan.project.pyproject import project_at
from sampan.project.upgrade.clean import unclean
from sampan.project.upgrade.plan import Upgrade, plan_upgrade
from sampan.project.writing import FileEffect

_DIRTY = 2


@click.command("upgrade")
@click.option("--check", is_flag=True, help="Write nothing; exit code 1 if there is an upgrade (for CI).")
@click.option("--diff", is_flag=True, help="Print the differences, and write nothing.")
@click.option("--dry-run", is_flag=True, help="Print what would happen, and write nothing.")
@click.option("--restore", "restored", multiple=True, metavar="FILE", help="Bring a deleted file back.")
@click.option("--force", is_flag=True, help="Upgrade although files are not committed.")
def upgrade_command(check: bool, diff: bool, dry_run: bool, restored: tuple[str, ...], force: bool) -> int:
    """Bring the files of this project to the templates of the installed version.

    Your changes stay: both are merged with what the earlier version wrote, without the network. Conflicts become
    markers in the file, and the exit code is 1. It is 2 if files are not committed.
    """
    with one_line():
        root = project_at(Path.cwd()).root
        if not (check or diff or dry_run or force) and (reason := unclean(root)):
            click.echo(f"sampan: error: {reason}", err=True)
            return _DIRTY
        upgrade = plan_upgrade(root, restored)
        _print(upgrade, diff=diff)
        if check:
            return 1 if upgrade.pending else 0
        if not (diff or dry_run):
            upgrade.change.apply()
    return 1 if upgrade.conflicts else 0


def _print(upgrade: Upgrade, *, diff: bool) -> None:
    for path, outcome in upgrade.change.outcomes.items():
        if outcome is not FileEffect.IDENTICAL:
            click.echo(f"{'conflict' if path in upgrade.conflicts else outcome:>9}  {path}")
    for note in upgrade.notes:
        click.echo(f"     note  {note}")
    if not upgrade.pending and not upgrade.change.texts:
        click.echo("the project has the files of this version")
    if diff:
        click.echo(upgrade.change.diff(), nl=False)
