"""`sampan test privileges`."""

import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import click

from sampan.cli.plain_error import PlainError
from sampan.cli.project.outcome import one_line
from sampan.project.bundle.declared import differences
from sampan.project.pyproject import Settings, find_project
from sampan.testing.rights.privileges import Privileges
from sampan.testing.rights.record import recorded_rights
from sampan.testing.rights.role_files import RoleFileError, documents_of, drift, read_roles, text_of

_STDERR: Final = 2
"""Number of the file of errors: standard output has only roles and differences."""


@click.command("privileges", context_settings={"ignore_unknown_options": True})
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[PYTEST ARGUMENT]...")
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="File of the roles; without it, print them."
)
@click.option("--check", is_flag=True, help="Change no file: the exit code is 1 if the file has other rights.")
@click.option("--prove", is_flag=True, help="Run the tests again, with operators that have only these rights.")
@click.option(
    "--declared", is_flag=True,
    help="Compare with the rights that the code of this project declares: exit code 1 if the tests need others.",
)  # fmt: skip
@click.option("--name", default="", help="Name of the roles.  [default: that of the operator in the tests]")
@click.option(
    "--namespace",
    "namespaces",
    multiple=True,
    help="Namespace of the operator: rights that it used only there go into a Role. May be repeated.",
)
def privileges_command(
    arguments: Sequence[str],
    output: Path | None,
    check: bool,
    prove: bool,
    declared: bool,
    name: str,
    namespaces: Sequence[str],
) -> None:
    """Run the tests of a project with pytest, and write the roles that its operators need.

    The roles have the rights that the operators used in any of the tests. They also have those that a longer run
    needs, such as the renewal of a lease. The differences to the file are printed.

    Run some tests: sampan test privileges -o role.yaml tests/test_boats.py -k storm
    """
    if check and output is None:
        raise click.UsageError("--check needs a file: -o role.yaml")
    project = find_project(Path.cwd()) if declared else None
    if declared and project is None:
        raise click.UsageError("--declared needs a project: begin one with sampan init NAME")
    used = _used(arguments)
    roles = documents_of(used, name, tuple(namespaces))
    if project is not None:
        _compare(project, used)
    if prove:
        _prove(arguments, roles)
    if output is None and project is not None:
        return
    if output is None:
        click.echo(text_of(roles), nl=False)
        return
    before = _read(output) if output.exists() else []
    differences = drift(before, roles)
    for line in differences:
        click.echo(line)
    if not differences:
        click.echo(f"{output} has exactly the rights that the tests need")
        return
    if check:
        click.echo(f"{output} has other rights than the tests need: run sampan test privileges -o {output}", err=True)
        sys.exit(1)
    output.write_text(text_of(roles))
    click.echo(f"wrote {output}")


def _compare(project: Settings, used: Mapping[str, Privileges]) -> None:
    """Print the differences between declared and used rights, and end with code 1 if there are any."""
    with one_line():
        found = differences(project, used.values())
    for line in found:
        click.echo(line)
    if found:
        click.echo("declare the rights with + by Builder.writes, and remove those with -, or test them", err=True)
        sys.exit(1)
    click.echo("the code declares exactly the rights that the tests need")


def _used(arguments: Sequence[str]) -> Mapping[str, Privileges]:
    """Run the tests and return the rights that each operator used. Raises `PlainError` if they fail."""
    with tempfile.TemporaryDirectory(prefix="sampan-rights-") as directory:
        _pytest("the tests", f"--operator-rights={directory}", *arguments)
        found = recorded_rights(Path(directory))
    if not found:
        raise PlainError("error: no test ran an operator: start it with cluster.run(...)")
    return found


def _prove(arguments: Sequence[str], roles: Sequence[Mapping[str, Any]]) -> None:
    with tempfile.TemporaryDirectory(prefix="sampan-rights-") as directory:
        file = Path(directory, "roles.yaml")
        file.write_text(text_of(roles))
        _pytest("with only these rights, the tests", f"--operator-roles={file}", *arguments)


def _pytest(title: str, *arguments: str) -> None:
    # The working directory is importable, as with the command pytest in most projects.
    command = [sys.executable, "-m", "pytest", "-q", *arguments]
    code = subprocess.run(command, stdout=_STDERR, check=False).returncode
    if code:
        raise PlainError(f"error: {title} failed (exit code {code} of pytest): see above")


def _read(file: Path) -> list[dict[str, Any]]:
    try:
        return read_roles(file)
    except (RoleFileError, OSError) as error:
        raise PlainError(f"error: {error}") from error
