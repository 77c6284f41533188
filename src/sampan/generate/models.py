"""Python models from CustomResourceDefinitions, or from a server's OpenAPI v3 document."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sampan.core.gvk import GroupVersion
from sampan.generate.classes import ClassMaker, Schema
from sampan.generate.emit import module_source
from sampan.generate.names import group_names, snake_case
from sampan.resource.crd import API_APPROVED
from sampan.resource.declare import plural_of
from sampan.resource.info import ResourceInfo
from sampan.resource.object_type import Object

_GVK = "x-kubernetes-group-version-kind"
Arguments = dict[str, Any]


class ModelError(ValueError):
    """The input has nothing to generate models from; the message lists the content of the input."""


def module_name(group_version: GroupVersion, names: Mapping[str, str]) -> str:
    """Return the module name of a group and version: `samplecrd_v1`, `core_v1`. `names` are the groups' short names."""
    return f"{names[group_version.group]}_{snake_case(group_version.version)}"


def crd_model_files(manifests: Iterable[Object], folder: Path) -> dict[Path, bytes]:
    """Return a module for each group and version that the CRDs define. Other objects in the manifests are ignored.

    Raises `ModelError` if there is no CRD (`apiextensions.k8s.io/v1`), `FormatterMissing`.
    """
    makers: dict[GroupVersion, ClassMaker] = {}
    crds = [each for each in manifests if each.get("kind") == "CustomResourceDefinition"]
    for crd in sorted(crds, key=lambda each: str(each["metadata"]["name"])):
        if crd["apiVersion"] != "apiextensions.k8s.io/v1":
            raise ModelError(
                f"{crd['metadata']['name']} is {crd['apiVersion']}: only apiextensions.k8s.io/v1 is supported"
            )
        for version in crd["spec"]["versions"]:
            group_version = GroupVersion(crd["spec"]["group"], version["name"])
            maker = makers.setdefault(group_version, ClassMaker())
            schema = (version.get("schema") or {}).get("openAPIV3Schema") or {}
            maker.kind(crd["spec"]["names"]["kind"], schema, _crd_decorator(crd, version, schema))
    if not makers:
        raise ModelError("no CustomResourceDefinition in the manifests")
    return _files(makers, folder)


def openapi_model_files(
    document: Mapping[str, Any], resources: Sequence[ResourceInfo], folder: Path
) -> dict[Path, bytes]:
    """Return the module of one group and version of a server: its kinds, and all types that they use.

    `document` is the response of `/openapi/v3/apis/<group>/<version>`. Raises `ModelError`, `FormatterMissing`.
    """
    definitions: Mapping[str, Schema] = document.get("components", {}).get("schemas", {})
    group_version = resources[0].gvk.group_version
    maker = ClassMaker(definitions)
    for info in sorted(resources, key=lambda each: each.kind):
        schema = _schema_of_kind(definitions, info)
        if schema is not None:
            maker.kind(info.kind, schema, _decorator(_arguments_of(info, "status" in (schema.get("properties") or {}))))
    if not maker.classes:
        raise ModelError(f"the OpenAPI document has no kind of {group_version}")
    return _files({group_version: maker}, folder)


def _schema_of_kind(definitions: Mapping[str, Schema], info: ResourceInfo) -> Schema | None:
    desired = {"group": info.gvr.group, "version": info.gvr.version, "kind": info.kind}
    found = (schema for schema in definitions.values() if schema.get(_GVK) == [desired])
    return next((schema for schema in found if "metadata" in (schema.get("properties") or {})), None)


def _files(makers: Mapping[GroupVersion, ClassMaker], folder: Path) -> dict[Path, bytes]:
    files = {}
    names = group_names(each.group for each in makers)
    for group_version, maker in sorted(makers.items()):
        source = module_source(f"Kinds of {group_version}.", maker.classes)
        files[folder / f"{module_name(group_version, names)}.py"] = source
    return files


