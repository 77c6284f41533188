"""`sampan create`: parts of a project."""

from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import click

from sampan.cli.command_group import CommandGroup
from sampan.cli.project.outcome import writes
from sampan.project.create import (
    api_inputs,
    conversion_inputs,
    part_change,
    webhook_inputs,
)
from sampan.project.pyproject import project_at
from sampan.project.writing import ProjectChange


class CreateGroup(CommandGroup):
    """Commands that add a part. Other words are those of `kubectl create`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names for --help."""
        return sorted(self.commands)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command that creates a part; None for an unknown part."""
        return self.commands.get(cmd_name)

    def unknown(self, ctx: click.Context, name: str) -> str:
        """Return the message for an unknown part, which may be for kubectl."""
        parts = ", ".join(self.list_commands(ctx))
        return f"unknown part {name!r} of a project: there are {parts}. To create objects: kubectl create."


def _foreign() -> ModuleType:
    """Import and return the module for foreign kinds, which takes a second."""
    return import_module("sampan.project.foreign_kinds")


@click.group("create", cls=CreateGroup, modules={})
def create_command() -> None:
    """Add a kind, a webhook, a conversion or a controller to the project in this folder."""


_KIND = click.option("--kind", required=True, help="Kind, such as Boat.")


@create_command.command("api")
@click.option("--kind", default="", help="Kind, such as Boat.")
@click.option("--group", default="", help="API group; default: that of the project.")
@click.option("--version", default="v1", show_default=True, help="Version of the API.")
@click.option("--namespaced/--cluster", default=True, help="Scope of the objects.")
@click.option("--controller/--no-controller", default=True, help="Also write a controller and its tests.")
@click.option(
    "--field", "fields", multiple=True, metavar="NAME:TYPE", help="Field: length:int>0, home:str=Wuhan, m:enum(a,b)."
)
@click.option("--from", "crd", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Take a CRD's kind.")
@click.option("--external", is_flag=True, help="With --from: another program owns the CRD.")
@writes
def api_command(*, kind: str, force: bool, crd: Path | None, external: bool, **options: Any) -> ProjectChange:
    """Add a kind: its types, a controller, tests, and a sample.

    \b
    sampan create api --kind Boat --field 'length:int>0' --field home:str=Wuhan
    sampan create api --from crd.yaml --external
    """
    settings = project_at(Path.cwd())
    if crd is not None:
        if options["fields"]:
            raise click.UsageError("--field does not go with --from: the CRD has the fields")
        made = _foreign().import_inputs(settings, crd, external=external, controller=options["controller"], kind=kind)
        return part_change(settings.root, "import", made, force=force)
    if not kind or external:
        raise click.UsageError("--external needs --from CRD.yaml" if external else "missing option --kind, or --from")
    return part_change(settings.root, "api", api_inputs(settings, kind, **options), force=force)


@create_command.command("webhook")
@_KIND
@click.option("--defaulting", is_flag=True, help="Only the webhook that completes objects.")
@click.option("--validation", is_flag=True, help="Only the webhook that checks objects.")
@writes
def webhook_command(*, kind: str, defaulting: bool, validation: bool, force: bool) -> ProjectChange:
    """Add webhooks to a kind: one completes objects, one checks them."""
    settings = project_at(Path.cwd())
    inputs = webhook_inputs(settings, kind, defaulting=defaulting, validation=validation)
    return part_change(settings.root, "webhook", inputs, force=force)


@create_command.command("conversion")
@_KIND
@click.option("--from", "before", required=True, metavar="VERSION", help="Version of the kind.")
@click.option("--to", required=True, metavar="VERSION", help="New version.")
@writes
def conversion_command(*, kind: str, before: str, to: str, force: bool) -> ProjectChange:
    """Add a version to a kind, and the conversion. Its test fails until you have written the conversion.

    \b
    sampan create conversion --kind Boat --from v1alpha1 --to v1
    """
    settings = project_at(Path.cwd())
    return part_change(settings.root, "conversion", conversion_inputs(settings, kind, before, to), force=force)


@create_command.command("controller")
@click.option("--watches", required=True, metavar="GROUP/KIND", help="Kind of Kubernetes: apps/Deployment, Secret.")
@writes
def controller_command(*, watches: str, force: bool) -> ProjectChange:
    """Add a controller of a kind that belongs to Kubernetes."""
    settings = project_at(Path.cwd())
    return part_change(settings.root, "controller", _foreign().controller_inputs(settings, watches), force=force)
