"""What a field may hold, for `Annotated[...]`: the parts of a CRD's schema that Python's types cannot say.

    cidr: Annotated[str, rule("isCIDR(self)", "must be a CIDR"), immutable(), doc("The addresses.")]

Lengths, ranges and patterns are msgspec's own: `msgspec.Meta(min_length=…, ge=…, pattern=…)`.
"""

from collections.abc import Sequence
from typing import Annotated, Any, Final

import msgspec

from sampan.resource.declare import Rule

RULES: Final = "x-kubernetes-validations"


def rule(rule: str, message: str = "", *, message_expression: str = "", reason: str = "") -> msgspec.Meta:
    """A CEL rule on the field; `self` is its value."""
    return rules(Rule(rule, message, message_expression, reason=reason))


def rules(*several: Rule) -> msgspec.Meta:
    """Several CEL rules on the field."""
    return msgspec.Meta(extra_json_schema={RULES: [each.to_dict() for each in several]})


def immutable(message: str = "field is immutable") -> msgspec.Meta:
    """The field cannot be changed once it is set. (With another rule on the same field, use `rules` for both.)"""
    return rule("self == oldSelf", message)


def doc(text: str) -> msgspec.Meta:
    """The field's description, as `kubectl explain` shows it."""
    return msgspec.Meta(description=text)


def text_format(name: str) -> msgspec.Meta:
    """The format of a text: `ipv4`, `cidr`, `date-time`, `duration`, `uuid` …"""
    return msgspec.Meta(extra_json_schema={"format": name})


def list_map(*keys: str) -> msgspec.Meta:
    """A list of objects that is a map by these keys: items are merged by key."""
    return msgspec.Meta(extra_json_schema={"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": list(keys)})


def list_set() -> msgspec.Meta:
    """A list without duplicates, whose items are owned one by one."""
    return msgspec.Meta(extra_json_schema={"x-kubernetes-list-type": "set"})


def atomic() -> msgspec.Meta:
    """A list that is replaced as a whole."""
    return msgspec.Meta(extra_json_schema={"x-kubernetes-list-type": "atomic"})


def nullable() -> msgspec.Meta:
    """The field may hold null (and not merely be absent)."""
    return msgspec.Meta(extra_json_schema={"nullable": True})


def schema_part(**keywords: Any) -> msgspec.Meta:
    """Any other keywords of the schema, as they stand in the CRD."""
    return msgspec.Meta(extra_json_schema=dict(keywords))


def one_of(values: Sequence[Any]) -> msgspec.Meta:
    """An enumeration of values, where `Literal` or an Enum does not do."""
    return msgspec.Meta(extra_json_schema={"enum": list(values)})


IntOrString = Annotated[int | str, schema_part(**{"x-kubernetes-int-or-string": True})]
"""A number or a text: `8080`, `"http"`, `"25%"`."""

Quantity = Annotated[
    int | str, schema_part(**{"x-kubernetes-int-or-string": True}), doc("A quantity, such as 500m or 1Gi.")
]
"""An amount: `500m`, `1Gi`, `2`."""

AnyObject = Annotated[dict[str, Any], schema_part(**{"x-kubernetes-preserve-unknown-fields": True})]
"""An object of any shape."""
