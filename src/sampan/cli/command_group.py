"""`CommandGroup`: a command whose subcommands live in modules that are loaded when they are asked for."""

from collections.abc import Mapping
from difflib import get_close_matches
from importlib import import_module
from typing import Any

import click


class CommandGroup(click.Group):
    """Its `modules` name the module of each command; the module has the command as `<name>_command`.

    `summaries` are the lines of --help, so that it need not load the commands: all of them take seconds. Commands
    without one are hidden. Without any, --help loads the commands.
    """

    def __init__(
        self, *arguments: Any, modules: Mapping[str, str], summaries: Mapping[str, str] | None = None, **options: Any
    ) -> None:
        super().__init__(*arguments, **options)
        self._modules = modules
        self._summaries = summaries or {}

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands in --help."""
        if not self._summaries:
            return super().format_commands(ctx, formatter)
        with formatter.section("Commands"):
            formatter.write_dl(list(self._summaries.items()))
        return None

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, for --help."""
        return list(self._modules)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is meant. Raises `UsageError` with a suggestion for a name that is none."""
        name = args[0]
        if not ctx.resilient_parsing and not name.startswith("-") and self.get_command(ctx, name) is None:
            ctx.fail(self.unknown(ctx, name))
        return super().resolve_command(ctx, args)

    def unknown(self, ctx: click.Context, name: str) -> str:
        """Message for a command that does not exist."""
        close = get_close_matches(name, self.list_commands(ctx), 1)
        hint = f" Did you mean {ctx.command_path} {close[0]}?" if close else f" See {ctx.command_path} --help."
        return f"unknown command {name!r}.{hint}"

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of this name."""
        module = self._modules.get(cmd_name)
        if module is None:
            return None
        command: click.Command = getattr(import_module(module), f"{cmd_name.replace('-', '_')}_command")
        return command
