"""`sampan test campaign`."""

import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import click

from sampan.cli.plain_error import PlainError
from sampan.cli.progress import progress_bar
from sampan.cli.test_server.python_file import members_of
from sampan.testing.campaign import BaseFailed, Campaign, CampaignReport, run_campaign
from sampan.testing.campaign.run import VALUES_MAX
from sampan.testing.generated import NotGenerated, UnknownKind

FILE: Final = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command("campaign")
@click.argument("file", type=FILE)
@click.argument("names", nargs=-1, metavar="[CAMPAIGN]...")
@click.option("--field", "fields", multiple=True, metavar="PATH", help="Change only this field, and those below it.")
@click.option(
    "--values",
    "values_max",
    type=click.IntRange(min=1),
    default=VALUES_MAX,
    show_default=True,
    help="Number of values of a field.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Another seed gives other values.")
@click.option("--first", is_flag=True, help="Stop each campaign at its first finding.")
def campaign_command(
    file: Path, names: Sequence[str], fields: Sequence[str], values_max: int, seed: int, first: bool
) -> int:
    """Run the campaigns of a Python FILE: change one field of an object after the other.

    The operator must follow each change, and the change back. The exit code is 1 if the state is not that of a new
    cluster with the changed object.
    """
    # Odd values make every operator log errors.
    logging.disable(logging.CRITICAL)
    campaigns = _campaigns(file)
    unknown = [name for name in names if name not in campaigns]
    if unknown:
        raise click.UsageError(f"{file} has no campaign {unknown[0]!r}: it has {', '.join(campaigns)}")
    found = 0
    for name in names or campaigns:
        report = _run(campaigns[name], fields, values_max=values_max, seed=seed, first=first)
        click.echo(str(report))
        found += len(report.findings)
    return 1 if found else 0


def _run(campaign: Campaign, fields: Sequence[str], *, values_max: int, seed: int, first: bool) -> CampaignReport:
    try:
        with progress_bar(campaign.name) as advance:
            return run_campaign(
                campaign, fields=fields, values_max=values_max, seed=seed, first_only=first, progress=advance
            )
    except (BaseFailed, NotGenerated, UnknownKind) as error:
        raise PlainError(f"error: {campaign.name}: {error}") from error


def _campaigns(file: Path) -> dict[str, Campaign]:
    """Return the campaigns of a module by the names of their variables. Raises `PlainError` if it has none."""
    members = members_of(file)
    found = {name: replace(each, name=name) for name, each in members.items() if isinstance(each, Campaign)}
    if not found:
        raise PlainError(f"error: {file} has no campaign: assign Campaign(operator, base) to a variable")
    return found
