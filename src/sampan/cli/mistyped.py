"""Messages for mistyped options: the message of click, with the option that the user probably meant."""

from collections.abc import Mapping
from typing import Final

import click
from click.exceptions import NoSuchOption

from sampan.core.suggestions import closest

OTHER_NAMES: Final[Mapping[str, str]] = {
    "--address": "--bind",
    "--data-dir": "--data",
    "--host": "--bind",
    "--listen": "--bind",
    "--listen-address": "--bind",
    "--verbose": "--log-level",
}
"""Names that other programs use for options. They are suggested only if the command has the option."""


def error_message(error: click.ClickException) -> str:
    """Return the message of an error; for an unknown option with one suggestion."""
    if not isinstance(error, NoSuchOption) or error.ctx is None:
        return error.format_message()
    options = [name for each in error.ctx.command.get_params(error.ctx) for name in _names(each)]
    found = suggested_option(error.option_name, options)
    hint = f"Did you mean {found}?" if found else f"See {error.ctx.command_path} --help."
    return f"no such option {error.option_name}. {hint}"


def suggested_option(word: str, options: list[str]) -> str | None:
    """Return the option that is most similar to the word, or the one that has this name in other programs."""
    others = {name: option for name, option in OTHER_NAMES.items() if option in options and name not in options}
    found = closest(word, [*options, *others])
    return others.get(found, found) if found else None


def _names(parameter: click.Parameter) -> list[str]:
    if not isinstance(parameter, click.Option) or parameter.hidden:
        return []
    return [name for name in (*parameter.opts, *parameter.secondary_opts) if name.startswith("--")]
