"""`CommandGroup`: a command whose subcommands live in modules that are imported on demand."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

from sampan.core.suggestions import closest


class CommandGroup(click.Group):
    """Command with subcommands. `modules` maps each name to the module that contains `<name>_command`.

    `summaries` are the lines of --help. With them, --help need not import the commands, which takes seconds. Commands
    without a summary are hidden. Without any summaries, --help imports the commands.
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
        """Return the names for --help."""
        return list(self._modules)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the subcommand. Raises `UsageError` with a suggestion for an unknown name."""
        name = args[0]
        if not ctx.resilient_parsing and not name.startswith("-") and self.get_command(ctx, name) is None:
            ctx.fail(self.unknown(ctx, name))
        return super().resolve_command(ctx, args)

    def unknown(self, ctx: click.Context, name: str) -> str:
        """Return the message for an unknown command."""
        close = closest(name, self.list_commands(ctx))
        hint = f" Did you mean {ctx.command_path} {close}?" if close else f" See {ctx.command_path} --help."
        return f"unknown command {name!r}.{hint}"

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return the command of this name."""
        module = self._modules.get(cmd_name)
        if module is None:
            return None
        command: click.Command = getattr(import_module(module), f"{cmd_name.replace('-', '_')}_command")
        return command
