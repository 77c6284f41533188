"""`sampan test -- COMMAND`, and its subcommands."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import click

from sampan.cli.command_group import CommandGroup
from sampan.cli.test_server.run import ProgramsToRun, run_tests
from sampan.project.errors import ProjectError
from sampan.project.pyproject import find_project
from sampan.test_server.protocol import DEFAULT_LOOPS

_COMMANDS: Final = {
    "assets": "sampan.cli.test_server.assets",
    "campaign": "sampan.cli.test_server.campaign",
    "explore": "sampan.cli.test_server.explore",
    "privileges": "sampan.cli.test_server.privileges",
}
"""Module of each subcommand; its object is named `<name>_command`."""
_SUMMARIES: Final = {
    "assets": "Print a directory for KUBEBUILDER_ASSETS: kube-apiserver, etcd and kubectl.",
    "campaign": "Change the fields of an object under an operator, one after the other.",
    "explore": "Run scenarios of an operator with one fault at each moment.",
    "privileges": "Write the roles that operators need, from the tests of a project.",
}
_SEPARATOR: Final = "--"
_OWN_OPTIONS: Final = ("--loops", "--plan", "--operator", "--help", "-h")


def _project_of(args: Sequence[str]) -> Path | None:
    """Return the folder of the project if the arguments are for pytest. Raises `ClickException`."""
    if _SEPARATOR in args or (args and args[0].partition("=")[0] in _OWN_OPTIONS):
        return None
    try:
        project = find_project(Path.cwd())
    except ProjectError as error:
        raise click.ClickException(str(error)) from error
    return None if project is None else project.root


def run_pytest(root: Path, arguments: Sequence[str]) -> int:
    """Run pytest with the settings of the project, and return its exit code. Without a path it runs all tests.

    pytest takes `testpaths` only in the project's folder. A path in the arguments is relative to the current one.
    """
    command = [sys.executable, "-m", "pytest", *arguments]
    return subprocess.run(command, cwd=None if _names_path(arguments) else root, check=False).returncode


def _names_path(arguments: Sequence[str]) -> bool:
    """Return True if an argument is a file or a folder here, or a test in a file. A name after -k or -m is neither."""
    named = (text for before, text in zip(("", *arguments), arguments, strict=False) if before not in ("-k", "-m"))
    return any(Path(text.partition("::")[0]).exists() for text in named if text and not text.startswith("-"))


class TestGroup(CommandGroup):
    """Command with subcommands that also runs the program after `--`."""

    __test__ = False

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Separate the program after `--` from the options, unless the first argument is a subcommand."""
        if not (args and args[0] in self.list_commands(ctx)) and (project := _project_of(args)) is not None:
            ctx.obj = (project, tuple(args))
            self.invoke_without_command, self.no_args_is_help = True, False
            return super().parse_args(ctx, [])
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

    In a project of sampan init, sampan test runs pytest: sampan test -k boat.
    The program gets KUBECONFIG, and KUBEBUILDER_ASSETS for the servers that it starts itself. The exit code is that of
    the program. The server is in memory, listens on 127.0.0.1, and ends with the program.
    """
    if ctx.invoked_subcommand is not None:
        return None
    if ctx.obj and isinstance(ctx.obj[0], Path):
        return run_pytest(*ctx.obj)
    program: Sequence[str] = ctx.obj or ()
    if not program:
        raise click.UsageError("a program must follow: sampan test -- go test ./...")
    sys.exit(run_tests(ProgramsToRun(tuple(program), loops, plan, operator)))
