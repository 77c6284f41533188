"""`sampan build`: the image of a project."""

import asyncio
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from sampan.cli.project.outcome import one_line
from sampan.core.clock import monotonic
from sampan.oci.errors import OciError
from sampan.oci.http_exchange import HttpExchange
from sampan.oci.layout import write_archive, write_layout
from sampan.project.errors import ProjectError
from sampan.project.image.build import BuildOptions, Built, build_image, push_image
from sampan.project.image.dockerfile import dockerfile
from sampan.project.image.settings import image_settings
from sampan.project.pyproject import project_at

_PATH = click.Path(path_type=Path)


@click.command("build")
@click.option("--push", is_flag=True, help="Push the image to the registry in its name.")
@click.option("-o", "--output", type=_PATH, help="Tar file or folder; default: dist/NAME-VERSION.oci.tar.")
@click.option("--name", default="", help="Name of the image, instead of tool.sampan.image.name.")
@click.option("--platform", "platforms", multiple=True, help="Build only for this platform: linux/amd64.")
@click.option("--lock", is_flag=True, help="Lock the newest versions of the dependencies again.")
@click.option("--locked", is_flag=True, help="Fail if the lock or the base is not chosen yet; for CI.")
@click.option("--update-base", is_flag=True, help="Take the present digest of the base image.")
@click.option("--base", default="", help="Base image, instead of tool.sampan.image.base: a name, a layout, a tar file.")
@click.option("--insecure-registry", "insecure", multiple=True, help="Registry (host:port) without TLS.")
@click.option("--dockerfile", "print_dockerfile", is_flag=True, help="Print a Dockerfile with the same effect.")
def build_command(
    push: bool,
    output: Path | None,
    name: str,
    platforms: Sequence[str],
    lock: bool,
    locked: bool,
    update_base: bool,
    base: str,
    insecure: Sequence[str],
    print_dockerfile: bool,
) -> int:
    """Build the image of the project in this folder: no container engine, no root.

    \b
    sampan build                              # dist/boats-0.1.0.oci.tar, for ctr import and podman load
    sampan build --push --name registry.example.com/team/boats
    """
    with one_line():
        changes = {"name": name, "base": base, "platforms": list(platforms)}
        settings = image_settings(project_at(Path.cwd()), {key: value for key, value in changes.items() if value})
        python = settings.python or f"{sys.version_info.major}.{sys.version_info.minor}"
        if print_dockerfile:
            click.echo(dockerfile(settings, python), nl=False)
            return 0
        if lock and locked:
            raise ProjectError("--lock and --locked exclude each other")
        options = BuildOptions(_cache(), locked, lock, update_base, python)
        default = settings.root / "dist" / f"{settings.project.package}-{settings.version}.oci.tar"
        target = output or (None if push else default)

        async def run() -> None:
            began = monotonic()
            async with HttpExchange(insecure=insecure) as exchange:
                built = await build_image(settings, options, exchange, lambda line: click.echo(line, err=True))
                if target is not None:
                    await built.fetch_all()
                    _write(built, target)
                    click.echo(f"wrote    {target}", err=True)
                if push:
                    pushed = await push_image(built, exchange)
                    click.echo(f"pushed   {settings.name} ({pushed.sent_bytes / 1e6:.1f} MB sent)", err=True)
            click.echo(f"built    {settings.name} in {monotonic() - began:.1f} s", err=True)
            click.echo(f"{settings.name.host}/{settings.name.repository}@{built.root.digest}")

        try:
            asyncio.run(run())
        except OciError as error:
            raise ProjectError(str(error)) from error
    return 0


def _write(built: Built, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.is_dir() or not target.suffix:
        write_layout(built.store, built.root, built.settings.name, target)
    else:
        write_archive(built.store, built.root, built.settings.name, target)


def _cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base, "sampan", "images")
