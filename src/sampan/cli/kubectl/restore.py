"""`kubectl sampan restore`: create a deleted object again, or roll an object back to a revision."""

import sys
from difflib import unified_diff
from typing import Final

import click

from sampan.cli.kubectl.field_changes import ABSENT, FieldChange, field_changes
from sampan.cli.kubectl.revisions import state_at
from sampan.cli.kubectl.server_history import NoHistory, history_lines
from sampan.cli.kubectl.single import single_target
from sampan.cli.objects.completion import complete_type
from sampan.cli.objects.output import without_managed_fields
from sampan.cli.objects.session import on_server
from sampan.cli.objects.targets import ObjectTarget, TargetError, display_name
from sampan.client import Client, Expired, NotFound, WriteOptions
from sampan.client.patch import ApplyPatch
from sampan.core.operating_system.terminal import uses_colours
from sampan.resource import Object
from sampan.wire import json, yaml

_OF_THE_SERVER: Final = (
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "managedFields",
    "selfLink",
)
"""Fields of the metadata that belong to one life of an object."""
_LABELS_OF_JOBS: Final = (
    "controller-uid",
    "job-name",
    "batch.kubernetes.io/controller-uid",
    "batch.kubernetes.io/job-name",
)
_MANAGER: Final = "sampan-restore"
_COLOURS: Final = {"+": "green", "-": "red", "@": "cyan"}


@click.command("restore")
@click.argument("resources", nargs=-1, metavar="TYPE/NAME", shell_complete=complete_type)
@click.option("--revision", "--to-revision", metavar="REV", help="Revision to restore; by default the last state.")
@click.option("--dry-run", type=click.Choice(["none", "server"]), default="none", help="server: only show the result.")
@click.option("--force-conflicts", is_flag=True, help="Take over changed fields that other managers own.")
@on_server
async def restore_command(
    client: Client, *, resources: tuple[str, ...], revision: str | None, dry_run: str, force_conflicts: bool
) -> int:
    """Create a deleted object again, or roll an existing object back to a revision.

    A deleted object gets its last state, without the fields that the server sets, and without owners: they may be gone.
    An existing object is rolled back by server-side apply of the state at a revision. Fields that other
    managers have changed are conflicts, unless --force-conflicts is given. Fields that they have added remain.

    REV is a resourceVersion from `kubectl sampan history`. With --dry-run=server, the result is shown as a diff.

    \b
    kubectl sampan history --deleted configmaps
    kubectl sampan restore configmap/a --dry-run=server
    kubectl sampan restore deployment/web --revision 1234
    """
    if revision is not None and not (revision.isdecimal() and int(revision)):
        raise TargetError(f"{revision!r}: a revision must be a number above 0")
    target = await single_target(client, resources)
    shown = display_name(target.info, target.names[0])
    current = await _current(client, target)
    if current is not None and revision is None:
        raise TargetError(f"{shown} exists: give --revision to roll it back")
    desired = _restored(await _state(client, target, revision, shown), creates=current is None)
    is_dry_run = dry_run == "server"
    if current is None:
        options = WriteOptions(_MANAGER, dry_run=is_dry_run)
        result = await target.client(client).create(desired, options)
    else:
        options = WriteOptions(_MANAGER, dry_run=is_dry_run, force=force_conflicts)
        desired["metadata"].pop("finalizers", None)
        result = await target.client(client).patch(target.names[0], ApplyPatch(desired), options)
    if is_dry_run:
        _print_diff(current, result, shown)
    done = "created again" if current is None else f"rolled back to revision {revision}"
    click.echo(f"{shown} {done}{' (server dry run)' if is_dry_run else ''}")
    for change in _added_since(desired, result) if current is not None else ():
        click.echo(f"  remains: {change.path} of {', '.join(change.managers) or '<unknown>'}")
    return 0


async def _current(client: Client, target: ObjectTarget) -> Object | None:
    try:
        return await target.client(client).get(target.names[0])
    except NotFound:
        return None


async def _state(client: Client, target: ObjectTarget, revision: str | None, shown: str) -> Object:
    """Return the state at a revision, or the last one of a deleted object. Raises `TargetError` if there is none."""
    if revision is not None:
        try:
            found = await state_at(client, target, revision)
        except Expired:
            raise TargetError(f"the server no longer has revision {revision}") from None
        if found is None:
            raise TargetError(f"{shown} did not exist at revision {revision}")
        return found
    try:
        lines = [line async for line in history_lines(client, target, "revisions", limit=1)]
    except NoHistory as error:
        if error.__cause__ is not None:
            raise error.__cause__ from None
        raise TargetError("the server does not find deleted objects; only Sampan's does: give --revision") from None
    obj: Object | None = lines[0]["object"]
    if obj is None:
        raise TargetError(f"the server cannot read the last state of {shown}: {lines[0].get('error', '')}")
    return obj


def _restored(obj: Object, *, creates: bool) -> Object:
    """Return the object as a client would create or apply it."""
    left_out = {*_OF_THE_SERVER, "ownerReferences"}
    metadata = {name: value for name, value in obj["metadata"].items() if name not in left_out}
    found = {name: value for name, value in obj.items() if name != "status"} | {"metadata": metadata}
    if creates and obj["kind"] == "Job" and obj["apiVersion"].startswith("batch/"):
        _remove_generated_selector(found)
    return found


def _remove_generated_selector(job: Object) -> None:
    """Remove what the server generates from the uid of a Job, unless its selector is manual."""
    spec = job.get("spec") or {}
    if spec.get("manualSelector"):
        return
    spec.pop("selector", None)
    for metadata in (job["metadata"], (spec.get("template") or {}).get("metadata") or {}):
        for label in _LABELS_OF_JOBS:
            (metadata.get("labels") or {}).pop(label, None)


def _added_since(desired: Object, result: Object) -> list[FieldChange]:
    """Return the fields that were added since the revision. An apply does not remove fields of other managers."""
    changes = field_changes(desired, result)
    return [each for each in changes if each.before is ABSENT and not each.path.startswith((".metadata", ".status"))]


def _print_diff(current: Object | None, result: Object, shown: str) -> None:
    colours = uses_colours(sys.stdout)
    for line in unified_diff(_text(current), _text(result), shown, f"{shown} (restored)", lineterm=""):
        click.echo(click.style(line, fg=_COLOURS.get(line[:1])) if colours else line)


def _text(obj: Object | None) -> list[str]:
    if obj is None:
        return []
    copy: Object = json.decode(json.encode(obj))
    return yaml.encode(without_managed_fields(copy)).decode().splitlines()
