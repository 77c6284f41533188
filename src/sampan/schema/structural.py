"""`Schema`: what a value may be. One form for built-in types and for CustomResourceDefinitions.

A schema is a graph of nodes (built-in types may be recursive); a node is shared by all that refer to the same type.
"""

import enum
from dataclasses import dataclass, field
from typing import Any


class ListType(enum.StrEnum):
    """`x-kubernetes-list-type`: how lists merge and what must be unique."""

    ATOMIC = "atomic"
    SET = "set"
    MAP = "map"


class MapType(enum.StrEnum):
    """`x-kubernetes-map-type`: whether fields are owned one by one."""

    GRANULAR = "granular"
    ATOMIC = "atomic"


@dataclass(frozen=True, slots=True)
class ValidationRule:
    """One of `x-kubernetes-validations`."""

    rule: str
    message: str = ""
    message_expression: str = ""
    reason: str = ""
    field_path: str = ""
    optional_old_self: bool | None = None


@dataclass(slots=True)
class ValueValidations:
    """The keywords that restrict a value but not its shape. `None` = not given."""

    format: str | None = None
    maximum: float | None = None
    exclusive_maximum: bool = False
    minimum: float | None = None
    exclusive_minimum: bool = False
    max_length: int | None = None
    min_length: int | None = None
    pattern: str | None = None
    max_items: int | None = None
    min_items: int | None = None
    unique_items: bool = False
    multiple_of: float | None = None
    enum: list[Any] | None = None
    max_properties: int | None = None
    min_properties: int | None = None
    required: tuple[str, ...] = ()
    all_of: tuple["Schema", ...] = ()
    any_of: tuple["Schema", ...] = ()
    one_of: tuple["Schema", ...] = ()
    not_: "Schema | None" = None


UNSET: Any = type("Unset", (), {"__repr__": lambda self: "UNSET", "__bool__": lambda self: False})()
"""Told apart from JSON null."""


@dataclass(slots=True, eq=False)
class Schema:
    """One node. Mutable only while it is being built.

    `type` is object, array, string, integer, number, boolean, or "" (any type: int-or-string and preserve-unknown).
    `scalar` names a built-in scalar that is canonicalised on decode: quantity, time, micro-time, duration, bytes
    (base64), int-or-string, raw (any JSON value, kept as it is), fields-v1, json-schema-or (a JSON schema, in `items`,
    or a bool or a list); "" otherwise.
    """

    type: str = ""
    name: str = ""
    """The definition's name (`io.k8s.api.core.v1.Pod`) when this node is the root of a named type."""
    scalar: str = ""
    description: str = ""
    properties: dict[str, "Schema"] = field(default_factory=dict)
    additional_properties: "Schema | bool | None" = None
    items: "Schema | None" = None
    nullable: bool = False
    default: Any = UNSET
    validations: ValueValidations | None = None
    rules: tuple[ValidationRule, ...] = ()
    list_type: ListType | None = None
    list_map_keys: tuple[str, ...] = ()
    map_type: MapType | None = None
    patch_strategy: tuple[str, ...] = ()
    """Of strategic merge patch: subset of merge, replace, retainKeys."""
    patch_merge_key: str = ""
    int_or_string: bool = False
    preserve_unknown_fields: bool = False
    embedded_resource: bool = False
    fields: dict[str, str] = field(default_factory=dict)
    """Of a built-in type: how Go holds each property, as "<flags> <Go type>": p pointer, o omitempty, z omitzero."""
    derived: dict[Any, Any] | None = field(default=None, init=False, repr=False)
    """Results of functions of this schema: see `derived.py`."""
