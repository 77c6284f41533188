"""Files of a kind with its controller: what `sampan create api` writes."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from sampan.generate.formatting import LINE_LENGTH
from sampan.project.fields import SpecField, parse_fields
from sampan.project.names import BUILT_IN, article, module_of, several, words_of
from sampan.project.templates.text import Files, FileText
from sampan.resource.declare import plural_of

_COLUMNS_MAX: Final = 3
_OTHER_COLUMNS: Final = ("name", "ready", "age")
"""Columns that each kind has. A field of this name gets none: two columns with one heading are ambiguous."""


def kind_files(inputs: Mapping[str, Any]) -> Files:
    """Return the files. `inputs`: package, kind, group, version, namespaced, fields, controller."""
    package, kind = inputs["package"], inputs["kind"]
    module, fields = module_of(kind), parse_fields(inputs["fields"])
    folder, version = f"src/{package}/{module}", inputs["version"]
    sample = f"samples/{module}.yaml"
    files = {
        f"{folder}/__init__.py": FileText(f'"""The kind {kind}."""\n', "the package of the kind"),
        f"{folder}/{version}.py": FileText(types_text(inputs, fields), f"the kind {kind} in version {version}"),
        sample: FileText(_sample(inputs, fields), f"{article(words_of(kind))} to try"),
    }
    if inputs["controller"]:
        why = f"makes the actual state match the spec of {article(words_of(kind))}"
        files[f"{folder}/reconcile.py"] = FileText(_reconcile(inputs), why)
        files[f"tests/test_{module}.py"] = FileText(_test(inputs), "tests of the controller, also with faults")
    return files


def types_text(inputs: Mapping[str, Any], fields: Sequence[SpecField], *, stored: bool = True) -> str:
    """Return the module with the class of the kind in one version."""
    kind, words = inputs["kind"], words_of(inputs["kind"])
    used = " ".join(each.type for each in fields)
    typing = [name for name in ("Annotated", "Literal") if name in used or name == "Annotated"]
    names = ["Column", "CustomResource", "list_map", "resource"]
    names += [name for name in ("Quantity", "immutable", "schema_part") if name in used]
    columns = [
        f'Column("{each.name.replace("_", " ").title()}", ".spec.{each.json_name}", "{each.column_type}")'
        for each in fields
        if each.column_type and each.name not in _OTHER_COLUMNS
    ][:_COLUMNS_MAX]
    columns.append("""Column("Ready", '.status.conditions[?(@.type=="Ready")].status')""")
    columns.append('Column("Age", ".metadata.creationTimestamp", "date")')
    arguments = [f'group="{inputs["group"]}"', f'version="{inputs["version"]}"']
    arguments += [] if inputs["namespaced"] else ["namespaced=False"]
    arguments += [] if stored else ["storage=False"]
    body = "".join(f"    {line},\n" for line in arguments)
    body += "    columns=(\n" + "".join(f"        {each},\n" for each in columns) + "    ),\n"
    required = any(not each.default for each in fields)
    default = "" if required else f" = msgspec.field(default_factory={kind}Spec)"
    return f'''\
"""The kind {kind} in version {inputs["version"]}."""

from typing import {", ".join(typing)}

import msgspec
from sampan.operator import Condition
from sampan.resource import {", ".join(sorted(names, key=_import_order))}


class {kind}Spec(msgspec.Struct, rename="camel", kw_only=True, omit_defaults=True):
    """Desired state of {article(words)}."""
{_spec(fields, words)}

class {kind}Status(msgspec.Struct, rename="camel", kw_only=True, omit_defaults=True):
    """Observed state of {article(words)}."""

    observed_generation: int = 0
    """Generation of the spec that this status describes."""
    conditions: Annotated[list[Condition], list_map("type")] = msgspec.field(default_factory=list)


@resource(
{body})
class {kind}(CustomResource):
    """{article(words).capitalize()}."""

    spec: {kind}Spec{default}
    status: {kind}Status | None = None
'''


def _import_order(name: str) -> tuple[bool, str]:
    """Classes come before functions, as ruff sorts them."""
    return name[0].islower(), name


def _spec(fields: Sequence[SpecField], words: str) -> str:
    lines = []
    for each in fields:
        default = f" = {_quoted(each.default)}" if each.default else ""
        lines.append(f"    {each.name}: {_quoted(each.type)}{default}")
        lines.append(f'    """{each.name.replace("_", " ").strip().capitalize()} of the {words}."""')
    return "".join(f"{line}\n" for line in ["", *lines]) if lines else ""


def _quoted(expression: str) -> str:
    """Return an expression with double quotes, as ruff formats it. Texts of fields have neither kind of quote."""
    return expression if '"' in expression else expression.replace("'", '"')


def object_text(inputs: Mapping[str, Any]) -> tuple[str, str]:
    """Return the name of a constant, and the statement that sets it to a valid object."""
    kind = inputs["kind"]
    constant = module_of(kind).strip("_").upper()
    fields = parse_fields(inputs["fields"])
    values = [f"{each.name}={_quoted(repr(each.sample))}" for each in fields if not each.default]
    spec = _call(f"spec={kind}Spec", values, 4)
    return constant, _call(f"{constant} = {kind}", ['metadata=ObjectMeta(name="example")', spec])


def _call(head: str, arguments: Sequence[str], indent: int = 0) -> str:
    """Return a call in one line, or as ruff formats one that is too long. `indent`: that of a nested call."""
    short = f"{head}({', '.join(arguments)})"
    if "\n" not in short and len(short) + (indent and indent + 1) <= LINE_LENGTH:
        return short
    joined = ", ".join(arguments)
    margin = " " * (indent + 4)
    if indent and len(joined) + len(margin) <= LINE_LENGTH:
        return f"{head}(\n{margin}{joined}\n{' ' * indent})"
    return f"{head}(\n" + "".join(f"{margin}{each},\n" for each in arguments) + f"{' ' * indent})"


def _sample(inputs: Mapping[str, Any], fields: Sequence[SpecField]) -> str:
    """Return the manifest of a valid object."""
    spec = "".join(f"  {each.json_name}: {json.dumps(each.sample)}\n" for each in fields if not each.default)
    return f"""\
