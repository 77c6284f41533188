"""`sampan get`."""

import sys
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import click

from sampan.cli.objects.completion import complete_type
from sampan.cli.objects.custom_columns import relaxed_path
from sampan.cli.objects.formats import HELP, OutputFormat, take_format
from sampan.cli.objects.output import as_list, print_object, without_managed_fields
from sampan.cli.objects.server_table import ACCEPT, ShownColumns, as_table, columns, rows
from sampan.cli.objects.session import explain, on_server
from sampan.cli.objects.table import TablePrinter
from sampan.cli.objects.targets import ObjectTarget, TargetError, targets_in, targets_of, type_name
from sampan.client import ApiError, Client, ListOptions, NotFound
from sampan.client.watching.follow import follow
from sampan.client.watching.pager import PAGE_SIZE
from sampan.client.watching.resource_list_watch import ResourceListWatch
from sampan.client.watching.watch import decoded_events
from sampan.core.numbers.quantity import Quantity
from sampan.core.operating_system.terminal import uses_colours
from sampan.resource import Object, dynamic
from sampan.wire import json

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class GetOptions:
    """Options of the command."""

    output: OutputFormat
    shown: ShownColumns
    options: ListOptions
    managed_fields: bool = False
    ignore_not_found: bool = False
    everywhere: bool = False
    sort_by: str = ""

    @property
    def keeps_managed_fields(self) -> bool:
        """Return True if managedFields are shown; templates can always use them."""
        return self.managed_fields or self.output.template is not None or self.output.columns is not None


@click.command("get")
@click.argument("resources", nargs=-1, metavar="[TYPE[,TYPE] [NAME…] | TYPE/NAME…]", shell_complete=complete_type)
@click.option(
    "-f",
    "--filename",
    "files",
    type=click.Path(),
    multiple=True,
    help="Files or folders of manifests; - for standard input.",
)
@click.option("-R", "--recursive", is_flag=True, help="Include subfolders of the folders of -f.")
@click.option("-o", "--output", callback=take_format, help=f"Format; by default a table. {HELP}.")
@click.option("--sort-by", default="", metavar="PATH", help="Order by a field: .metadata.creationTimestamp.")
@click.option("-A", "--all-namespaces", is_flag=True, help="Objects of all namespaces.")
@click.option("-l", "--selector", default="", help="Label selector: app=web,tier!=cache.")
@click.option("--field-selector", default="", help="Field selector: status.phase=Running.")
@click.option("-w", "--watch", is_flag=True, help="Then show changes, until interrupted.")
@click.option("--watch-only", is_flag=True, help="Show only changes, without the present objects.")
@click.option("--show-labels", is_flag=True, help="Show a column of labels.")
@click.option("-L", "--label-columns", default="", help="Labels to show as columns, separated by commas.")
@click.option("--no-headers", is_flag=True, help="Do not print headers.")
@click.option("--show-managed-fields", is_flag=True, help="Keep metadata.managedFields in yaml and json.")
@click.option("--ignore-not-found", is_flag=True, help="Do not fail if the object does not exist.")
@click.option("--chunk-size", default=PAGE_SIZE, show_default=True, help="Objects for each request; 0: no limit.")
@on_server
async def get_command(
    client: Client,
    *,
    resources: tuple[str, ...],
    files: tuple[str, ...],
    recursive: bool,
    output: OutputFormat,
    sort_by: str,
    all_namespaces: bool,
    selector: str,
    field_selector: str,
    watch: bool,
    watch_only: bool,
    show_labels: bool,
    label_columns: str,
    no_headers: bool,
    show_managed_fields: bool,
    ignore_not_found: bool,
    chunk_size: int,
) -> int:
    """Show objects.

    \b
    sampan get networks
    sampan get pods -A -o wide
    sampan get deployment/web service/web -o yaml
    sampan get pods -l app=web -w
    sampan get pods -o custom-columns=NAME:.metadata.name,NODE:.spec.nodeName
    sampan get pods -o jsonpath='{range .items[*]}{.metadata.name}{"\\n"}{end}' --sort-by=.metadata.creationTimestamp
    """
    names = tuple(name for name in label_columns.split(",") if name)
    desired = GetOptions(
        output,
        ShownColumns(wide=output.name == "wide", namespace=all_namespaces, labels=show_labels, label_columns=names),
        ListOptions(label_selector=selector, field_selector=field_selector, limit=chunk_size),
        managed_fields=show_managed_fields,
        ignore_not_found=ignore_not_found,
        everywhere=all_namespaces,
        sort_by=sort_by,
    )
    if files:
        targets = await targets_in(client, files, recursive=recursive)
    else:
        targets = await targets_of(client, resources, namespace="" if all_namespaces else None)
    printer = TablePrinter(headers=not no_headers, colours=uses_colours(sys.stdout))
    if watch or watch_only:
        await _watch(client, targets, desired, printer, first=not watch_only)
        return 0
    if desired.output.is_table:
        return await _print_tables(client, targets, desired, printer)
    return await _print_objects(client, targets, desired, printer)


