"""`strip`: remove the fields that never have an owner.

Source: apimachinery pkg/util/managedfields/internal/stripmeta.go (1.36).
"""

from sampan.patch.fieldset import FieldSet

_STRIPPED_METADATA = frozenset(
    "f:" + name
    for name in (
        "name",
        "namespace",
        "creationTimestamp",
        "selfLink",
        "uid",
        "clusterName",
        "generation",
        "managedFields",
        "resourceVersion",
    )
)
_STRIPPED_ROOT = ("f:apiVersion", "f:kind")


def strip(fields: FieldSet) -> FieldSet:
    """Remove fields that never have an owner.

    These are apiVersion, kind, and metadata that identifies the object or is set by the server.
    """
    metadata = fields.get("f:metadata")
    if metadata is None and "f:apiVersion" not in fields and "f:kind" not in fields:
        return fields
    result = {element: below for element, below in fields.items() if element not in _STRIPPED_ROOT}
    if metadata is not None:
        rest = {
            element: below
            for element, below in metadata.items()
            if element not in _STRIPPED_METADATA and element != "."
        }
        if rest:
            result["f:metadata"] = rest
        else:
            del result["f:metadata"]
    return result