apiVersion: {inputs["group"]}/{inputs["version"]}
kind: {inputs["kind"]}
metadata:
  name: example
spec:{chr(10) + spec if spec else " {}" + chr(10)}"""


def _reconcile(inputs: Mapping[str, Any]) -> str:
    package, kind, version = inputs["package"], inputs["kind"], inputs["version"]
    module, words = module_of(kind), words_of(kind)
    one, many = module.rstrip("_"), plural_of(kind)
    one = one if one not in ("request", "before", "status", "ready", "events", "manager") else f"{one}_"
    many = many if many not in ("requests", "events", "managers") else f"{many}_"
    client = f"{many}.in_namespace(request.namespace)" if inputs["namespaced"] else many
    everywhere = ', namespace=""' if inputs["namespaced"] else ""
    return f'''\
"""Controller of {several(kind)}."""

from copy import deepcopy

from sampan.client import NotFound
from sampan.operator import Builder, Condition, GenerationChanged, Manager, Request, patch_status, set_condition

from {package}.{module}.{version} import {kind}, {kind}Status


def set_up(manager: Manager) -> None:
    """Add the controller to the manager."""
    {many} = manager.client.resource({kind}{everywhere})
    events = manager.event_recorder("{many.rstrip("_")}")

    async def reconcile(request: Request) -> None:
        """Make the actual state match the spec. It may run at any time, and again after any failure."""
        try:
            before = await {client}.get(request.name)
        except NotFound:
            return
        {one} = deepcopy(before)
        generation = {one}.metadata.generation
        status = {one}.status = {one}.status or {kind}Status()

        # Create or change here what {one}.spec describes. If it cannot be done now, raise: it is tried again.

        status.observed_generation = generation
        ready = Condition(type="Ready", status="True", reason="Reconciled", observed_generation=generation)
        changed = set_condition(status.conditions, ready, manager.options.clock)
        await patch_status({many}, before, {one}, optimistic_lock=True)
        if changed:
            events.normal({one}, "Reconciled", "the {words} is as its spec describes")

    Builder(manager).for_({kind}, predicates=[GenerationChanged()]).complete(reconcile)
'''


def _test(inputs: Mapping[str, Any]) -> str:
    package, kind, version = inputs["package"], inputs["kind"], inputs["version"]
    module, words, plural = module_of(kind), words_of(kind), plural_of(kind)
    resource = f"{plural}.{inputs['group']}" if plural in BUILT_IN else plural
    constant, sample = object_text(inputs)
    what = f"{article(words)}".replace(" ", "_")
    return f'''\
"""Tests of {several(kind)}. Each test has an API server of its own, in virtual time."""

from sampan.resource import ObjectMeta
from sampan.testing import Cluster, has_condition
from sampan.testing.explore import explore, scenario

from {package}.{module}.reconcile import set_up
from {package}.{module}.{version} import {kind}, {kind}Spec

{sample}


async def test_{what}_becomes_ready(cluster: Cluster) -> None:
    await cluster.crds({kind})
    cluster.run(set_up)
    await cluster.apply({constant})
    await cluster.eventually("{resource}/example", has_condition("Ready"))


async def test_a_restart_changes_nothing(cluster: Cluster) -> None:
    await cluster.crds({kind})
    cluster.run(set_up)
    await cluster.apply({constant})
    await cluster.assert_idempotent()


@scenario(set_up, crds=[{kind}])
async def life_of_{what}(cluster: Cluster) -> None:
    await cluster.apply({constant})
    await cluster.settled()
    await cluster.delete({constant})


def test_no_fault_changes_the_end() -> None:
    report = explore(life_of_{what})
    assert not report.findings, report
'''
