"""What the shell offers where a plug-in is meant: its name, and then whatever the plug-in itself offers.

A plug-in `sampan-NAME` is asked by way of the executable `sampan_complete-NAME` on PATH, as kubectl does it: called
with the words so far, it prints what may stand in the place of the last one, and a line that begins with a colon.
Source: kubectl pkg/cmd/plugin/plugin_completion.go (1.36).
"""

import os
import shutil
import subprocess
from collections.abc import Collection
from typing import Final

import click
from click.shell_completion import CompletionItem

from sampan.cli.plugins.find import PREFIX, list_plugins

_COMPLETE: Final = "sampan_complete-"
_TIMEOUT_S: Final = 5.0


def plugin_names(begun: str, commands: Collection[str]) -> list[CompletionItem]:
    """The first words of the plug-ins on PATH that begin so; not those that are built in (`commands`)."""
    found = (each for each in list_plugins(os.environ.get("PATH", ""), commands) if not each.warnings)
    names = {each.path.name.removeprefix(PREFIX).split("-")[0].replace("_", "-"): each.path for each in found}
    return [CompletionItem(name, help=f"The plug-in {path}") for name, path in names.items() if name.startswith(begun)]


class PluginCommand(click.Command):
    """A plug-in, as far as it is completed."""

    def __init__(self, name: str) -> None:
        super().__init__(
            name,
            params=[click.Argument(["words"], nargs=-1, type=click.UNPROCESSED, shell_complete=_offered)],
            context_settings={"ignore_unknown_options": True},
            add_help_option=False,
        )

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """What the plug-in offers for a flag."""
        return _offered(ctx, self.params[0], incomplete)


def _offered(context: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    name = (context.info_name or "").replace("-", "_")
    program = shutil.which(f"{_COMPLETE}{name}")
    if program is None:
        return []
    asked = [program, *(context.params.get(parameter.name or "") or ()), begun]
    try:
        done = subprocess.run(asked, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        # Whoever presses Tab wants no error.
        return []
    lines = [line.partition("\t") for line in done.stdout.splitlines() if not line.startswith(":")]
    return [CompletionItem(value, help=said or None) for value, _, said in lines if value.startswith(begun)]
