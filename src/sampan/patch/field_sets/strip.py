"""`strip`: remove the fields that never have an owner.

Source: apimachinery pkg/util/managedfields/internal/stripmeta.go (1.36).
"""

from sampan.patch.field_sets.fieldset import FieldSet

_STRIPPED_METADATA = frozenset(
    {
        ".",
        "f:name",
        "f:namespace",
        "f:creationTimestamp",
        "f:selfLink",
        "f:uid",
        "f:clusterName",
        "f:generation",
        "f:managedFields",
        "f:resourceVersion",
    }
)
_STRIPPED_ROOT = ("f:apiVersion", "f:kind")


def strip(fields: FieldSet) -> FieldSet:
    """Remove fields that never have an owner.

    These are apiVersion, kind, and metadata that identifies the object or is set by the server.
    """
    metadata = fields.get("f:metadata")
    if metadata is None and "f:apiVersion" not in fields and "f:kind" not in fields:
        return fields
    result = fields.copy()
    for element in _STRIPPED_ROOT:
        result.pop(element, None)
    if metadata is not None:
        if metadata.keys() <= _STRIPPED_METADATA:
            del result["f:metadata"]
        else:
            result["f:metadata"] = {
                element: below for element, below in metadata.items() if element not in _STRIPPED_METADATA
            }
    return result
