"""`sampan test -- COMMAND`, and its subcommands."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import click

from sampan.cli.command_group import CommandGroup
from sampan.cli.test_server.run import Run, run_tests
from sampan.test_server.protocol import DEFAULT_LOOPS

_COMMANDS: Final = {
    "assets": "sampan.cli.test_server.assets",
    "campaign": "sampan.cli.test_server.campaign",
    "explore": "sampan.cli.test_server.explore",
}
"""Module of each subcommand; its object is named `<name>_command`."""
_SUMMARIES: Final = {
    "assets": "Print a directory for KUBEBUILDER_ASSETS: kube-apiserver, etcd and kubectl.",
    "campaign": "Change the fields of an object under an operator, one after the other.",
    "explore": "Run scenarios of an operator with one fault at each moment.",
}
_SEPARATOR: Final = "--"


class TestGroup(CommandGroup):
    """Command with subcommands that also runs the program after `--`."""

    __test__ = False

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Separate the program after `--` from the options, unless the first argument is a subcommand."""
        if (args and args[0] in self.list_commands(ctx)) or _SEPARATOR not in args:
            return super().parse_args(ctx, args)
        at = args.index(_SEPARATOR)
        ctx.obj = tuple(args[at + 1 :])
        self.invoke_without_command, self.no_args_is_help = True, False
        return super().parse_args(ctx, args[:at])

    def unknown(self, ctx: click.Context, name: str) -> str:
        """Return the message for an unknown subcommand. It explains how to run a program of that name."""
        return f"{super().unknown(ctx, name)} To run a program: sampan test -- {name} ..."


@click.group("test", cls=TestGroup, modules=_COMMANDS, summaries=_SUMMARIES)
@click.option(
    "--loops",
    default=DEFAULT_LOOPS,
    show_default=True,
    metavar="NAMES",
    envvar="SAMPAN_TEST_LOOPS",
    help="Control loops with commas between them: none, all, chain (Deployments to Pods), or controllers.",
)
@click.option(
    "--plan",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="YAML file with faults: error responses, latency, lost responses, crashes.",
)
@click.option(
    "--operator",
    metavar="COMMAND",
    help="Operator to run next to the program, and again after a crash of the plan. It ends with the program.",
)
@click.pass_context
def test_command(ctx: click.Context, loops: str, plan: Path | None, operator: str | None) -> Any:
    """Run a program against a new server: sampan test -- go test ./...

    The program gets KUBECONFIG, and KUBEBUILDER_ASSETS for the servers that it starts itself. The exit code is that of
    the program. The server is in memory, listens on 127.0.0.1, and ends with the program.
    """
    if ctx.invoked_subcommand is not None:
        return None
    program: Sequence[str] = ctx.obj or ()
    if not program:
        raise click.UsageError("a program must follow: sampan test -- go test ./...")
    sys.exit(run_tests(Run(tuple(program), loops, plan, operator)))
