"""Form for every kind without a describer: all fields, with their names in words."""

import re
from collections.abc import Iterator
from typing import Any

from sampan.cli.objects.describers.describer import DescribedObject, Describer, labelled, rows
from sampan.cli.objects.describers.values import ANNOTATIONS, LABELS, NAME, NAMESPACE

_HIDDEN = ("managedFields", "name", "namespace", "labels", "annotations", "selfLink")
_UPPER = {"api": "API", "uid": "UID", "url": "URL", "ip": "IP", "ips": "IPs", "id": "ID", "ca": "CA", "tls": "TLS"}
_words = re.compile(r"[A-Z]+s(?![a-z])|[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
_OF_USERS = frozenset(
    (
        "allocatable", "annotations", "binaryData", "capacity", "data", "hard", "labels", "limits", "matchLabels",
        "nodeSelector", "requests", "selector", "stringData", "used",
    )
)  # fmt: skip
"""Fields whose keys are chosen by users, or are units: their keys are shown unchanged."""


def in_words(name: str) -> str:
    """Return a field's name for people: `creationTimestamp` is `Creation Timestamp`. Other names are unchanged."""
    if not name.isalpha():
        return name
    return " ".join(_UPPER.get(word.lower(), word[:1].upper() + word[1:]) for word in _words.findall(name))


def _all_fields(subject: DescribedObject) -> Iterator[str]:
    obj = dict(subject.obj)
    metadata = obj.get("metadata") or {}
    obj["metadata"] = {name: value for name, value in metadata.items() if name not in _HIDDEN}
    yield from _fields({name: obj[name] for name in obj if name != "metadata" or obj[name]}, "")


def _fields(mapping: dict[str, Any], indent: str, *, verbatim: bool = False) -> Iterator[str]:
    """Yield the fields of a map, sorted; lists and maps are indented below their names.

    `verbatim`: the names are shown unchanged.
    """
    for name, value in sorted(mapping.items()):
        label = name if verbatim else in_words(name)
        if _is_deep(value):
            yield f"{indent}{label}:"
            yield from _below(value, indent + "  ", verbatim=name in _OF_USERS and not _has_deep(value))
        else:
            yield from labelled(label, _simple(value).split("\n"), indent)


def _below(value: Any, indent: str, *, verbatim: bool = False) -> Iterator[str]:
    if isinstance(value, dict):
        yield from _fields(value, indent, verbatim=verbatim)
        return
    for item in value:
        if _is_deep(item):
            yield from _below(item, indent)
        else:
            yield indent + _simple(item)


def _has_deep(value: Any) -> bool:
    """Return True if the value contains maps or lists. It is then not a map of a user's names to texts."""
    return not isinstance(value, dict) or any(map(_is_deep, value.values()))


def _is_deep(value: Any) -> bool:
    return isinstance(value, dict | list) and bool(value)


def _simple(value: Any) -> str:
    if value is None or value in ({}, []):
        return "<none>" if value is None else ""
    return str(value).lower() if isinstance(value, bool) else str(value).replace("\t", "    ")


GENERIC = Describer((rows(NAME, NAMESPACE, LABELS, ANNOTATIONS), _all_fields))
