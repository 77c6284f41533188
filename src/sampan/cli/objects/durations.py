"""Durations of flags, as in kubectl: `30s`, `2m`, `1h30m`, `0`."""

import click

from sampan.core.time import NANOSECONDS_PER_SECOND, parse_duration


def seconds(context: click.Context, parameter: click.Parameter, text: str) -> float:
    """Return the seconds of a flag. Raises `BadParameter`."""
    try:
        return parse_duration(text) / NANOSECONDS_PER_SECOND
    except ValueError as error:
        raise click.BadParameter(f"{error} (give a number with a unit: 30s, 2m)", context, parameter) from error
