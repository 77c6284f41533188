"""`sampan describe`: details of an object, with its events and related objects."""

from collections.abc import Iterable

import click

from sampan.cli.objects.completion import complete_type
from sampan.cli.objects.describers import DescribedObject, describer_of, description
from sampan.cli.objects.session import explain, on_server
from sampan.cli.objects.targets import ObjectTarget, targets_in, targets_of
from sampan.client import ApiError, Client, ListOptions, NoMatch, NotFound
from sampan.resource import Object


@click.command("describe")
@click.argument("resources", nargs=-1, metavar="[TYPE [NAME…] | TYPE/NAME…]", shell_complete=complete_type)
@click.option(
    "-f",
    "--filename",
    "files",
    type=click.Path(),
    multiple=True,
    help="Files or folders of manifests; - for standard input.",
)
@click.option("-R", "--recursive", is_flag=True, help="Include subfolders of the folders of -f.")
@click.option("-l", "--selector", default="", help="Only objects with matching labels.")
@click.option("-A", "--all-namespaces", is_flag=True, help="Objects of all namespaces.")
@click.option("--show-events/--no-events", default=True, help="Show the events of each object.")
@on_server
async def describe_command(
    client: Client,
    *,
    resources: tuple[str, ...],
    files: tuple[str, ...],
    recursive: bool,
    selector: str,
    all_namespaces: bool,
    show_events: bool,
) -> int:
    """Show an object in detail, with its events.

    \b
    sampan describe network example-network
    sampan describe pods -l app=web
    sampan describe pod web-      every Pod whose name begins with web-
    """
    if files:
        targets = await targets_in(client, files, recursive=recursive)
    else:
        targets = await targets_of(client, resources, namespace="" if all_namespaces else None)
    code, shown = 0, 0
    for target in targets:
        objects, errors = await _objects(client, target, selector, prefixes=not files)
        for error in errors:
            click.echo(explain(error), err=True)
            code = 1
        for obj in objects:
            subject = await _subject(client, obj)
            events = await _events(client, obj) if show_events else None
            click.echo("\n\n" if shown else "", nl=False)
            click.echo("\n".join(description(subject, events)))
            shown += 1
    if not shown and not code:
        click.echo("No resources found", err=True)
    return code


async def _objects(
    client: Client, target: ObjectTarget, selector: str, *, prefixes: bool
) -> tuple[list[Object], list[ApiError]]:
    """Read the objects of a target, and the errors of those that cannot be read.

    `prefixes`: a name that does not exist selects the objects whose names begin with it.
    """
    resource = target.client(client)
    objects: list[Object] = []
    errors: list[ApiError] = []
    for name in target.names:
        try:
            objects.append(await resource.get(name))
        except NotFound as error:
            found = await _with_prefix(client, target, name) if prefixes else []
            objects += found
            errors += [] if found else [error]
        except ApiError as error:
            errors.append(error)
    if not target.names:
        try:
            objects += _typed(target, await resource.list_all(ListOptions(label_selector=selector)))
        except ApiError as error:
            errors.append(error)
    return objects, errors


async def _with_prefix(client: Client, target: ObjectTarget, prefix: str) -> list[Object]:
    try:
        found = await target.client(client).list_all()
    except ApiError:
        return []
    return [obj for obj in _typed(target, found) if obj["metadata"]["name"].startswith(prefix)]


def _typed(target: ObjectTarget, objects: Iterable[Object]) -> list[Object]:
    """Return the objects of a list with their type added, because the items of a list may omit it."""
    return [{"apiVersion": target.info.api_version, "kind": target.info.kind, **obj} for obj in objects]


async def _subject(client: Client, obj: Object) -> DescribedObject:
    """Read the objects that the description of an object needs."""
    queries = {name: query(obj) for name, query in describer_of(obj).related.items()}
    related = {
        name: await _listed(client, query.resource, query.namespace, query.options) for name, query in queries.items()
    }
    return DescribedObject(obj, related)


async def _listed(client: Client, resource: str, namespace: str, options: ListOptions) -> list[Object] | None:
    """List objects; None if the server does not have the resource, or the client may not read it."""
    try:
        return list(await (await client.resource_for(resource, namespace=namespace)).list_all(options))
    except (ApiError, NoMatch):
        return None


async def _events(client: Client, obj: Object) -> list[Object]:
    """Return the object's events; none if they cannot be read.

    Kubelets put the name of a Node into `involvedObject.uid`.
    """
    metadata = obj["metadata"]
    chosen = f"involvedObject.name={metadata['name']},involvedObject.kind={obj.get('kind', '')}"
    options = ListOptions(field_selector=chosen)
    found = await _listed(client, "events.v1.", metadata.get("namespace", ""), options) or ()
    uids = (metadata.get("uid"), metadata["name"])
    return [event for event in found if (event.get("involvedObject") or {}).get("uid") in uids]
