"""`kubectl sampan diff`: two revisions of objects as a unified diff of their YAML."""

import sys
from collections.abc import Callable
from difflib import unified_diff
from functools import wraps
from typing import Any, ClassVar

import click

from sampan.cli.kubectl.revisions import state_at, version_of
from sampan.cli.kubectl.single import single_target
from sampan.cli.objects.completion import complete_type
from sampan.cli.objects.output import without_managed_fields
from sampan.cli.objects.session import on_server
from sampan.cli.objects.targets import TargetError, display_name
from sampan.cli.plain_error import PlainError
from sampan.client import Client, Expired
from sampan.core.operating_system.terminal import uses_colours
from sampan.resource import Object
from sampan.wire import yaml

_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


class DiffFailed(PlainError):
    """Error with an exit code other than 1, which means that there are differences."""

    exit_code: ClassVar[int] = 2


def _failing(command: Callable[..., int]) -> Callable[..., int]:
    @wraps(command)
    def callback(**options: Any) -> int:
        try:
            return command(**options)
        except PlainError as error:
            raise DiffFailed(error.message) from error

    return callback


@click.command("diff")
@click.argument("revisions", nargs=-1, metavar="TYPE/NAME@REV [TYPE/NAME@REV]", shell_complete=complete_type)
@click.option("--show-managed-fields", is_flag=True, help="Compare metadata.managedFields too.")
@_failing
@on_server
async def diff_command(client: Client, *, revisions: tuple[str, ...], show_managed_fields: bool) -> int:
    """Show the differences between two revisions of an object, or between a revision and the current state.

    REV is a resourceVersion from `kubectl sampan history`, or that of any other write. Without @REV, TYPE/NAME is the
    current state. Exit code 0: no differences, 1: differences, 2: an error.

    \b
    kubectl sampan diff deployment/web@1234
    kubectl sampan diff deployment/web@1234 deployment/web@1250
    kubectl sampan diff deployment web@1234 web@1250
    """
    revisions = _joined(revisions)
    if not 1 <= len(revisions) <= 2:
        raise TargetError("expected one or two revisions: TYPE/NAME@REV [TYPE/NAME@REV]")
    first = revisions[0]
    second = revisions[1] if len(revisions) == 2 else first.partition("@")[0]
    if first == second:
        raise TargetError(f"{first!r} has no revision: use TYPE/NAME@REV")
    sides = [await _side(client, each, show_managed_fields) for each in (first, second)]
    (old_name, old), (new_name, new) = sides
    colours = uses_colours(sys.stdout)
    different = False
    for line in unified_diff(old, new, old_name, new_name, lineterm=""):
        different = True
        click.echo(click.style(line, fg=_COLOURS.get(line[:1])) if colours else line)
    return int(different)


def _joined(revisions: tuple[str, ...]) -> tuple[str, ...]:
    """Join TYPE NAME@REV into TYPE/NAME@REV."""
    kind, *names = revisions or ("",)
    return tuple(f"{kind}/{name}" for name in names) if names and not {"/", "@"} & set(kind) else revisions


async def _side(client: Client, text: str, show_managed_fields: bool) -> tuple[str, list[str]]:
    """Return the name and the YAML lines of one side of the diff."""
    target_text, at, revision = text.partition("@")
    target = await single_target(client, [target_text])
    name = target.names[0]
    if at and not (revision.isdecimal() and int(revision)):
        raise TargetError(f"{text!r}: a revision must be a number above 0")
    shown = display_name(target.info, name)
    try:
        obj = await state_at(client, target, revision) if at else await target.client(client).get(name)
    except Expired:
        raise TargetError(f"the server no longer has revision {revision}; history shows the others") from None
    if obj is None:
        raise TargetError(f"{shown} did not exist at revision {revision}")
    return f"{shown}@{version_of(obj)}", _lines(obj if show_managed_fields else without_managed_fields(obj))


def _lines(obj: Object) -> list[str]:
    return yaml.encode(obj).decode().splitlines()
