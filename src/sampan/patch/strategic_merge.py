"""Strategic merge patch: a merge patch that merges lists by keys defined in the schema.

Directives: `$patch: delete|replace|merge`, `$retainKeys`, `$deleteFromPrimitiveList/<field>`,
`$setElementOrder/<field>`.
Source: apimachinery pkg/util/strategicpatch/{patch,meta}.go, third_party/forked/golang/json/fields.go;
apiserver pkg/endpoints/handlers/patch.go (1.36).
"""

from typing import Any

from sampan.core.errors import bad_request
from sampan.core.go_text import MAP, json_kind, plain, unmarshal_text
from sampan.core.object import Object
from sampan.patch import strategic_list
from sampan.patch.copying import copy_json
from sampan.patch.errors import unexpected
from sampan.schema.structural import Schema

_DIRECTIVE = "$patch"
_RETAIN_KEYS = "$retainKeys"
_DELETE_LIST = "$deleteFromPrimitiveList"
_SET_ORDER = "$setElementOrder"


def apply(doc: Object, patch: Any, schema: Schema | None) -> Object:
    """Return a new object: `doc` with `patch` merged into it as by `consume`. Shares nothing with either."""
    return consume(copy_json(doc), patch, schema)


def consume(doc: Object, patch: Any, schema: Schema | None) -> Object:
    """Merge `patch` into `doc`; `schema` is the root schema of the object's version.

    `doc` is changed and must not be used afterwards; the result shares nothing with `patch`. Without a schema the type
    has no strategic merge patch (400). Raises 400 for a malformed directive, 422 for lists of lists, and 500 for an
    item without its merge key, as Kubernetes does.
    """
    if schema is None:
        raise bad_request("strategic merge patch format is not supported")
    if patch is None:
        patch = {}
    if not isinstance(patch, dict):
        raise bad_request(unmarshal_text(patch, MAP))
    return merge_map(doc, copy_json(patch), schema)


def merge_map(original: Object, patch: Object, schema: Schema | None) -> Object:
    """Merge `patch` into `original`. May change both."""
    if _DIRECTIVE in patch:
        return _follow_directive(patch)
    # Most maps have no directive, and this path avoids three searches in each.
    if not any(key[:1] == "$" for key in patch):
        for key, value in patch.items():
            _merge_field(original, key, value, schema)
        return original
    # Kubernetes handles the directives in this order, and each removes its own key from the patch.
    _retain_keys(original, patch)
    _set_element_orders(original, patch, schema)
    for key, value in patch.items():
        if key.startswith(_DELETE_LIST):
            _delete_from_list(original, _field_of(key, _DELETE_LIST), value, schema)
        else:
            _merge_field(original, key, value, schema)
    return original


def _follow_directive(patch: Object) -> Object:
    directive = patch[_DIRECTIVE]
    if directive == "replace":
        del patch[_DIRECTIVE]
        return patch
    if directive == "delete":
        return {}
    raise unexpected(f"unknown patch type: {plain(directive)} in map: {plain(patch)}")


def _retain_keys(original: Object, patch: Object) -> None:
    """Drop the fields that `$retainKeys` does not list. Raises 400 if the patch sets a field that is not listed."""
    if _RETAIN_KEYS not in patch:
        return
    retained = patch.pop(_RETAIN_KEYS)
    if not isinstance(retained, list):
        raise bad_request("invalid patch format of retainKeys")
    for key, value in patch.items():
        if value is not None and not key.startswith((_DELETE_LIST, _SET_ORDER)) and key not in retained:
            raise bad_request("invalid patch format of retainKeys")
    for key in [key for key in original if key not in retained]:
        del original[key]


def _set_element_orders(original: Object, patch: Object, schema: Schema | None) -> None:
    """Merge the lists that have a `$setElementOrder`, and sort them in that order."""
    for directive in [key for key in patch if key.startswith(_SET_ORDER)]:
        order = patch.pop(directive)
        if not isinstance(order, list):
            raise _not_list(directive, order)
        key = _field_of(directive, _SET_ORDER)
        found, desired = original.get(key), patch.get(key)
        for value, present in ((found, key in original), (desired, key in patch)):
            if present and not isinstance(value, list):
                raise _not_list(key, value)
        field = _field(schema, key)
        merge_key = field.patch_merge_key
        strategic_list.check_order(desired or [], order, merge_key)
        # An order without a list has nothing to sort. kubectl sends it if all items were removed elsewhere.
        if found is None and desired is None:
            continue
        if desired is None:
            merged = found
        elif found is None:
            merged = _without_directives(desired)[0]
        else:
            found = list(found)
            merged = _merge_lists(found, list(desired), field)
        original[key] = strategic_list.in_order(merged or [], order, found or [], desired or [], merge_key)
        # The list is merged already. The loop over the other fields must not merge it again.
        patch.pop(key, None)


