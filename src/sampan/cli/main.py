"""The `sampan` command."""

import gc
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from types import FrameType

import click
from click.exceptions import NoArgsIsHelpError
from click.shell_completion import CompletionItem

from sampan.app.errors import StartError
from sampan.cli.command_group import CommandGroup
from sampan.cli.mistyped import error_message
from sampan.cli.plain_error import PlainError
from sampan.cli.plugins.completion import PluginCommand, plugin_names
from sampan.cli.plugins.run import run_plugin
from sampan.core.explanations.entries import hint

_COMMANDS = {
    "api-resources": "sampan.cli.objects.api_resources",
    "apply": "sampan.cli.objects.apply",
    "completion": "sampan.cli.completion",
    "config": "sampan.cli.config",
    "controllers": "sampan.cli.processes.controllers",
    "build": "sampan.cli.project.build",
    "bundle": "sampan.cli.project.bundle",
    "ci": "sampan.cli.project.ci",
    "create": "sampan.cli.project.create",
    "csi": "sampan.cli.processes.csi",
    "dashboard": "sampan.cli.processes.dashboard",
    "delete": "sampan.cli.objects.delete",
    "deploy": "sampan.cli.project.deploy",
    "describe": "sampan.cli.objects.describe",
    "dns": "sampan.cli.processes.dns",
    "errors": "sampan.cli.errors",
    "generate": "sampan.cli.generate",
    "get": "sampan.cli.objects.get",
    "images": "sampan.cli.images",
    "init": "sampan.cli.project.init",
    "join": "sampan.cli.join",
    "leave": "sampan.cli.leave",
    "loops": "sampan.cli.processes.loops",
    "node": "sampan.cli.processes.node",
    "plugin": "sampan.cli.plugins.command",
    "proxy": "sampan.cli.processes.proxy",
    "run": "sampan.cli.project.run",
    "scheduler": "sampan.cli.processes.scheduler",
    "snapshot": "sampan.cli.stores.snapshot",
    "status": "sampan.cli.status.command",
    "storage": "sampan.cli.stores.storage",
    "test": "sampan.cli.test_server.group",
    "token": "sampan.cli.tokens.command",
    "undeploy": "sampan.cli.project.undeploy",
    "up": "sampan.cli.processes.up",
    "upgrade": "sampan.cli.project.upgrade",
    "version": "sampan.cli.version",
    "wait": "sampan.cli.objects.wait",
}
"""Module of each command; its object is named `<name>_command`."""
_SUMMARIES = {
    "up": "Run a Kubernetes API server.",
    "status": "Show what runs, where, how full it is, and what to do.",
    "dashboard": "Serve a web page for any Kubernetes of the kubeconfig.",
    "config": "Print the settings of `sampan up`.",
    "controllers": "Run control loops: Deployments get ReplicaSets, and so on.",
    "scheduler": "Run a scheduler: Pods get nodes.",
    "node": "Run nodes.",
    "join": "Make this machine a node of a cluster.",
    "leave": "Remove the node from this machine.",
    "images": "Import and list the images of a node.",
    "token": "Manage bootstrap tokens, with which machines join.",
    "proxy": "Make Services reachable on a node.",
    "dns": "Run a DNS server for the names of a cluster.",
    "csi": "Provision, attach, resize and copy the volumes of a storage driver.",
    "get": "Show objects.",
    "describe": "Show an object in detail, with its events.",
    "apply": "Create or change objects as manifests describe them.",
    "delete": "Delete objects.",
    "wait": "Wait for a condition of objects.",
    "api-resources": "List the types of resources of the server.",
    "snapshot": "Save the content of a store to a file, and restore it.",
    "storage": "Copy and check stores.",
    "test": "Run tests in any language against a new server.",
    "init": "Begin a project of an operator.",
    "create": "Add a kind, a webhook, a conversion or a controller to a project.",
    "run": "Run the operator of a project with a server in memory, and again after each change.",
    "upgrade": "Bring the files of a project to the templates of this version.",
    "build": "Build the image of a project, without a container engine.",
    "bundle": "Write the manifests of a project: CRDs, roles, Deployment, webhooks.",
    "deploy": "Run the operator of a project in a cluster.",
    "undeploy": "Remove the operator of a project from a cluster.",
    "ci": "Run all checks of a project, as its CI does.",
    "generate": "Write manifests and code from declared types, and types from CRDs.",
    "errors": "Explain an error: its cause and its cure.",
    "completion": "Print the completion script of a shell.",
    "plugin": "List plug-ins.",
    "version": "Show the version.",
}
"""Lines of --help, most used commands first. So --help need not import all commands, which takes seconds."""
_OF_KUBECTL = """
annotate attach auth autoscale certificate cluster-info cordon cp create debug diff drain edit events exec
explain expose kustomize label logs patch port-forward replace rollout run scale set taint top uncordon
"""
_OF_PLUGIN = ("diff", "history", "trace", "tree")
_OTHER_NAMES = {"run-server": "up", "serve": "up", "server": "up", "start": "up", "list": "get"}
"""Names that other programs use for commands."""


