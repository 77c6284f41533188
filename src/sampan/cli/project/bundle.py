"""`sampan bundle`: the manifests of a project."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import click

from sampan.cli.project.outcome import one_line
from sampan.core.numbers.counts import counted
from sampan.project.bundle.formats import FORMATS, WARNINGS
from sampan.project.bundle.objects import OperatorObjects, operator_objects
from sampan.project.bundle.settings import bundle_settings
from sampan.project.bundle.written import ALL, bundle_change
from sampan.project.errors import ProjectError
from sampan.project.pyproject import project_at
from sampan.project.writing import FileEffect, ProjectChange

_WORDS = {FileEffect.CHANGE: "update"}


@click.command("bundle")
@click.option(
    "--format", "formats", multiple=True, default=("manifests",), show_default=True,
    help=f"One of {', '.join(FORMATS)}, or {ALL}. May be repeated.",
)  # fmt: skip
@click.option("-o", "--output", type=click.Path(file_okay=False, path_type=Path), help="Folder; default: dist.")
@click.option("--image", default="", help="Image of the operator, instead of tool.sampan.image.name.")
@click.option("--namespace", default="", help="Namespace of the operator, instead of tool.sampan.bundle.namespace.")
@click.option("--check", is_flag=True, help="Write nothing; exit code 1 if a file is not as the project (for CI).")
@click.option("--diff", is_flag=True, help="Print the differences, and write nothing.")
def bundle_command(
    formats: Sequence[str], output: Path | None, image: str, namespace: str, check: bool, diff: bool
) -> int:
    """Write the manifests of the operator of this project: CRDs, roles, Deployment, webhooks.

    They are derived from the code. Run it again after a change of the code; do not edit the files.

    \b
    sampan bundle && kubectl apply -f dist/
    sampan bundle --format all -o deploy --check
    """
    with one_line():
        project = project_at(Path.cwd())
        given = {key: value for key, value in (("image", image), ("namespace", namespace)) if value}
        settings = bundle_settings(project, given)
        folder = output or project.root / "dist"
        found = operator_objects(settings)
        change = bundle_change(found, formats, folder)
        stale = _print(change, quiet=check)
        _print_warnings(found, FORMATS if ALL in formats else formats)
        if diff:
            click.echo(change.diff(), nl=False)
        if check and stale:
            raise ProjectError(f"{counted(stale, 'file')} in {folder} must change: run sampan bundle")
        if not (check or diff):
            change.apply()
    return 0


def _print_warnings(found: OperatorObjects, formats: Iterable[str]) -> None:
    for name in formats:
        for line in WARNINGS[name](found) if name in WARNINGS else ():
            click.echo(f"warning: {name}: {line}", err=True)


def _print(change: ProjectChange, *, quiet: bool) -> int:
    """Print a line for each file; with `quiet` only for those that change. Return the number of these."""
    changed = 0
    for path, outcome in change.outcomes.items():
        changed += outcome is not FileEffect.IDENTICAL
        if outcome is not FileEffect.IDENTICAL or not quiet:
            click.echo(f"{_WORDS.get(outcome, outcome):>9}  {path}")
    return changed
