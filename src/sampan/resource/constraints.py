"""Constraints on fields, for `Annotated[...]`: the parts of a CRD's schema that Python types cannot express.

    cidr: Annotated[str, rule("isCIDR(self)", "must be a CIDR"), immutable(), doc("The addresses.")]

Lengths, ranges and patterns are msgspec's own: `msgspec.Meta(min_length=…, ge=…, pattern=…)`.
"""

from collections.abc import Sequence
from typing import Annotated, Any, Final

import msgspec

from sampan.resource.declare import Rule

RULES: Final = "x-kubernetes-validations"


def rule(rule: str, message: str = "", *, message_expression: str = "", reason: str = "") -> msgspec.Meta:
    """Add a CEL rule to the field; `self` is its value."""
    return rules(Rule(rule, message, message_expression, reason=reason))


def rules(*several: Rule) -> msgspec.Meta:
    """Add several CEL rules to the field."""
    return msgspec.Meta(extra_json_schema={RULES: [each.to_dict() for each in several]})


def immutable(message: str = "field is immutable") -> msgspec.Meta:
    """Forbid changes of the field once it is set. To combine it with other rules on the field, use `rules`."""
    return rule("self == oldSelf", message)


def doc(text: str) -> msgspec.Meta:
    """Describe the field for `kubectl explain`."""
    return msgspec.Meta(description=text)


def text_format(name: str) -> msgspec.Meta:
    """Set the format of a string: `ipv4`, `cidr`, `date-time`, `duration`, `uuid` …"""
    return msgspec.Meta(extra_json_schema={"format": name})


def list_map(*keys: str) -> msgspec.Meta:
    """Mark a list of objects as a map with these keys: items are merged by key."""
    return msgspec.Meta(extra_json_schema={"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": list(keys)})


def list_set() -> msgspec.Meta:
    """Mark a list as a set without duplicates, whose items are owned individually."""
    return msgspec.Meta(extra_json_schema={"x-kubernetes-list-type": "set"})


def atomic() -> msgspec.Meta:
    """Mark a list as atomic: it is replaced as a whole."""
    return msgspec.Meta(extra_json_schema={"x-kubernetes-list-type": "atomic"})


def nullable() -> msgspec.Meta:
    """Allow null as a value of the field."""
    return msgspec.Meta(extra_json_schema={"nullable": True})


def schema_part(**keywords: Any) -> msgspec.Meta:
    """Add any other keywords to the schema, spelt as in the CRD."""
    return msgspec.Meta(extra_json_schema=dict(keywords))


def one_of(values: Sequence[Any]) -> msgspec.Meta:
    """Restrict the field to these values, if neither `Literal` nor an Enum fits."""
    return msgspec.Meta(extra_json_schema={"enum": list(values)})


IntOrString = Annotated[int | str, schema_part(**{"x-kubernetes-int-or-string": True})]
"""An integer or a string: `8080`, `"http"`, `"25%"`."""

Quantity = Annotated[
    int | str, schema_part(**{"x-kubernetes-int-or-string": True}), doc("A quantity, such as 500m or 1Gi.")
]
"""A resource quantity: `500m`, `1Gi`, `2`."""

AnyObject = Annotated[dict[str, Any], schema_part(**{"x-kubernetes-preserve-unknown-fields": True})]
"""An object with any fields."""