def delete_api() -> click.Command:
    """Import and return `sampan delete api`."""
    command: click.Command = import_module("sampan.cli.project.delete_api").delete_api_command
    return command


class SampanGroup(CommandGroup):
    """Commands of `sampan`; for shell completion also its plugins."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of this name. Plugins are returned only for completion; `run_plugin` runs them."""
        found = super().get_command(ctx, cmd_name)
        return PluginCommand(cmd_name) if found is None and ctx.resilient_parsing else found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the subcommand. `delete api` with options is the command on projects, as no resource has this name."""
        if args[:2] == ["delete", "api"] and all(each.startswith("-") for each in args[2:3]):
            return "delete api", delete_api(), args[2:]
        return super().resolve_command(ctx, args)

    def unknown(self, ctx: click.Context, name: str) -> str:
        """Return the message for an unknown command, which may be one of kubectl's."""
        if name in _OF_PLUGIN:
            also = f", and kubectl {name} for manifests" if name in _OF_KUBECTL.split() else ""
            return f"this is a command of the plug-in of kubectl: use kubectl sampan {name}{also}."
        if name in _OTHER_NAMES:
            return f"unknown command {name!r}. Did you mean {ctx.command_path} {_OTHER_NAMES[name]}?"
        if name in _OF_KUBECTL.split():
            return f"only kubectl has the command {name}: use kubectl {name} with the same kubeconfig."
        return super().unknown(ctx, name)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the names of commands and plugins."""
        return [*super().shell_complete(ctx, incomplete), *plugin_names(incomplete, _COMMANDS)]


def _show_version(ctx: click.Context, param: click.Parameter, desired: bool) -> None:
    if desired and not ctx.resilient_parsing:
        version = cli.get_command(ctx, "version")
        assert version is not None
        ctx.invoke(version)
        ctx.exit()


@click.group(
    cls=SampanGroup, modules=_COMMANDS, summaries=_SUMMARIES, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_show_version, help="Show the version."
)
def cli() -> None:
    """Kubernetes' declarative API in Python."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command. An error is one line on stderr; exit code 2 for a wrong command line, 1 for other errors."""
    # Objects made during imports live on. A collection there would find no garbage, but takes a tenth of the start.
    gc.disable()
    try:
        code = _run(arguments)
    finally:
        gc.enable()
    sys.exit(code)


def _run(arguments: Sequence[str] | None) -> int:
    given = sys.argv[1:] if arguments is None else arguments
    try:
        if given and given[0] not in _COMMANDS:
            run_plugin(given)
        with _orderly_end():
            result = cli.main(arguments, prog_name="sampan", standalone_mode=False)
    except PlainError as error:
        click.echo(error.message, err=True)
        if error.__cause__ is not None and sys.stderr.isatty() and (text := hint(error.__cause__)):
            click.echo(text, err=True)
        return 1
    except NoArgsIsHelpError as error:
        click.echo(error.format_message())
        return 0
    except click.ClickException as error:
        return _fail(error_message(error), error.exit_code)
    except StartError as error:
        return _fail(str(error))
    except click.Abort:
        return _fail("aborted")
    return result if isinstance(result, int) else 0


def _fail(message: str, code: int = 1) -> int:
    click.echo(f"sampan: error: {' '.join(message.split())}", err=True)
    return code


@contextmanager
def _orderly_end() -> Iterator[None]:
    """Let SIGTERM and SIGHUP interrupt the block, so that its `finally` clauses run.

    Servers replace these handlers inside the block. A signal that the parent process had ignored stays ignored: SIGHUP
    under nohup.
    """
    if threading.current_thread() is not threading.main_thread():  # handlers can only be set in the main thread
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    for number, handler in before.items():
        if handler is signal.SIG_DFL:
            signal.signal(number, _interrupt)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Interrupt the main thread as SIGINT would.

    The signal SIGINT is of no use for this: shells start background jobs with SIGINT ignored, and so do nohup and cron.
    """
    handler = signal.getsignal(signal.SIGINT)
    if callable(handler):  # that of asyncio, which cancels the main task
        handler(number, frame)
    else:
        raise KeyboardInterrupt
