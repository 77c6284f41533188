"""`sampan generate`: manifests and code from types, and types from manifests."""

import asyncio
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from sampan.client import ClientError, connect
from sampan.client.objects.manifests import ManifestError, read_manifests
from sampan.core.gvk import GroupVersion
from sampan.generate.clients import client_files
from sampan.generate.crds import crd_files
from sampan.generate.declared import SourceError, load
from sampan.generate.files import changed, write
from sampan.generate.formatting import FormatterMissing
from sampan.generate.models import ModelError, crd_model_files, openapi_model_files
from sampan.wire import json

_FOLDER = click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
_CHECK = click.option("--check", is_flag=True, help="Write nothing; fail if a file would change (for CI).")


@click.group("generate")
def generate_command() -> None:
    """Write manifests and code from declared types, and types from manifests."""


@generate_command.command("crds")
@_FOLDER
@click.option("--from", "modules", multiple=True, required=True, metavar="MODULE", help="Module with declared kinds.")
@_CHECK
def crds_command(folder: Path, modules: tuple[str, ...], check: bool) -> int:
    """Write a CustomResourceDefinition for each kind that MODULE declares into FOLDER.

    A package has the kinds of all its subpackages. Modules are also searched in the current folder.
    """
    sys.path.insert(0, "")
    try:
        files = crd_files(load(modules), folder)
    except (SourceError, TypeError) as error:
        raise click.ClickException(str(error)) from error
    return emit(files, check)


@generate_command.command("models")
@_FOLDER
@click.option("-f", "--filename", "manifests", multiple=True, help="Manifests with CustomResourceDefinitions.")
@click.option(
    "--server",
    "versions",
    multiple=True,
    metavar="GROUP/VERSION",
    help="Read kinds from the kubeconfig's server: apps/v1, v1.",
)
@_CHECK
def models_command(folder: Path, manifests: tuple[str, ...], versions: tuple[str, ...], check: bool) -> int:
    """Write Python classes for the kinds of CRDs, or of a server, into FOLDER."""
    if not manifests and not versions:
        raise click.UsageError("missing source of kinds: give -f FILE or --server GROUP/VERSION")
    files: dict[Path, bytes] = {}
    try:
        if manifests:
            files |= crd_model_files(read_manifests(manifests), folder)
        if versions:
            files |= asyncio.run(_server_files(versions, folder))
    except (ModelError, FormatterMissing, ManifestError, ClientError) as error:
        raise click.ClickException(str(error)) from error
    return emit(files, check)


async def _server_files(versions: Sequence[str], folder: Path) -> dict[Path, bytes]:
    files: dict[Path, bytes] = {}
    async with connect() as client:
        discovered = await client.mapper.discovered()
        for version in versions:
            group_version = GroupVersion.parse(version)
            resources = discovered.versions.get(group_version)
            if not resources:
                raise ModelError(f"the server has no resources of {version}")
            root = "apis" if group_version.group else "api"
            document = json.decode(await client.rest.call("GET", f"/openapi/v3/{root}/{group_version}"))
            files |= openapi_model_files(document, resources, folder)
    return files


@generate_command.command("clients")
@_FOLDER
@click.option("--from", "modules", multiple=True, required=True, metavar="MODULE", help="Module with declared kinds.")
@_CHECK
def clients_command(folder: Path, modules: tuple[str, ...], check: bool) -> int:
    """Write a typed package (clientset, informers, listers) for the kinds that MODULE declares into FOLDER.

    A package has the kinds of all its subpackages. Modules are also searched in the current folder.
    """
    sys.path.insert(0, "")
    try:
        files = client_files(load(modules), folder)
    except (SourceError, TypeError, FormatterMissing) as error:
        raise click.ClickException(str(error)) from error
    return emit(files, check)


def emit(files: Mapping[Path, bytes], check: bool) -> int:
    """Write the files and print their paths; with `check`, print the files that would change. Returns the exit code."""
    if not check:
        for path in write(files):
            click.echo(f"wrote {path}")
        return 0
    stale = changed(files)
    for path in stale:
        click.echo(f"{path} is not what would be generated", err=True)
    return 1 if stale else 0
