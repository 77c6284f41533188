"""Who owns which field, from an applier's side: read back what one has applied, take over from updates.

    mine = applied_fields(await deployments.get("web"), "my-manager")
    mine["spec"]["replicas"] = 3
    await deployments.apply(mine, field_manager="my-manager")

Source: client-go applyconfigurations `Extract…`, util/csaupgrade (1.36); structured-merge-diff fieldpath for the form.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sampan.client.patch import JsonPatch
from sampan.resource import Object
from sampan.wire import json

Fields = Mapping[str, Any]
"""FieldsV1: `{"f:spec": {"f:replicas": {}}}`. `k:` stands before list items by key, `v:` by value, `i:` by place; `.`
is the thing itself."""


def applied_fields(obj: Object, manager: str, *, subresource: str = "") -> Object:
    """What a manager has applied of an object, ready to be changed and applied again; others' fields are left out.

    Without such an entry it is just the object's name. It shares parts with `obj`. A map that was applied as empty
    and that others have filled comes with what they put in, as `managedFields` do not tell it from an atomic one.
    Raises `ValueError` when the `managedFields` cannot be read.
    """
    found: Object = {}
    for entry in _entries(obj):
        same_version = entry.get("apiVersion") == obj.get("apiVersion")
        if same_version and entry.get("fieldsV1") and _is(entry, manager, "Apply", subresource):
            found = _extracted(obj, entry["fieldsV1"])
    metadata = obj.get("metadata") or {}
    names = {key: metadata[key] for key in ("name", "namespace") if metadata.get(key)}
    types: Object = {key: obj[key] for key in ("apiVersion", "kind") if key in obj}
    return {**types, **found, "metadata": {**names, **found.get("metadata", {})}}


def upgrade_managed_fields(
    obj: Object, updaters: Sequence[str], manager: str, *, subresource: str = ""
) -> JsonPatch | None:
    """The patch that makes fields which were written by updates count as applied by `manager`; None if there are none.

    Without it, what `kubectl apply` of old or a program's updates have set stays when later applies leave it out. The
    patch conflicts when the object has changed meanwhile. Raises `ValueError` as `applied_fields`.
    """
    before = _entries(obj)
    after = before
    for updater in updaters:
        after = _upgraded(after, updater, manager, subresource)
    if after == before:
        return None
    version = (obj.get("metadata") or {}).get("resourceVersion", "")
    return JsonPatch(
        [
            {"op": "replace", "path": "/metadata/managedFields", "value": after},
            {"op": "replace", "path": "/metadata/resourceVersion", "value": version},
        ]
    )


def _entries(obj: Object) -> list[dict[str, Any]]:
    return (obj.get("metadata") or {}).get("managedFields") or []


def _is(entry: Fields, manager: str, operation: str, subresource: str) -> bool:
    said = (entry.get("manager"), entry.get("operation"), entry.get("subresource") or "")
    return said == (manager, operation, subresource)


def _upgraded(entries: list[dict[str, Any]], updater: str, manager: str, subresource: str) -> list[dict[str, Any]]:
    """The first entry of the updater becomes the manager's, or is united with it; its others go."""
    updates = [entry for entry in entries if _is(entry, updater, "Update", subresource)]
    applied = next((entry for entry in entries if _is(entry, manager, "Apply", subresource)), None)
    if not updates:
        return entries
    target = applied or updates[0]
    same_version = next((each for each in updates if each.get("apiVersion") == target.get("apiVersion")), None)
    fields = target.get("fieldsV1") or {}
    if same_version is not None:
        fields = _union(fields, same_version.get("fieldsV1") or {})
    united = {**target, "manager": manager, "operation": "Apply", "fieldsV1": fields}
    rest = [united if entry is target else entry for entry in entries]
    return [entry for entry in rest if not _is(entry, updater, "Update", subresource)]


def _union(one: Fields, other: Fields) -> dict[str, Any]:
    if not one or not other:
        # An empty set is the thing itself; with parts beside it, that is written as a dot.
        return {".": {}, **one, **other} if one or other else {}
    united = dict(one)
    for key, fields in other.items():
        united[key] = _union(united[key], fields) if key in united else fields
    return united


def _extracted(value: Any, fields: Fields) -> Any:
    children = {key: inner for key, inner in fields.items() if key != "."}
    if not children:
        return value
    if isinstance(value, list):
        return list(_extracted_items(value, children))
    if not isinstance(value, dict):
        return value
    named = {key[2:]: inner for key, inner in children.items() if key.startswith("f:")}
    return {key: _extracted(value[key], inner) for key, inner in named.items() if key in value}


def _extracted_items(items: list[Any], children: Fields) -> Iterator[Any]:
    """The items in the object's order; with their keys, without which nobody would know them."""
    wanted = [(key[:2], json.decode(key[2:].encode()), inner) for key, inner in children.items()]
    for index, item in enumerate(items):
        for form, said, inner in wanted:
            if form == "k:" and isinstance(item, dict) and all(item.get(key) == each for key, each in said.items()):
                yield {**said, **_extracted(item, inner)}
            elif (form == "v:" and item == said) or (form == "i:" and index == said):
                yield _extracted(item, inner)
