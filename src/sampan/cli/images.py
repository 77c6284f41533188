"""`sampan images import` and `list`."""

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import click

from sampan.cli.plain_error import PlainError
from sampan.core.extras import import_extra
from sampan.node.runtime_socket import NoRuntime, runtime_socket

_ENDPOINT: Final = click.option(
    "--container-runtime-endpoint",
    "endpoint",
    default="",
    metavar="SOCKET",
    help="Socket of the container runtime. Default: the first that exists of containerd's, CRI-O's and k3s's.",
)
_ID_LENGTH: Final = 12


@click.group("images")
def images_command() -> None:
    """Import and list the images of this machine, for nodes with the runtime cri. Needs root."""


@images_command.command("import")
@click.argument("file")
@_ENDPOINT
def import_command(file: str, endpoint: str) -> None:
    """Import the images of FILE into containerd, so that Pods need no registry. `-` reads the standard input.

    FILE is an archive of OCI or of `docker save`, also compressed with gzip or zstd.

    \b
    sampan build && sudo sampan images import dist/boats-0.1.0.oci.tar
    docker save nginx:1.29 | gzip | ssh node sudo sampan images import -
    """
    importer: Any = _extra("sampan.node.cri.image_import")
    socket = _socket(endpoint)
    name = asyncio.run(_runtime_name(socket))
    if name != "containerd":
        raise PlainError(f"error: {name} is not containerd; import images with its own tools, such as podman load")
    try:
        if file == "-":
            with open(sys.stdin.fileno(), "rb", closefd=False) as archive:
                imported = importer.import_images(archive, socket)
        else:
            with Path(file).open("rb") as archive:
                imported = importer.import_images(archive, socket)
    except (importer.ImportFailed, OSError) as error:
        cause = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise PlainError(f"error: cannot import {file}: {cause}") from error
    for each in imported:
        click.echo(f"imported {each}")
    if not imported:
        raise PlainError(f"error: {file} has no image with a name")


@images_command.command("list")
@_ENDPOINT
def list_command(endpoint: str) -> None:
    """List the images that Pods on this machine need not pull."""
    rows = [("IMAGE", "IMAGE ID", "SIZE"), *_rows(asyncio.run(_images(_socket(endpoint))))]
    widths = [max(len(row[column]) for row in rows) for column in range(2)]
    for row in rows:
        click.echo(f"{row[0]:<{widths[0]}}   {row[1]:<{widths[1]}}   {row[2]}")


def _rows(images: Sequence[Any]) -> list[tuple[str, str, str]]:
    found = []
    for image in images:
        id = str(image.id).removeprefix("sha256:")[:_ID_LENGTH]
        names = image.repo_tags or image.repo_digests or ("<none>",)
        found += [(str(name), id, f"{image.size / 1e6:.1f}MB") for name in names]
    return sorted(found)


async def _images(socket: str) -> Sequence[Any]:
    cri: Any = _extra("sampan.node.cri")
    try:
        async with cri.CriClient(socket) as client:
            await client.connect()
            images: Sequence[Any] = await client.list_images()
            return images
    except cri.CriError as error:
        raise PlainError(f"error: {error}") from error


async def _runtime_name(socket: str) -> str:
    cri: Any = _extra("sampan.node.cri")
    try:
        async with cri.CriClient(socket) as client:
            return str((await client.connect()).runtime_name)
    except cri.CriError as error:
        raise PlainError(f"error: {error}") from error


def _extra(module: str) -> Any:
    return import_extra(module, extra="cri", feature="sampan images")


def _socket(endpoint: str) -> str:
    try:
        return runtime_socket(endpoint)
    except NoRuntime as error:
        raise PlainError(f"error: {error}") from error
