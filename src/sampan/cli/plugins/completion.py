"""Shell completion of plugins: their names, flags and arguments.

As in kubectl, the executable `sampan_complete-NAME` on PATH completes for the plugin `sampan-NAME`. It gets the words
so far and prints completions of the last word, then a line that begins with a colon.

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
    """Return the first words of the plugins on PATH that begin with `begun`, without the built-in `commands`."""
    found = (each for each in list_plugins(os.environ.get("PATH", ""), commands) if not each.warnings)
    names = {each.path.name.removeprefix(PREFIX).split("-")[0].replace("_", "-"): each.path for each in found}
    return [CompletionItem(name, help=f"Plugin {path}") for name, path in names.items() if name.startswith(begun)]


class PluginCommand(click.Command):
    """Stand-in for a plugin during shell completion."""

    def __init__(self, name: str) -> None:
        super().__init__(
            name,
            params=[click.Argument(["words"], nargs=-1, type=click.UNPROCESSED, shell_complete=_offered)],
            context_settings={"ignore_unknown_options": True},
            add_help_option=False,
        )

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the plugin's completions for a flag."""
        return _offered(ctx, self.params[0], incomplete)


def _offered(context: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    name = (context.info_name or "").replace("-", "_")
    program = shutil.which(f"{_COMPLETE}{name}")
    if program is None:
        return []
    command = [program, *(context.params.get(parameter.name or "") or ()), begun]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        # The shell would show an error in the middle of the command line.
        return []
    lines = [line.partition("\t") for line in done.stdout.splitlines() if not line.startswith(":")]
    return [CompletionItem(value, help=help_text or None) for value, _, help_text in lines if value.startswith(begun)]
