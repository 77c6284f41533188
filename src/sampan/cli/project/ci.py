"""`sampan ci`."""

import os
from pathlib import Path

import click

from sampan.cli.project.outcome import one_line
from sampan.project.checks import CheckResult, ProjectCheck, checks_of, chosen, run_checks
from sampan.project.pyproject import project_at


@click.command("ci")
@click.option("--only", "names", multiple=True, metavar="CHECK", help="Run this check. Can be repeated.")
@click.option("--list", "listed", is_flag=True, help="Print the checks, and run none.")
def ci_command(names: tuple[str, ...], listed: bool) -> int:
    """Run all checks of this project, as its CI does: style, types, tests, manifests and image.

    All checks run, also after a failed one. Exit code 1 if one has failed.
    """
    with one_line():
        settings = project_at(Path.cwd())
        checks = chosen(checks_of(settings), names)
        if listed:
            for check in checks:
                click.echo(f"{check.name:<10} {check}")
            return 0
        outcomes = []
        for outcome in run_checks(settings, checks, _begin):
            _end()
            outcomes.append(outcome)
    click.echo("".join(_line(outcome) for outcome in outcomes), nl=False)
    return 1 if any(outcome.code for outcome in outcomes) else 0


def _begin(check: ProjectCheck) -> None:
    click.echo(f"::group::{check.name}" if _on_github() else f"--- {check.name}: {check}")


def _end() -> None:
    if _on_github():
        click.echo("::endgroup::")


def _on_github() -> bool:
    """Return True where lines of the log are folded in groups."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


def _line(outcome: CheckResult) -> str:
    word = "failed" if outcome.code else "ok"
    hint = f"    again: {outcome.check}" if outcome.code else ""
    return f"{word:>6}  {outcome.check.name:<10} {outcome.duration_s:6.1f} s{hint}\n"
