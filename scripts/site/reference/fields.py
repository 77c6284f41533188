"""Tables of fields: name and meaning. The meaning begins with the type. Two columns fit on a phone too."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from scripts.site.reference.markdown import code, plain, table
from scripts.site.reference.types import definition_of, short_name

Json = Mapping[str, Any]
LinkOf = Callable[[str], str]
"""Returns the link to the description of a definition."""

HEAD: Final = ("field", "meaning")
_SHORT_MAX: Final = 260
_SENTENCE_END: Final = re.compile(r"(?<![.ei]\.[a-z])(?<=[.:]) +(?=[A-Z\"'`(])")
_LINK: Final = re.compile(r"\[([^\]]+)\]\(https?:[^)]*\)")
_OMITTED: Final = ("More info", "This is a pointer", "If you see", "+optional", "+k8s:", "http")
"""Beginnings of sentences that are left out: addresses outside, and how the field is declared in Go."""
_FORMATS: Final = {
    "int32": "integer (32 bits)",
    "int64": "integer (64 bits)",
    "double": "number",
    "byte": "string (base64)",
    "date-time": "string (date and time)",
}


def field_table(node: Json, link_of: LinkOf) -> list[str]:
    """Return the table of the fields of an object type."""
    required = node.get("required", ())
    fields = node.get("properties", {}).items()
    return table(HEAD, [field_row(name, field, type_of(field, link_of), name in required) for name, field in fields])


def field_row(name: str, field: Json, type_text: str, required: bool) -> tuple[str, str]:
    """Return the row of a field."""
    value = field.get("default")
    default = "" if value in (None, {}, "") else f", default {code(json.dumps(value))}"
    facts = f"*{type_text}*{', required' if required else ''}{default}."
    return code(name), f"{facts} {plain(short(str(field.get('description', ''))))}"


def type_of(node: Json, link_of: LinkOf) -> str:
    """Return the type of a field, with a link to the description of an object."""
    name = definition_of(node)
    if name:
        return link_of(name)
    kind = str(node.get("type", ""))
    if kind == "array":
        return f"list of {type_of(node.get('items', {}), link_of)}"
    values = node.get("additionalProperties")
    if kind == "object" and isinstance(values, dict):
        return f"map of {type_of(values, link_of)}"
    if "oneOf" in node:
        return " or ".join(type_of(each, link_of) for each in node["oneOf"])
    if "enum" in node:
        return f"one of {', '.join(code(str(value)) for value in node['enum'])}"
    if node.get("x-kubernetes-int-or-string"):
        return "integer or string"
    return _FORMATS.get(str(node.get("format", "")), kind or "any value")


def short(text: str) -> str:
    """Return the first sentence or two of a description: at most `_SHORT_MAX` characters, if a sentence ends there."""
    found, *more = sentences_of(text) or [""]
    for sentence in more:
        if len(found) + len(sentence) > _SHORT_MAX:
            break
        found += f" {sentence}"
    return found


def sentences_of(text: str) -> list[str]:
    """Return the sentences of a description without addresses."""
    text = _LINK.sub(r"\1", " ".join(text.split()))
    return [each for each in _SENTENCE_END.split(text) if not each.startswith(_OMITTED)]


def sections(names: list[str], node_of: Callable[[str], Json], link_of: LinkOf) -> Iterator[str]:
    """Yield a section for each object type, with the table of its fields."""
    for name in names:
        node = node_of(name)
        yield from (f"## {short_name(name)}", "")
        if node.get("description"):
            yield from (plain(short(node["description"])), "")
        yield from (*field_table(node, link_of), "")
