"""Durations as the values of options: `1h30m`, as Go writes them."""

import click

from sampan.core.time import NANOSECONDS_PER_SECOND, parse_duration


def seconds(ctx: click.Context, param: click.Parameter, text: str) -> float:
    """The callback of an option that is kept in seconds. Raises `click.BadParameter`."""
    try:
        return parse_duration(text) / NANOSECONDS_PER_SECOND
    except ValueError as error:
        raise click.BadParameter(str(error), ctx, param) from error


def positive_seconds(ctx: click.Context, param: click.Parameter, text: str) -> float:
    """The same for an option that may not be zero or less."""
    found = seconds(ctx, param, text)
    if found <= 0:
        raise click.BadParameter(f"{text} is not more than zero", ctx, param)
    return found
