"""YAML with Helm expressions: objects become text, and some of their values come from the chart's values.

An object is a tree of dicts, lists and scalars. These further nodes stand for expressions:

    Expression('.Values.replicas', quoted=False)            a scalar
    When('.Values.webhooks.enabled', node)                  a value or list item that may be absent
    Lines('{{- toYaml .Values.env | nindent AT }}')         lines in a list or dict; AT is their indentation
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

AT: Final = "\0"
"""Stands for the indentation in `Lines`; no text of an object contains it."""
BELOW: Final = "\1"
"""Stands for the indentation of a level below."""
_INDENT: Final = 2
_BRACES: Final = re.compile(r"\{\{|\}\}")
_PLAIN: Final = re.compile(r"[A-Za-z/][A-Za-z0-9_./-]*")
_RESERVED: Final = frozenset({"true", "false", "yes", "no", "on", "off", "y", "n", "null", "nan", "inf"})
_UNPRINTABLE: Final = re.compile("[\x7f-\x9f\u2028\u2029\ufeff]")
"""Characters that JSON permits in a text, but YAML does not."""


@dataclass(frozen=True, slots=True)
class Expression:
    """Scalar that Helm computes, without its braces."""

    value: str
    quoted: bool = True
    """It is a text, also if it looks like a number."""


@dataclass(frozen=True, slots=True)
class When:
    """Value of a key, or item of a list, that is present if a condition holds."""

    condition: str
    node: Any
    otherwise: Any = None


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines that Helm computes: items of a list, or a whole value. `AT` stands for their indentation."""

    text: str


def to_template(node: Any) -> str:
    """Return the text of an object. Braces in its texts stay what they are: Helm does not evaluate them."""
    return "\n".join(_block(node, 0)) + "\n"


def literal(value: Any) -> str:
    """Return a template literal: an expression that gives a scalar or a tree of texts, for arguments of functions."""
    if isinstance(value, Expression):
        return f"({value.value})"
    if isinstance(value, Mapping):
        return "(dict" + "".join(f" {literal(key)} {literal(each)}" for key, each in value.items()) + ")"
    return json.dumps(value, ensure_ascii=False)


def depends(node: Any) -> bool:
    """Return True if a part of the tree is computed by Helm."""
    if isinstance(node, Mapping):
        return any(map(depends, node.values()))
    return any(map(depends, node)) if isinstance(node, list | tuple) else isinstance(node, Expression | When | Lines)


def _block(node: Any, depth: int) -> list[str]:
    if isinstance(node, Lines):
        return [_indented(line, depth) for line in node.text.splitlines()]
    if isinstance(node, Mapping):
        return [line for key, value in node.items() for line in _entry(key, value, depth)]
    return [line for item in node for line in _item(item, depth)]


def _entry(key: str, value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, When):
        yield from _guarded(value, depth, lambda node: _entry(key, node, depth))
        return
    if isinstance(value, Lines) and not key:
        yield from _block(value, depth)
        return
    head = " " * depth + _scalar(key) + ":"
    if _is_inline(value):
        yield f"{head} {_scalar(value)}"
    else:
        yield head
        yield from _block(value, depth if isinstance(value, Sequence) else depth + _INDENT)


def _item(item: Any, depth: int) -> Iterator[str]:
    if isinstance(item, When):
        yield from _guarded(item, depth, lambda node: _item(node, depth))
    elif isinstance(item, Lines):
        yield from _block(item, depth)
    elif _is_inline(item):
        yield " " * depth + f"- {_scalar(item)}"
    else:
        lines = _block(item, depth + _INDENT)
        first = next(index for index, line in enumerate(lines) if not line.lstrip().startswith("{{-"))
        if first:
            raise ValueError("the first key of an item must not be conditional")
        yield " " * depth + "- " + lines[0].lstrip()
        yield from lines[1:]


def _guarded(node: When, depth: int, lines_of: Any) -> Iterator[str]:
    margin = " " * depth
    yield f"{margin}{{{{- if {node.condition} }}}}"
    yield from lines_of(node.node)
    if node.otherwise is not None:
        yield f"{margin}{{{{- else }}}}"
        yield from lines_of(node.otherwise)
    yield f"{margin}{{{{- end }}}}"


def _is_inline(value: Any) -> bool:
    return not isinstance(value, Lines) and not (isinstance(value, Mapping | list | tuple) and value)


def _indented(line: str, depth: int) -> str:
    return " " * depth + line.replace(AT, str(depth)).replace(BELOW, str(depth + _INDENT))


def _scalar(value: Any) -> str:
    if isinstance(value, Expression):
        return f"{{{{ {value.value} | quote }}}}" if value.quoted else f"{{{{ {value.value} }}}}"
    if isinstance(value, str):
        if _PLAIN.fullmatch(value) and value.lower() not in _RESERVED:
            return value
        text = json.dumps(value, ensure_ascii=False)
        text = _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
        return _BRACES.sub(lambda found: f'{{{{ "{found[0]}" }}}}', text)
    return "{}" if isinstance(value, Mapping) else json.dumps(value)
