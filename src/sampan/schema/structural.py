"""`Schema`: the allowed values of a type. One form for built-in types and CustomResourceDefinitions.

A schema is a graph of nodes (built-in types may be recursive); all references to a type share one node.
"""

import enum
from dataclasses import dataclass, field
from typing import Any


class ListType(enum.StrEnum):
    """Values of `x-kubernetes-list-type`: how lists merge, and whether items are unique."""

    ATOMIC = "atomic"
    SET = "set"
    MAP = "map"


class MapType(enum.StrEnum):
    """Values of `x-kubernetes-map-type`: whether fields are owned one by one."""

    GRANULAR = "granular"
    ATOMIC = "atomic"


@dataclass(frozen=True, slots=True)
class ValidationRule:
    """Rule of `x-kubernetes-validations`."""

    rule: str
    message: str = ""
    message_expression: str = ""
    reason: str = ""
    field_path: str = ""
    optional_old_self: bool | None = None


@dataclass(slots=True)
class ValueValidations:
    """Keywords that restrict a value but do not define its structure. `None` = not set."""

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
"""Marks a default or an old value as absent, as opposed to JSON null."""


@dataclass(slots=True, eq=False)
class Schema:
    """Node of a schema. Mutable only while it is being built.

    `type` is object, array, string, integer, number, boolean, or "" (any type: int-or-string and preserve-unknown).
    `scalar` names a built-in scalar that decoding canonicalizes: quantity, time, micro-time, duration, bytes (base64),
    int-or-string, raw (any JSON value, unchanged), fields-v1, json-schema-or (a JSON schema, in `items`, or a bool or a
    list); "" otherwise.
    """

    type: str = ""
    name: str = ""
    """Name of the definition (`io.k8s.api.core.v1.Pod`) if this node is the root of a named type."""
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
    """Strategies of strategic merge patch: subset of merge, replace, retainKeys."""
    patch_merge_key: str = ""
    int_or_string: bool = False
    preserve_unknown_fields: bool = False
    embedded_resource: bool = False
    fields: dict[str, str] = field(default_factory=dict)
    """Go's declaration of each property of a built-in type, as "<flags> <Go type>": p pointer, o omitempty, z omitzero.
    """
    derived: dict[Any, Any] | None = field(default=None, init=False, repr=False)
    """Cached results of functions of this schema: see `derived.py`."""