def _delete_from_list(original: Object, key: str, value: Any, schema: Schema | None) -> None:
    current = original.get(key)
    if value is None:
        original.pop(key, None)
    elif isinstance(current, list) and isinstance(value, list):
        field = _field(schema, key)
        # Kubernetes looks at the first item to learn the type, which is impossible for two empty lists.
        if not (current or value):
            return
        if strategic_list.are_maps(current, value):
            original[key] = _merge_items(current, value, field)
        else:
            original[key] = strategic_list.delete_scalars(current, value)
    elif isinstance(current, dict) and isinstance(value, dict):
        _merge_field(original, key, value, schema)
    # A quirk of Kubernetes: for values of other types, the directive replaces the field.
    elif key in original and current.__class__ is value.__class__:
        original[key] = value


def _merge_field(original: Object, key: str, value: Any, schema: Schema | None) -> None:
    if value is None:
        original.pop(key, None)
        return
    current = original.get(key)
    if isinstance(value, dict) and isinstance(current, dict):
        field = _field(schema, key)
        original[key] = value if _strategy(field) == "replace" else merge_map(current, value, field)
        return
    if isinstance(value, list) and isinstance(current, list):
        original[key] = _merge_lists(current, value, _field(schema, key))
        return
    # A null in a new map means "absent", as in JSON merge patch: there is no value that it could delete.
    if current is None or current.__class__ is not value.__class__:
        _discard_nulls(value)
    value, keep = _without_directives(value)
    if keep:
        original[key] = value
    else:
        original.pop(key, None)


def _merge_lists(original: list[Any], patch: list[Any], field: Schema) -> list[Any]:
    if _strategy(field) != "merge":
        return patch
    return _merge_items(original, patch, field)


def _merge_items(original: list[Any], patch: list[Any], field: Schema) -> list[Any]:
    merge_key = field.patch_merge_key
    items = field.items
    return strategic_list.merge(original, patch, merge_key, lambda left, right: merge_map(left, right, items))


def _field(schema: Schema | None, key: str) -> Schema:
    """Return the schema of a struct field. Raises 500 if the Go type is not a struct or has no such field."""
    if schema is None or not schema.properties:
        kind = "map" if schema is None or schema.type == "object" else "slice"
        raise unexpected(f"merging an object in json but data type is not struct, instead is: {kind}")
    field = schema.properties.get(key)
    if field is None:
        name = schema.name.rpartition(".")[2]
        raise unexpected(f'unable to find api field in struct {name} for the json field "{key}"')
    return field


def _strategy(field: Schema) -> str:
    """Return the strategy other than retainKeys: merge, replace or ""."""
    for strategy in field.patch_strategy:
        if strategy != "retainKeys":
            return strategy
    return ""


def _field_of(directive: str, prefix: str) -> str:
    name, slash, field = directive.partition("/")
    if not slash or name != prefix:
        kind = "primitive list" if prefix == _DELETE_LIST else "setElementOrder list"
        raise bad_request(f"invalid patch format of {kind}")
    return field


def _not_list(name: str, value: Any) -> Exception:
    return unexpected(f"{name} must be a list, but its type is {json_kind(value)}")


def _without_directives(value: Any) -> tuple[Any, bool]:
    """Remove directives from a value that the object does not have; False when the value is a directive itself."""
    if isinstance(value, dict):
        if _DIRECTIVE in value:
            return None, False
        for key in list(value):
            value[key], keep = _without_directives(value[key])
            if not keep:
                del value[key]
    elif isinstance(value, list):
        kept = (_without_directives(item) for item in value)
        return [item for item, keep in kept if keep], True
    return value, True


def _discard_nulls(value: Any) -> None:
    if isinstance(value, dict):
        for key in [key for key, item in value.items() if item is None]:
            del value[key]
        for item in value.values():
            _discard_nulls(item)
    elif isinstance(value, list):
        for item in value:
            _discard_nulls(item)
