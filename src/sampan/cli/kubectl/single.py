"""Argument of commands about one object: `TYPE/NAME` or `TYPE NAME`."""

from collections.abc import Sequence

from sampan.cli.objects.targets import ObjectTarget, TargetError, targets_of
from sampan.client import Client


async def single_target(client: Client, arguments: Sequence[str]) -> ObjectTarget:
    """Return the target with its one name. Raises `TargetError`, or `NoMatch` for an unknown type."""
    if not arguments:
        raise TargetError("missing object: give TYPE/NAME")
    targets = await targets_of(client, arguments)
    if len(targets) != 1 or len(targets[0].names) != 1:
        raise TargetError(f"expected exactly one object as TYPE/NAME, got {' '.join(arguments)!r}")
    return targets[0]
