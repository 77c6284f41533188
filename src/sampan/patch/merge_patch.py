"""JSON merge patch (RFC 7386), as Kubernetes applies it.

Source: evanphx/json-patch merge.go (v4); apiserver pkg/endpoints/handlers/patch.go (1.36).
"""

from typing import Any

from sampan.core.deep_json import DeepJson, items
from sampan.core.errors import bad_request
from sampan.core.go_text import MAP, unmarshal_text
from sampan.core.json.deep_cut import cut
from sampan.core.json.deep_decode import inflated
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
    return cut(doc) if _merge(doc, copy_json(patch)) else doc


def _merge(doc: Object, patch: Object) -> bool:
    """Merge a patch. Return True if the result must be cut.

    Parts that are nested deeply are inflated if the patch contains them or reaches into them.
    """
    waiting, is_inflated = [(doc, patch)], False
    while waiting:
        target, changes = waiting.pop()
        for key, value in changes.items():
            if value is None:
                target.pop(key, None)
                continue
            current = target.get(key)
            if value.__class__ is DeepJson:
                value, is_inflated = inflated(value), True
            if current.__class__ is DeepJson and isinstance(value, dict):
                current, is_inflated = inflated(current), True
                target[key] = current
            if isinstance(current, dict):
                if isinstance(value, dict):
                    waiting.append((current, value))
                    continue
            else:
                _prune_nulls(value)
            target[key] = value
    return is_inflated


def _prune_nulls(value: Any) -> None:
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            for key in [key for key, item in one.items() if item is None]:
                del one[key]
        waiting.extend(item for item in items(one) if item.__class__ is dict or item.__class__ is list)
