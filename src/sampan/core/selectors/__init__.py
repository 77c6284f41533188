"""Label and field selectors: exports of the modules that implement them."""

from sampan.core.label_selectors import (
    EVERYTHING,
    NOTHING,
    Matcher,
    Operator,
    Requirement,
    Selector,
    new_requirement,
    selector_from_label_selector,
    selector_from_labels,
    selector_text,
)
from sampan.core.selectors.fields import (
    EVERY_FIELD,
    FieldRequirement,
    FieldSelector,
    escape_field_value,
    parse_fields,
)
from sampan.core.selectors.label_parser import parse_labels

__all__ = [
    "EVERYTHING",
    "EVERY_FIELD",
    "NOTHING",
    "FieldRequirement",
    "FieldSelector",
    "Matcher",
    "Operator",
    "Requirement",
    "Selector",
    "escape_field_value",
    "new_requirement",
    "parse_fields",
    "parse_labels",
    "selector_from_label_selector",
    "selector_from_labels",
    "selector_text",
]