def _arguments_of(info: ResourceInfo, status_field: bool) -> Arguments:
    """Return the arguments of `resource` that differ from its defaults."""
    arguments: Arguments = {"group": info.gvr.group, "version": info.gvr.version}
    if info.gvr.resource != plural_of(info.kind):
        arguments["plural"] = info.gvr.resource
    if info.singular and info.singular != info.kind.lower():
        arguments["singular"] = info.singular
    for name in ("short_names", "categories"):
        if getattr(info, name):
            arguments[name] = tuple(getattr(info, name))
    if not info.namespaced:
        arguments["namespaced"] = False
    if status_field and "status" not in info.subresources:
        arguments["no_status"] = True
    return arguments


def _crd_decorator(crd: Object, version: Mapping[str, Any], schema: Schema) -> str:
    spec = crd["spec"]
    names, subresources = spec["names"], version.get("subresources") or {}
    arguments: Arguments = {"group": spec["group"], "version": version["name"]}
    kind = names["kind"]
    defaults = {"plural": plural_of(kind), "singular": kind.lower(), "listKind": f"{kind}List"}
    for key, name in (("plural", "plural"), ("singular", "singular"), ("listKind", "list_kind")):
        if names.get(key, defaults[key]) != defaults[key]:
            arguments[name] = names[key]
    for key, name in (("shortNames", "short_names"), ("categories", "categories")):
        if names.get(key):
            arguments[name] = tuple(names[key])
    if spec.get("scope") == "Cluster":
        arguments["namespaced"] = False
    if "status" in (schema.get("properties") or {}) and "status" not in subresources:
        arguments["no_status"] = True
    for key in ("served", "storage"):
        if not version.get(key):
            arguments[key] = False
    if version.get("deprecated"):
        arguments["deprecated"] = True
    if version.get("deprecationWarning"):
        arguments["deprecation_warning"] = version["deprecationWarning"]
    if approved := (crd["metadata"].get("annotations") or {}).get(API_APPROVED):
        arguments["api_approved"] = approved
    if version.get("selectableFields"):
        arguments["selectable_fields"] = tuple(each["jsonPath"] for each in version["selectableFields"])
    return _decorator(arguments, _structs(version, schema))


def _structs(version: Mapping[str, Any], schema: Schema) -> list[str]:
    """Return the arguments of `resource` that are instances of classes: columns, rules, scale."""
    arguments = []
    if columns := version.get("additionalPrinterColumns"):
        arguments.append(f"columns=({''.join(_struct('Column', _COLUMN, each) + ', ' for each in columns)})")
    if rules := schema.get("x-kubernetes-validations"):
        arguments.append(f"rules=({''.join(_struct('Rule', _RULE, each) + ', ' for each in rules)})")
    if scale := (version.get("subresources") or {}).get("scale"):
        arguments.append(f"scale={_struct('Scale', _SCALE, scale)}")
    return arguments


_COLUMN = {
    "name": "name",
    "jsonPath": "json_path",
    "type": "type",
    "format": "format",
    "description": "description",
    "priority": "priority",
}
_RULE = {
    "rule": "rule",
    "message": "message",
    "messageExpression": "message_expression",
    "fieldPath": "field_path",
    "reason": "reason",
    "optionalOldSelf": "optional_old_self",
}
_SCALE = {
    "specReplicasPath": "spec_replicas_path",
    "statusReplicasPath": "status_replicas_path",
    "labelSelectorPath": "label_selector_path",
}


def _struct(name: str, fields: Mapping[str, str], value: Mapping[str, Any]) -> str:
    return f"{name}({', '.join(f'{field}={value[key]!r}' for key, field in fields.items() if key in value)})"


def _decorator(values: Arguments, more: Sequence[str] = ()) -> str:
    arguments = [*(f"{name}={value!r}" for name, value in values.items()), *more, "lenient=True"]
    return f"@resource({', '.join(arguments)})"
