"""Field ownership for clients that apply: read back applied fields; take over fields written by updates.

    mine = applied_fields(await deployments.get("web"), "my-manager")
    mine["spec"]["replicas"] = 3
    await deployments.apply(mine, field_manager="my-manager")

Source: client-go applyconfigurations `Extract…`, util/csaupgrade (1.36); structured-merge-diff fieldpath for the form.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sampan.client.patch import JsonPatch
from sampan.core.json.values import same
from sampan.resource import Object
from sampan.wire import json

Fields = Mapping[str, Any]
"""Field set (FieldsV1): `{"f:spec": {"f:replicas": {}}}`. List items have the prefix `k:` (by key), `v:` (by value) or
`i:` (by index). `.` is the map or item itself.
"""


def applied_fields(obj: Object, manager: str, *, subresource: str = "") -> Object:
    """Return the fields of an object that a manager has applied, ready to be changed and applied again.

    If the manager has applied nothing, the result only names the object. The result shares parts with `obj`. A map that
    was applied empty is returned with entries of other managers: `managedFields` do not distinguish it from an atomic
    map.

    Raises `ValueError` if the `managedFields` are malformed.
    """
    found: Object = {}
    for entry in _entries(obj):
        same_version = entry.get("apiVersion") == obj.get("apiVersion")
        if same_version and entry.get("fieldsV1") and _matches(entry, manager, "Apply", subresource):
            found = _extracted(obj, entry["fieldsV1"])
    metadata = obj.get("metadata") or {}
    names = {key: metadata[key] for key in ("name", "namespace") if metadata.get(key)}
    types: Object = {key: obj[key] for key in ("apiVersion", "kind") if key in obj}
    return {**types, **found, "metadata": {**names, **found.get("metadata", {})}}


def upgrade_managed_fields(
    obj: Object, updaters: Sequence[str], manager: str, *, subresource: str = ""
) -> JsonPatch | None:
    """Return a patch that turns fields written by updates into fields applied by `manager`; None if there are none.

    Without this patch, a later apply cannot remove fields that updates (or client-side `kubectl apply`) have set. The
    patch conflicts if the object has changed since. Raises `ValueError` as `applied_fields` does.
    """
    before = _entries(obj)
    after = before
    for updater in updaters:
        after = _upgraded(after, updater, manager, subresource)
    if same(after, before):
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


def _matches(entry: Fields, manager: str, operation: str, subresource: str) -> bool:
    actual = (entry.get("manager"), entry.get("operation"), entry.get("subresource") or "")
    return actual == (manager, operation, subresource)


def _upgraded(entries: list[dict[str, Any]], updater: str, manager: str, subresource: str) -> list[dict[str, Any]]:
    """Merge the updater's fields into the manager's entry and remove the updater's entries."""
    updates = [entry for entry in entries if _matches(entry, updater, "Update", subresource)]
    applied = next((entry for entry in entries if _matches(entry, manager, "Apply", subresource)), None)
    if not updates:
        return entries
    target = applied or updates[0]
    same_version = next((each for each in updates if each.get("apiVersion") == target.get("apiVersion")), None)
    fields = target.get("fieldsV1") or {}
    if same_version is not None:
        fields = _union(fields, same_version.get("fieldsV1") or {})
    united = {**target, "manager": manager, "operation": "Apply", "fieldsV1": fields}
    rest = [united if entry is target else entry for entry in entries]
    return [entry for entry in rest if not _matches(entry, updater, "Update", subresource)]


def _union(one: Fields, other: Fields) -> dict[str, Any]:
    if not one or not other:
        # `{}` is the item itself. In a set that also has children, it is written as a dot.
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
    """Yield the owned items in the object's order. Items owned by key include their keys, which identify them."""
    desired = [(key[:2], json.decode(key[2:].encode()), inner) for key, inner in children.items()]
    for index, item in enumerate(items):
        for form, value, inner in desired:
            if form == "k:" and isinstance(item, dict) and all(item.get(key) == each for key, each in value.items()):
                yield {**value, **_extracted(item, inner)}
            elif (form == "v:" and same(item, value)) or (form == "i:" and index == value):
                yield _extracted(item, inner)
