"""Files of a controller of a kind that the project does not own: a built-in one, or one from a CRD."""

from collections.abc import Mapping
from typing import Any

from sampan.project.names import BUILT_IN, article, module_of, several, words_of
from sampan.project.templates.text import Files, FileText


def controller_files(inputs: Mapping[str, Any]) -> Files:
    """Return the files. `inputs`: package, kind, group, version, resource, namespaced."""
    module = module_of(inputs["kind"])
    folder, many = f"src/{inputs['package']}/{module}", several(inputs["kind"])
    declared = f"""\
{module.strip("_").upper()} = ResourceInfo(
    GroupVersionResource("{inputs["group"]}", "{inputs["version"]}", "{inputs["resource"]}"),
    "{inputs["kind"]}",
    namespaced={inputs["namespaced"]},
)
"""
    imports = (
        "from sampan.core.gvk import GroupVersionResource\n",
        "from sampan.resource import ResourceInfo\n",
    )
    return {
        f"{folder}/__init__.py": FileText(f'"""Controller of {many}."""\n', "the package of the controller"),
        f"{folder}/reconcile.py": FileText(
            reconcile_text(inputs, module.strip("_").upper(), imports, declared), f"acts on {many}"
        ),
        f"tests/test_{module}.py": FileText(controller_tests(inputs), "tests of the controller"),
    }


def reconcile_text(inputs: Mapping[str, Any], kind: str, imports: tuple[str, str], declared: str = "") -> str:
    """Return the module of a controller that only reads. `kind`: name of the class or the `ResourceInfo`."""
    module, plural = module_of(inputs["kind"]), inputs["resource"]
    one = {"request": "request_", "event": "event_"}.get(module, module.rstrip("_"))
    many = {"requests": "requests_"}.get(plural, plural)
    where = f"{many}.in_namespace(request.namespace)" if inputs["namespaced"] else many
    everywhere = ', namespace=""' if inputs["namespaced"] else ""
    before, after = imports
    typed = not declared
    generation = f"{one}.metadata.generation" if typed else f'{one}["metadata"].get("generation")'
    third = "from sampan.client import NotFound\n" + ("" if typed else before)
    third += "from sampan.operator import Builder, Manager, Request\n" + ("" if typed else after)
    own = f"\n{before}" if typed else ""
    owner = ", which belong to another program" if inputs.get("external", True) else ""
    return f'''\
"""Controller of {several(inputs["kind"])}{owner}."""

import logging

{third}{own}
log = logging.getLogger(__name__)
{declared and chr(10) + declared}

def set_up(manager: Manager) -> None:
    """Add the controller to the manager."""
    {many} = manager.client.resource({kind}{everywhere})

    async def reconcile(request: Request) -> None:
        """Act on the object. It may run at any time, and again after any failure."""
        try:
            {one} = await {where}.get(request.name)
        except NotFound:
            return
        # Act here on what {one} describes; change only objects and fields that are yours.
        log.info("observed", extra={{"generation": {generation}}})

    Builder(manager).for_({kind}).named("{module.strip("_").replace("_", "-")}").complete(reconcile)
'''


def controller_tests(inputs: Mapping[str, Any], typed: str = "") -> str:
    """Return the tests. `typed`: module with the class of the kind; empty for a built-in kind."""
    package, module, kind = inputs["package"], module_of(inputs["kind"]), inputs["kind"]
    what = article(words_of(kind)).replace(" ", "_")
    plural = inputs["resource"]
    name = f'"{plural}.{inputs["group"]}"' if inputs["group"] and plural in BUILT_IN else f'"{kind}"'
    built = kind if typed else name if "." in name else f'"{kind}"'
    crd = f"    await cluster.crds({kind})\n" if typed else ""
    more = f"from {package}.{module}.{typed} import {kind}\n" if typed else ""
    return f'''\
"""Tests of the controller of {several(kind)}."""

from sampan.testing import Cluster

from {package}.{module}.reconcile import set_up
{more}

async def test_{what}_is_observed(cluster: Cluster) -> None:
{crd}    operator = cluster.run(set_up)
    await cluster.apply(cluster.build({built}, "example"))
    await cluster.settled()
    assert "example" in {{each.name for each in operator.reconciles}}


async def test_a_restart_changes_nothing(cluster: Cluster) -> None:
{crd}    cluster.run(set_up)
    await cluster.apply(cluster.build({built}, "example"))
    await cluster.assert_idempotent()
'''
