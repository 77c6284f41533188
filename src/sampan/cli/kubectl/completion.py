"""The program `kubectl_complete-sampan`: what kubectl asks when somebody presses Tab after `kubectl sampan`.

It is called with the words after `kubectl sampan`, the last one as far as it has been typed, and prints what may stand
there, then a number that says what the shell is to do besides.
Source: kubectl pkg/cmd/plugin/plugin_completion.go (1.36), spf13/cobra's directives.
"""

import sys
from collections.abc import Sequence
from typing import Final

import click
from click.shell_completion import ShellComplete

from sampan.cli.kubectl.main import cli

_FILES: Final = 0
_NO_FILES: Final = 4


def main(arguments: Sequence[str] | None = None) -> None:
    """Print what may stand in the place of the last word."""
    *words, begun = (sys.argv[1:] if arguments is None else arguments) or [""]
    found = ShellComplete(cli, {}, "kubectl sampan", "").get_completions(list(words), begun)
    for item in found:
        if item.type == "plain":
            click.echo(f"{item.value}\t{item.help}" if item.help else item.value)
    click.echo(f":{_FILES if any(item.type in ('file', 'dir') for item in found) else _NO_FILES}")