async def _print_tables(
    client: Client, targets: Sequence[ObjectTarget], desired: GetOptions, printer: TablePrinter
) -> int:
    code, shown, several = 0, 0, len({target.info for target in targets}) > 1
    for target in targets:
        form = replace(desired.shown, prefix=f"{type_name(target.info)}/") if several else desired.shown
        form = form if target.info.namespaced or not form.namespace or several else replace(form, namespace=False)
        async for table, error in _tables(client, target, desired):
            if error is not None:
                code = _report(error, desired)
                continue
            lines = list(rows(table, form))
            if not lines:
                continue
            if several and shown and not printer.continues(columns(table, form)):
                click.echo()
            printer.print(columns(table, form) or printer.names, lines)
            shown += len(lines)
    if not shown and not code and not desired.ignore_not_found:
        click.echo(_nothing(client, targets, desired), err=True)
    return code


async def _tables(
    client: Client, target: ObjectTarget, desired: GetOptions
) -> AsyncIterator[tuple[Object, ApiError | None]]:
    """Yield the tables of the responses as they arrive; with `--sort-by`, one table."""
    found: list[Object] = []
    async for page, error in _responses(client, target, desired, ACCEPT):
        if error is not None:
            yield {}, error
        elif desired.sort_by:
            found.append(as_table(page, target.info))
        else:
            yield as_table(page, target.info), None
    if found:
        lines = [row for table in found for row in table.get("rows") or []]
        yield {**found[0], "rows": _sorted_by(lines, desired.sort_by, lambda row: row["object"])}, None


async def _print_objects(
    client: Client, targets: Sequence[ObjectTarget], desired: GetOptions, printer: TablePrinter
) -> int:
    code = 0
    objects: list[Object] = []
    for target in targets:
        async for page, error in _responses(client, target, desired, "application/json"):
            if error is not None:
                code = _report(error, desired)
            elif "items" in page and page.get("kind", "").endswith("List"):
                objects += [
                    {"apiVersion": target.info.api_version, "kind": target.info.kind, **o} for o in page["items"]
                ]
            else:
                objects.append(page)
    if not desired.keeps_managed_fields:
        objects = [without_managed_fields(obj) for obj in objects]
    if desired.sort_by:
        objects = _sorted_by(objects, desired.sort_by, lambda obj: obj)
    if desired.output.name == "name":
        for obj in objects:
            print_object(obj, "name")
    elif desired.output.columns is not None:
        printer.print(desired.output.columns.names, map(desired.output.columns.cells, objects))
    elif objects or not code:
        single = len(objects) == 1 and len(targets) == 1 and len(targets[0].names) == 1
        _print_document(objects[0] if single else as_list(objects), desired.output)
    return code


def _print_document(obj: Object, form: OutputFormat, *, document: bool = False) -> None:
    """Print an object or a list with the template, or completely."""
    if form.template is None:
        print_object(obj, form.name, document=document)
    elif form.name == "jsonpath-as-json":
        print_object(form.template.values(obj), "json")
    else:
        click.echo(form.template.render(obj), nl=False)


