"""JSON merge patch (RFC 7386), as Kubernetes applies it.

Source: evanphx/json-patch merge.go (v4); apiserver pkg/endpoints/handlers/patch.go (1.36).
"""

from typing import Any

from sampan.core.errors import bad_request
from sampan.core.go_text import MAP, unmarshal_text
from sampan.core.object import Object
from sampan.patch.copying import copy_json


def apply(doc: Object, patch: Any) -> Object:
    """Return a new object: `doc` with `patch` merged into it as by `consume`. Shares nothing with either."""
    return consume(copy_json(doc), patch)


def consume(doc: Object, patch: Any) -> Object:
    """Merge `patch` into `doc`: null deletes a field, lists are replaced.

    `doc` is changed and must not be used afterwards; the result shares nothing with `patch`. Raises 400 when the patch
    is not an object.
    """
    if patch is None:
        raise bad_request("Invalid JSON Patch")
    if not isinstance(patch, dict):
        raise bad_request(f"error decoding patch: {unmarshal_text(patch, MAP)}")
    _merge(doc, copy_json(patch))
    return doc


def _merge(doc: Object, patch: Object) -> None:
    for key, value in patch.items():
        if value is None:
            doc.pop(key, None)
            continue
        current = doc.get(key)
        if isinstance(current, dict):
            if isinstance(value, dict):
                _merge(current, value)
                continue
        else:
            _prune_nulls(value)
        doc[key] = value


def _prune_nulls(value: Any) -> None:
    if isinstance(value, dict):
        for key in [key for key, item in value.items() if item is None]:
            del value[key]
        for item in value.values():
            _prune_nulls(item)
    elif isinstance(value, list):
        for item in value:
            _prune_nulls(item)
