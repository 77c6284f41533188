"""`sampan apply`: server-side apply of manifests."""

import asyncio
from collections.abc import Sequence

import click

from sampan.cli.objects.output import print_object, without_managed_fields
from sampan.cli.objects.session import explain, on_server
from sampan.cli.objects.targets import ObjectTarget, display_name, target_for
from sampan.client import ApiError, ApplyPatch, Client, Conflict, NoMatch, NotFound, WriteOptions
from sampan.client.objects.manifests import read_manifests
from sampan.client.options import FieldValidation
from sampan.resource import Object, meta

_NEW_KIND_WAIT_S = 10.0
"""Maximum wait until a kind is served after its definition was applied."""
_NEW_KIND_RETRY_S = 0.25
_VALIDATION: dict[str, FieldValidation] = {"strict": "Strict", "warn": "Warn", "ignore": "Ignore"}
_CONFLICT_HELP = """\
Fields that others manage are not taken from them. You can:
* leave those fields out of the manifest,
* or take them over with --force-conflicts (then the others must let go of them)."""


@click.command("apply")
@click.option(
    "-f", "--filename", "files", multiple=True, required=True, help="Files or folders of manifests; - for stdin."
)
@click.option("-R", "--recursive", is_flag=True, help="Include subfolders of the folders of -f.")
@click.option("--server-side", is_flag=True, help="Accepted for compatibility: the server always merges.")
@click.option("--force-conflicts", is_flag=True, help="Take over fields that other managers own.")
@click.option("--field-manager", default="sampan", show_default=True, help="Manager that owns the applied fields.")
@click.option("--dry-run", type=click.Choice(["none", "server"]), default="none", help="server: store nothing.")
@click.option("--validate", type=click.Choice(["strict", "warn", "ignore"]), default="strict", show_default=True)
@click.option("-o", "--output", type=click.Choice(["yaml", "json", "name"]), help="Print the objects.")
@on_server
async def apply_command(
    client: Client,
    *,
    files: tuple[str, ...],
    recursive: bool,
    server_side: bool,
    force_conflicts: bool,
    field_manager: str,
    dry_run: str,
    validate: str,
    output: str | None,
) -> int:
    """Create or change objects to match manifests.

    \b
    sampan apply -f network.yaml
    cat *.yaml | sampan apply -f -
    """
    objects = read_manifests(files, recursive=recursive)
    options = WriteOptions(field_manager=field_manager, force=force_conflicts, dry_run=dry_run == "server")
    client = client.with_defaults(field_validation=_VALIDATION[validate])
    code = 0
    for obj in objects:
        try:
            target = await _target(client, obj, objects)
            done, applied = await _apply(client, target, obj, options)
        except (ApiError, NoMatch) as error:
            click.echo(explain(error), err=True)
            if isinstance(error, Conflict) and error.has_cause("FieldManagerConflict"):
                click.echo(_CONFLICT_HELP, err=True)
            code = 1
            continue
        if output:
            print_object(without_managed_fields(applied), output, document=True)
        else:
            suffix = " (server dry run)" if options.dry_run else ""
            click.echo(f"{display_name(target.info, target.names[0])} {done}{suffix}")
    return code


async def _target(client: Client, obj: Object, objects: Sequence[Object]) -> ObjectTarget:
    """Return the target of an object. A kind that the same manifests define may be served after a short wait."""
    patience_s = _NEW_KIND_WAIT_S if any(_defines(other, obj) for other in objects) else 0.0
    deadline = asyncio.get_running_loop().time() + patience_s
    while True:
        try:
            return await target_for(client, obj)
        except NoMatch:
            if asyncio.get_running_loop().time() >= deadline:
                raise
        client.mapper.invalidate()
        await asyncio.sleep(_NEW_KIND_RETRY_S)


def _defines(crd: Object, obj: Object) -> bool:
    """Return True if one object is the definition of the other's kind."""
    if crd["kind"] != "CustomResourceDefinition" or not isinstance(crd.get("spec"), dict):
        return False
    return bool(crd["spec"].get("group") == obj["apiVersion"].partition("/")[0])


async def _apply(client: Client, target: ObjectTarget, obj: Object, options: WriteOptions) -> tuple[str, Object]:
    """Apply an object. Returns `created`, `configured` or `unchanged`, and the object."""
    [name] = target.names
    resource = target.client(client)
    try:
        before = meta(await resource.get(name)).resource_version
    except NotFound:
        before = ""
    applied = await resource.patch(name, ApplyPatch(obj), options)
    if not before:
        return "created", applied
    return "unchanged" if meta(applied).resource_version == before else "configured", applied
