"""CustomResourceDefinitions from declared classes. The output is deterministic.

Source: apiextensions/v1 types.go (1.36).
"""

from collections.abc import Sequence
from typing import Any

from sampan.resource.constraints import RULES
from sampan.resource.declare import Column, Declaration, declaration
from sampan.resource.object_type import Object
from sampan.resource.schema import schema_of

API_VERSION = "apiextensions.k8s.io/v1"
API_APPROVED = "api-approved.kubernetes.io"


def crd_of(*versions: type[Any]) -> Object:
    """Return the CRD (`apiextensions.k8s.io/v1`) of a declared class, or of several classes for versions of one kind.

    Raises `TypeError` if a class is not declared or has no structural schema. It also raises if the classes are not
    versions of one kind: same group and names, different versions, exactly one stored.
    """
    declared = [declaration(cls) for cls in versions]
    _one_kind(declared)
    stored = next(each for each in declared if each.storage)
    info = stored.info
    names: dict[str, Any] = {
        "categories": list(info.categories),
        "kind": info.kind,
        "listKind": stored.list_kind,
        "plural": info.gvr.resource,
        "shortNames": list(info.short_names),
        "singular": info.singular,
    }
    metadata: dict[str, Any] = {"name": str(info.gvr.group_resource)}
    if stored.api_approved:
        metadata["annotations"] = {API_APPROVED: stored.api_approved}
    return {
        "apiVersion": API_VERSION,
        "kind": "CustomResourceDefinition",
        "metadata": metadata,
        "spec": {
            "group": info.gvr.group,
            "names": {name: value for name, value in names.items() if value},
            "scope": "Namespaced" if info.namespaced else "Cluster",
            "versions": [_version(cls, each) for cls, each in zip(versions, declared, strict=True)],
        },
    }


def _one_kind(declared: Sequence[Declaration]) -> None:
    if not declared:
        raise TypeError("a CRD needs at least one declared class")
    first = declared[0].info
    for each in declared[1:]:
        info = each.info
        if (info.gvr.group_resource, info.kind, info.namespaced) != (
            first.gvr.group_resource,
            first.kind,
            first.namespaced,
        ):
            raise TypeError(
                f"{info.gvk} and {first.gvk} are not versions of one kind: group, names and scope must agree"
            )
    if len({each.info.gvr.version for each in declared}) < len(declared):
        raise TypeError(f"{first.kind}: two classes declare the same version")
    stored = [each.info.gvr.version for each in declared if each.storage]
    if len(stored) != 1:
        raise TypeError(
            f"{first.kind}: exactly one version must be stored, not {len(stored)}: give the others storage=False"
        )


def _version(cls: type[Any], declared: Declaration) -> dict[str, Any]:
    version: dict[str, Any] = {
        "name": declared.info.gvr.version,
        "served": declared.served,
        "storage": declared.storage,
    }
    if declared.deprecated:
        version["deprecated"] = True
    if declared.deprecation_warning:
        version["deprecationWarning"] = declared.deprecation_warning
    version["schema"] = {"openAPIV3Schema": root_schema(cls)}
    subresources: dict[str, Any] = {}
    if declared.scale is not None:
        scale = declared.scale
        paths = {
            "specReplicasPath": scale.spec_replicas_path,
            "statusReplicasPath": scale.status_replicas_path,
            "labelSelectorPath": scale.label_selector_path,
        }
        subresources["scale"] = {name: path for name, path in paths.items() if path}
    if declared.status:
        subresources["status"] = {}
    if subresources:
        version["subresources"] = subresources
    if declared.selectable_fields:
        version["selectableFields"] = [{"jsonPath": path} for path in declared.selectable_fields]
    if declared.columns:
        version["additionalPrinterColumns"] = [_column(column) for column in declared.columns]
    return version


def root_schema(cls: type[Any]) -> dict[str, Any]:
    """Return the schema of the whole object, as in the CRD. It declares metadata only as an object.

    Raises `TypeError` if the class is not declared or has no structural schema.
    """
    declared = declaration(cls)
    schema = schema_of(cls)
    properties = {"apiVersion": {"type": "string"}, "kind": {"type": "string"}, **schema["properties"]}
    properties["metadata"] = {"type": "object"}
    schema["properties"] = properties
    if declared.rules:
        schema[RULES] = [rule.to_dict() for rule in declared.rules]
    return schema


def _column(column: Column) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "name": column.name,
        "type": column.type,
        "jsonPath": column.json_path,
        "format": column.format,
        "description": column.description,
        "priority": column.priority,
    }
    return {name: value for name, value in fields.items() if value}
