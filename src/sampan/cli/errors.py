"""`sampan errors`: the cause and the cure of an error."""

import click

from sampan.core.explanations.entries import Explanation, explanations, explanations_of, short
from sampan.core.suggestions import did_you_mean


@click.command("errors")
@click.argument("name", required=False, metavar="[NAME]")
def errors_command(name: str | None) -> None:
    """Explain an error.

    NAME is the reason in a response of the server, such as Conflict, or an exception of the toolkit, such as
    NotSettled. Without NAME, all names are listed.
    """
    if name is None:
        click.echo("\n".join(explanations()))
        return
    found = explanations_of(name)
    if not found:
        known = [short(each) for each in explanations()]
        raise click.UsageError(f"unknown error {name}{did_you_mean(name, known)}; sampan errors lists all")
    click.echo("\n\n".join(_text(each) for each in found))


def _text(entry: Explanation) -> str:
    return f"{entry.name}\n\nCause: {entry.cause}\nCure:  {entry.cure}"
