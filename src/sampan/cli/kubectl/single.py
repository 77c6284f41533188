"""The one object that a command is about: `TYPE/NAME` or `TYPE NAME`."""

from collections.abc import Sequence

from sampan.cli.objects.targets import Target, TargetError, targets_of
from sampan.client import Client


async def single_target(client: Client, arguments: Sequence[str]) -> Target:
    """The target, with its one name. Raises `TargetError`; `NoMatch` for a type that the server does not have."""
    if not arguments:
        raise TargetError("you must name an object: TYPE/NAME")
    targets = await targets_of(client, arguments)
    if len(targets) != 1 or len(targets[0].names) != 1:
        raise TargetError(f"exactly one object must be named, as TYPE/NAME, not {' '.join(arguments)!r}")
    return targets[0]
