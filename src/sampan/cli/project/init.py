"""`sampan init`."""

from pathlib import Path
from typing import Any

import click

from sampan.cli.project.outcome import finish, one_line
from sampan.project.create import api_inputs, part_change
from sampan.project.errors import ProjectError
from sampan.project.explain import explanations
from sampan.project.nested import unread_ci
from sampan.project.pyproject import Settings, find_project
from sampan.project.start import CI, here_change, init_change, init_inputs, is_flat, name_here
from sampan.project.writing import ProjectChange

_FOLDER = click.Path(file_okay=False, path_type=Path)


@click.command("init")
@click.argument("name", required=False)
@click.option("--here", is_flag=True, help="Make the package in the current folder a project; files that exist stay.")
@click.option("--name", "given_name", default="", hidden=True)
@click.option("--group", default="", help="API group of the kinds; default: NAME.DOMAIN.")
@click.option("--domain", default="example.com", show_default=True, help="Domain of the API group.")
@click.option("--kind", default="", help="Also create this kind, as sampan create api does.")
@click.option("--ci", type=click.Choice(CI), default="none", show_default=True, help="Also write a file for CI.")
@click.option("--license", default="", help="SPDX identifier of the licence: Apache-2.0.")
@click.option("--python", default="3.11", show_default=True, help="Oldest version of Python that the project supports.")
@click.option("--sampan-wheels", type=_FOLDER, help="Folder with wheels of Sampan, for a machine without an index.")
@click.option("--template", type=click.Path(dir_okay=False, path_type=Path), help="Python file that changes the files.")
@click.option("--interactive", is_flag=True, help="Prompt for the name, group, kind and CI.")
@click.option("--explain", is_flag=True, help="Print the owner of each file of this project, and its purpose.")
@click.option("--dry-run", is_flag=True, help="Print what would happen, and write nothing.")
@click.option("--diff", is_flag=True, help="Print the differences too, and write nothing.")
@click.option("--force", is_flag=True, help="Overwrite files that have other content.")
def init_command(
    name: str | None,
    given_name: str,
    here: bool,
    explain: bool,
    interactive: bool,
    dry_run: bool,
    diff: bool,
    force: bool,
    **options: Any,
) -> int:
    """Begin a project of an operator in a new folder NAME.

    \b
    sampan init boats
    sampan init boats --domain example.org --kind Boat --ci github
    """
    name = name or given_name
    with one_line():
        if explain:
            return _explain()
        if interactive:
            name = _prompt(name, options)
        if not name and not here:
            raise click.UsageError("a name must follow: sampan init boats; or --here for the package in this folder")
        folder = Path.cwd() if here else Path.cwd() / str(name)
        change = _change(folder, name or name_here(folder), here, force, options)
        code = finish(change, dry_run=dry_run or diff, diff=diff)
    if note := unread_ci(folder, options["ci"]):
        click.echo(f"note: {note}", err=True)
    if not (dry_run or diff) and code == 0 and not here:
        create = "" if options["kind"] else "sampan create api --kind Boat --field 'length:int>0' && "
        click.echo(f"next: cd {name} && {create}sampan test")
    return code


def _change(folder: Path, name: str, here: bool, force: bool, options: dict[str, Any]) -> ProjectChange:
    kind, template = options["kind"], options["template"]
    inputs = init_inputs(
        name,
        group=options["group"],
        domain=options["domain"],
        python=options["python"],
        license=options["license"],
        ci=options["ci"],
        wheels=options["sampan_wheels"],
        template=str(template.resolve()) if template else "",
    )
    change = here_change(folder, inputs) if here else init_change(folder, inputs, force=force)
    if kind:
        settings = Settings(folder, inputs["package"], inputs["group"])
        shared = {"template": inputs["template"], "flat": is_flat(folder, inputs["package"])}
        more = part_change(folder, "api", {**api_inputs(settings, kind), **shared}, force=force)
        change.outcomes |= more.outcomes
        change.texts |= more.texts
        change.hidden |= more.hidden
    return change


def _explain() -> int:
    settings = find_project(Path.cwd())
    if settings is None:
        raise ProjectError("this folder is in no project: begin one with sampan init NAME")
    for path, owner, why in explanations(settings.root):
        click.echo(f"{owner:9}  {path}: {why}")
    return 0


def _prompt(name: str | None, options: dict[str, Any]) -> str:
    """Prompt for the most important inputs; Enter takes what the options give."""
    chosen: str = click.prompt("Name", default=name or Path.cwd().name)
    options["group"] = click.prompt("API group", default=options["group"] or f"{chosen}.{options['domain']}")
    options["kind"] = click.prompt("First kind (empty: none)", default=options["kind"], show_default=False)
    options["ci"] = click.prompt("CI", type=click.Choice(CI), default=options["ci"])
    return chosen
