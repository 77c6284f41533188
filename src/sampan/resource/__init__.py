"""Objects in a program: resources, object types, metadata and declared kinds. No I/O.

`sampan.resource.crd` creates CRDs from declared kinds; `sampan.resource.validation` validates objects with them.
"""

from sampan.resource.constraints import (
    AnyObject,
    IntOrString,
    Quantity,
    atomic,
    doc,
    immutable,
    list_map,
    list_set,
    nullable,
    one_of,
    rule,
    rules,
    schema_part,
    text_format,
)
from sampan.resource.declare import (
    Column,
    CustomResource,
    Declaration,
    Rule,
    Scale,
    declaration,
    object_type,
    plural_of,
    resource,
)
from sampan.resource.info import ResourceInfo, TypedResource
from sampan.resource.meta import Metadata, ObjectMeta, OwnerReference, meta
from sampan.resource.object_type import Object, ObjectType, dynamic

__all__ = [
    "AnyObject",
    "Column",
    "CustomResource",
    "Declaration",
    "IntOrString",
    "Metadata",
    "Object",
    "ObjectMeta",
    "ObjectType",
    "OwnerReference",
    "Quantity",
    "ResourceInfo",
    "Rule",
    "Scale",
    "TypedResource",
    "atomic",
    "declaration",
    "doc",
    "dynamic",
    "immutable",
    "list_map",
    "list_set",
    "meta",
    "nullable",
    "object_type",
    "one_of",
    "plural_of",
    "resource",
    "rule",
    "rules",
    "schema_part",
    "text_format",
]
