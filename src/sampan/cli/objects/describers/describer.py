"""Describers: for each kind, the sections of its description and the other objects that they need.

A section is a function from a `DescribedObject` to lines whose cells are separated by tabs (`tabular.align`). Sections
do no I/O: the command reads the related objects first, as `Describer.related` defines.
"""

import datetime as dt
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sampan.client import ListOptions
from sampan.core.clock import utc_now
from sampan.resource import Object


@dataclass(frozen=True, slots=True)
class RelatedObjects:
    """A list of other objects: the resource, its namespace ("" for all namespaces) and selectors."""

    resource: str
    namespace: str = ""
    options: ListOptions = field(default_factory=ListOptions)


@dataclass(frozen=True, slots=True)
class DescribedObject:
    """An object to describe, with the related objects that were read for it."""

    obj: Object
    related: Mapping[str, Sequence[Object] | None] = field(default_factory=dict)
    """Other objects by the name of their query; None if they could not be read."""
    now: dt.datetime = field(default_factory=utc_now)


Section = Callable[[DescribedObject], Iterator[str]]
Value = str | Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Describer:
    """Description of one kind."""

    sections: Sequence[Section]
    related: Mapping[str, Callable[[Object], RelatedObjects]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DescriptionRow:
    """One labelled row: a field path such as `spec.priority`, or a function of the object.

    A list becomes several lines. A missing value is shown as `default`, or leaves the row out if that is None.
    """

    label: str
    value: Value
    show: Callable[[Any], Any] = lambda value: value
    default: str | None = None


def at(obj: Any, path: str) -> Any:
    """Return the value at a dotted path of fields, or None."""
    for name in path.split("."):
        if not isinstance(obj, dict):
            return None
        obj = obj.get(name)
    return obj


def rows(*table: DescriptionRow) -> Section:
    """Return the section that shows the rows of a table."""

    def section(subject: DescribedObject) -> Iterator[str]:
        yield from lines_of(table, subject.obj)

    return section


def lines_of(table: Sequence[DescriptionRow], obj: Any, indent: str = "") -> Iterator[str]:
    """Yield the lines of a table's rows for an object or a part of one."""
    for row in table:
        value = at(obj, row.value) if isinstance(row.value, str) else row.value(obj)
        if value is not None:
            yield from labelled(row.label, row.show(value), indent)
        elif row.default is not None:
            yield f"{indent}{row.label}:\t{row.default}"


def labelled(label: str, value: Any, indent: str = "") -> Iterator[str]:
    """Yield `label: value`; the further items of a list on separate lines, `<none>` for an empty list."""
    if not isinstance(value, list):
        yield f"{indent}{label}:\t{plain(value)}"
        return
    first, *others = value or ["<none>"]
    yield f"{indent}{label}:\t{first}"
    yield from (f"{indent}\t{line}" for line in others)


def table(title: str, header: Sequence[str], cells: Sequence[Sequence[Any]], indent: str = "  ") -> Iterator[str]:
    """Yield a table with a ruled header below a title; nothing without rows."""
    if not cells:
        return
    yield f"{title}:"
    yield indent + "\t".join(header)
    yield indent + "\t".join("-" * len(name) for name in header)
    for row in cells:
        yield indent + " \t".join(plain(cell) for cell in row)


def plain(value: Any) -> str:
    """Return the text of a value: `true`, not `True`; no line breaks or tabs that would break columns."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{' '.join(map(plain, value))}]"
    return "" if value is None else str(value).replace("\t", "    ").replace("\n", " ")
