"""Program `kubectl_complete-sampan`: completion of `kubectl sampan` for kubectl.

kubectl passes the words after `kubectl sampan`; the last one may be incomplete. The program prints the completions of
the last word, then a directive for the shell.

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
    """Print the completions of the last word."""
    *words, begun = (sys.argv[1:] if arguments is None else arguments) or [""]
    found = ShellComplete(cli, {}, "kubectl sampan", "").get_completions(list(words), begun)
    for item in found:
        if item.type == "plain":
            click.echo(f"{item.value}\t{item.help}" if item.help else item.value)
    click.echo(f":{_FILES if any(item.type in ('file', 'dir') for item in found) else _NO_FILES}")
