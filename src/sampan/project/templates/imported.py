"""Files of a kind from a CRD: what `sampan create api --from` writes."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sampan.generate.emit import HEADER
from sampan.generate.formatting import FormatterMissing
from sampan.generate.models import ModelError, crd_model_files
from sampan.project.errors import ProjectError
from sampan.project.names import module_of
from sampan.project.templates.controller import controller_tests, reconcile_text
from sampan.project.templates.text import Files, FileText


def imported_files(inputs: Mapping[str, Any]) -> Files:
    """Return the files. `inputs`: package, kind, group, version, resource, namespaced, crd, external, controller.

    Raises `ProjectError` for a CRD without usable versions, or without ruff.
    """
    package, kind, crd = inputs["package"], inputs["kind"], inputs["crd"]
    module = module_of(kind)
    folder = f"src/{package}/{module}"
    files = {f"{folder}/__init__.py": FileText(f'"""The kind {kind}."""\n', "the package of the kind")}
    for version in crd["spec"]["versions"]:
        why = f"the kind {kind} in version {version['name']}, as its CRD declares it"
        files[f"{folder}/{version['name']}.py"] = FileText(_types(crd, version, inputs["external"]), why)
    if inputs["controller"]:
        imports = (f"from {package}.{module}.{inputs['version']} import {kind}\n", "")
        text = reconcile_text(inputs, kind, imports)
        files[f"{folder}/reconcile.py"] = FileText(text, f"acts on objects of the kind {kind}")
        test = controller_tests(inputs, inputs["version"])
        files[f"tests/test_{module}.py"] = FileText(test, "tests of the controller")
    return files


def _types(crd: Mapping[str, Any], version: Mapping[str, Any], external: bool) -> str:
    """Return the module of one version."""
    one = {**crd, "spec": {**crd["spec"], "versions": [version]}}
    try:
        [content] = crd_model_files([one], Path()).values()
    except (ModelError, FormatterMissing, KeyError, TypeError) as error:
        raise ProjectError(f"cannot make types of the CRD: {error}") from error
    text = content.decode().removeprefix(f"{HEADER}\n").lstrip()
    # Here sampan is a package of others, and texts of the CRD may be longer than a line.
    text = "# ruff: noqa: E501\n" + text.replace("import msgspec\n\nfrom sampan", "import msgspec\nfrom sampan", 1)
    if external:
        mark = '\nEXTERNAL = True\n"""Another program owns the CRD: it is applied only to a server in memory."""\n'
        at = text.index("\n__all__")
        text = text[:at] + mark + text[at:]
    return text
