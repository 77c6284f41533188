"""Notation of the tables of roles.

A rule is a row of space-separated words: (verbs, API groups, resources), (verbs, API groups, resources, names) or
(verbs, paths). `core` is the group without a name.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

Row = tuple[str, ...]
Rows = Sequence[Row]

_CORE = "core"
_RESOURCE_FIELDS = ("verbs", "apiGroups", "resources", "resourceNames")
_PATH_FIELDS = ("verbs", "nonResourceURLs")


def rules(rows: Rows) -> list[dict[str, Any]]:
    """Return the PolicyRules of a role's rows. All roles with the same row share a rule: do not change it."""
    return [_rule(row) for row in rows]


@cache
def _rule(row: Row) -> dict[str, Any]:
    fields = _PATH_FIELDS if len(row) == len(_PATH_FIELDS) else _RESOURCE_FIELDS
    rule: dict[str, Any] = {name: words.split() for name, words in zip(fields, row, strict=False)}
    if "apiGroups" in rule:
        rule["apiGroups"] = ["" if group == _CORE else group for group in rule["apiGroups"]]
    return rule