async def _responses(
    client: Client, target: ObjectTarget, desired: GetOptions, accept: str
) -> AsyncIterator[tuple[Object, ApiError | None]]:
    """Yield each named object or each page of the list, and errors. An error does not end the iteration."""
    headers = {"accept": accept}
    extra = {"includeObject": "Object"} if desired.sort_by and accept is ACCEPT else {}
    for name in target.names:
        try:
            body = await client.rest.call("GET", target.path(client, name), query=extra, headers=headers)
            yield json.decode(body), None
        except ApiError as error:
            yield {}, error
    options = desired.options
    while not target.names:
        try:
            query = {**options.query(), **extra}
            body = await client.rest.call("GET", target.path(client), query=query, headers=headers)
        except ApiError as error:
            yield {}, error
            return
        page = json.decode(body)
        yield page, None
        token = (page.get("metadata") or {}).get("continue", "")
        if not token:
            return
        options = replace(options, continue_token=token)


async def _watch(
    client: Client, targets: Sequence[ObjectTarget], desired: GetOptions, printer: TablePrinter, *, first: bool
) -> None:
    """Print the current objects, then each change, until interrupted."""
    if len(targets) != 1 or len(targets[0].names) > 1:
        raise TargetError("you may only watch a single resource or type of resource at a time")
    [target] = targets
    if target.names:
        only = f"metadata.name={target.names[0]}"
        selectors = ",".join(filter(None, (only, desired.options.field_selector)))
        desired = replace(desired, options=replace(desired.options, field_selector=selectors))
        if first:
            await target.client(client).get(target.names[0])
        target = replace(target, names=())
    accept = ACCEPT if desired.output.is_table else "application/json"
    version = ""
    async for page, error in _responses(client, target, desired, accept):
        if error is not None:
            raise error
        version = page["metadata"]["resourceVersion"]
        if first:
            _print_change(target, page, desired, printer)
    options = replace(desired.options, limit=0, resource_version=version)
    raw = ResourceListWatch(client.rest, target.info, target.namespace_in(client), accept=accept)
    async for events in decoded_events(follow(raw, options), dynamic(target.info)):
        for event in events:
            _print_change(target, event.object, desired, printer)


def _print_change(target: ObjectTarget, document: Object, desired: GetOptions, printer: TablePrinter) -> None:
    if desired.output.is_table:
        table = as_table(document, target.info)
        lines = list(rows(table, desired.shown))
        if lines:
            printer.print(columns(table, desired.shown) if table.get("columnDefinitions") else printer.names, lines)
        return
    for obj in document.get("items", [document]):
        whole = {"apiVersion": target.info.api_version, "kind": target.info.kind, **obj}
        shown = whole if desired.keeps_managed_fields else without_managed_fields(whole)
        if desired.output.columns is not None:
            printer.print(desired.output.columns.names, [desired.output.columns.cells(shown)])
        else:
            _print_document(shown, desired.output, document=True)


def _report(error: ApiError, desired: GetOptions) -> int:
    """Print an error and return the exit code."""
    if isinstance(error, NotFound) and desired.ignore_not_found:
        return 0
    click.echo(explain(error), err=True)
    return 1


def _nothing(client: Client, targets: Sequence[ObjectTarget], desired: GetOptions) -> str:
    namespaced = any(target.info.namespaced for target in targets)
    if not namespaced or desired.everywhere:
        return "No resources found"
    return f"No resources found in {client.namespace} namespace."


def _sorted_by(items: Iterable[T], path: str, object_of: Callable[[T], Any]) -> list[T]:
    """Return the items sorted by the values at `path`, for --sort-by. Items without a value come first.

    Numbers and quantities are compared by value, other texts by characters. Raises `ValueError` for a malformed path.
    Source: kubectl pkg/cmd/get/sorter.go (1.36).
    """
    compiled = relaxed_path(path)
    return sorted(items, key=lambda item: _key(compiled.first(object_of(item))))


def _key(value: Any) -> tuple[int, Any]:
    if value is None:
        return 0, 0
    if isinstance(value, bool):
        return 1, value
    if isinstance(value, int | float | str):
        value = str(value)
        try:
            return 1, Quantity.parse(value)
        except ValueError:
            return 2, value
    raise ValueError("the field of --sort-by is not a number or text")
