"""`sampan test explore`."""

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import click

from sampan.cli.plain_error import PlainError
from sampan.cli.progress import progress_bar
from sampan.cli.test_server.python_file import members_of
from sampan.client import ClientError
from sampan.client.objects.manifests import ManifestError
from sampan.testing.control_loops.sets import UnknownLoop
from sampan.testing.explore import Finding, ReplayError, Scenario, explore, read_replay, replay, shrink
from sampan.testing.explore.explorer import PLANS_MAX, ReferenceFailed

_WRONG: Final = (ReferenceFailed, UnknownLoop, ClientError, ManifestError)
"""Errors of a scenario itself: it fails without a fault, or its loops, CRDs or manifests are wrong."""
FILE: Final = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command("explore")
@click.argument("file", type=FILE)
@click.argument("names", nargs=-1, metavar="[SCENARIO]...")
@click.option(
    "--plans", "plans_max", type=click.IntRange(min=1), default=PLANS_MAX, show_default=True, help="Most runs."
)
@click.option("-j", "--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Number of processes.")
@click.option("--first", is_flag=True, help="Stop each scenario at its first finding.")
@click.option("--save", type=click.Path(file_okay=False, path_type=Path), help="Directory for replay files.")
@click.option("--shrink", "shrinks", is_flag=True, help="Leave out the user's changes that a finding does not need.")
@click.option(
    "--replay", "replay_file", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Run one plan."
)
def explore_command(
    file: Path,
    names: Sequence[str],
    plans_max: int,
    jobs: int,
    first: bool,
    save: Path | None,
    shrinks: bool,
    replay_file: Path | None,
) -> int:
    """Run the scenarios of a Python FILE, each time with one fault at another moment.

    The operator crashes, loses responses, restarts with an old view, misses a state, or meets another client that
    changes its objects. The exit code is 1 if a run does not end as without a fault.
    """
    # The faults make every operator log errors.
    logging.disable(logging.CRITICAL)
    scenarios = _scenarios(file)
    if replay_file is not None:
        return _replay(scenarios, file, replay_file)
    unknown = [name for name in names if name not in scenarios]
    if unknown:
        raise click.UsageError(f"{file} has no scenario {unknown[0]!r}: it has {', '.join(scenarios)}")
    failed = 0
    for name in names or scenarios:
        try:
            failed += len(_explore(scenarios[name], plans_max, jobs, first, save, shrinks=shrinks))
        except _WRONG as error:
            # The other scenarios still run.
            click.echo(f"error: {_named(name, error)}", err=True)
            failed += 1
    return 1 if failed else 0


def _named(name: str, error: Exception) -> str:
    """Return the text of an error with the name of its scenario and its notes."""
    text = "; ".join([str(error), *getattr(error, "__notes__", ())])
    return text if isinstance(error, ReferenceFailed) else f"{name}: {text}"


def _explore(
    scenario: Scenario, plans_max: int, jobs: int, first: bool, save: Path | None, *, shrinks: bool
) -> Sequence[Finding]:
    with progress_bar(scenario.name) as advance:
        report = explore(scenario, plans_max=plans_max, first_only=first, progress=advance, jobs=jobs)
    if shrinks:
        report.findings = [shrink(scenario, each) for each in report.findings]
    click.echo(str(report))
    if save is not None:
        save.mkdir(parents=True, exist_ok=True)
        for number, finding in enumerate(report.findings, 1):
            place = save / f"{scenario.name}-{number}.yaml"
            place.write_text(finding.replay)
            click.echo(f"saved {place}")
    return report.findings


def _replay(scenarios: Mapping[str, Scenario], file: Path, place: Path) -> int:
    try:
        name, plan = read_replay(place.read_text())
    except ReplayError as error:
        raise PlainError(f"error: {place}: {error}") from error
    if name not in scenarios:
        raise PlainError(f"error: {place} is for scenario {name!r}: {file} has {', '.join(scenarios)}")
    try:
        finding = replay(scenarios[name], plan)
    except LookupError as error:
        raise PlainError(f"error: {error.args[0]}") from error
    except _WRONG as error:
        raise PlainError(f"error: {_named(name, error)}") from error
    click.echo(str(finding) if finding else f"{name}: ends as without a fault, although {plan}")
    return 1 if finding else 0


def _scenarios(file: Path) -> dict[str, Scenario]:
    """Return the scenarios of a module by name. Raises `PlainError` if it has none or cannot be loaded."""
    members = members_of(file)
    found = {each.name: each for each in members.values() if isinstance(each, Scenario)}
    if not found:
        raise PlainError(
            f"error: {file} has no scenario: mark an asynchronous function of a cluster with @scenario(operator)"
        )
    return found
