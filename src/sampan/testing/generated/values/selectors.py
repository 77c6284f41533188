"""Label selectors: their schemas have only texts, and a random text is no operator and rarely a label.

To repair these fields one by one took most of the time of a Deployment.
"""

from typing import Final

from sampan.core.object import Object
from sampan.schema.structural import Schema
from sampan.testing.generated.choices import Choices, pick
from sampan.testing.generated.values.formats import label

_REQUIREMENT: Final = frozenset({"key", "operator", "values"})
_WITH_VALUES: Final = ("In", "NotIn")
_OPERATORS: Final = ("Exists", "DoesNotExist", *_WITH_VALUES)
_LABELS: Final = frozenset({"labels", "matchLabels", "nodeSelector"})


def is_requirement(node: Schema) -> bool:
    """Return True for a condition of a selector: a key, an operator and values."""
    return node.properties.keys() == _REQUIREMENT


def requirement(choices: Choices) -> Object:
    """Return a condition for labels."""
    operator = pick(choices, _OPERATORS)
    found: Object = {"key": label(choices), "operator": operator}
    return {**found, "values": [label(choices)]} if operator in _WITH_VALUES else found


def field_requirement(choices: Choices) -> Object:
    """Return a condition for the fields of a Node: its name is the only one."""
    operator = pick(choices, _WITH_VALUES)
    return {"key": "metadata.name", "operator": operator, "values": [label(choices)]}


def has_labels(node: Schema, name: str) -> bool:
    """Return True for a map of labels; `name` is that of its field."""
    child = node.additional_properties
    return name in _LABELS and isinstance(child, Schema) and child.type == "string" and child.validations is None
