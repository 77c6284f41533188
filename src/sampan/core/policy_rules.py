"""RBAC rules: evaluate PolicyRules, and report which rules are covered by other rules.

Source: kubernetes pkg/apis/rbac/v1/evaluation_helpers.go, component-helpers auth/rbac/validation/policy_comparator.go,
pkg/registry/rbac/validation/policy_compact.go (1.36).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, Final

from sampan.core.field import quote

ALL: Final = "*"

Rule = Mapping[str, Any]
"""PolicyRule as JSON: verbs, apiGroups, resources, resourceNames, nonResourceURLs."""

_NO_STRINGS: Final[Sequence[str]] = ()


def strings(rule: Rule, name: str) -> Sequence[str]:
    """Return a list of a rule; absent and null lists are empty."""
    found: Sequence[str] = rule.get(name) or _NO_STRINGS
    return found


def path_rule_allows(rule: Rule, verb: str, path: str) -> bool:
    """Report whether a rule allows a verb on a non-resource path."""
    return _has(strings(rule, "verbs"), verb) and any(
        url == ALL or url_covers(url, path) for url in strings(rule, "nonResourceURLs")
    )


def url_covers(owner: str, path: str) -> bool:
    """Report whether a nonResourceURL matches a path: equal, or equal up to its trailing stars."""
    return owner == path or (owner.endswith(ALL) and path.startswith(owner.rstrip(ALL)))


PARTS_MAX = 20_000
"""Limit of rule parts that are compared one by one; a rule can have billions of parts."""
UNCOVERED_MAX = 200


def uncovered(owned: Sequence[Rule], desired: Iterable[Rule]) -> list[Rule]:
    """Return the parts of `desired` that no rule of `owned` covers, as rules with one verb on one resource or URL.

    Returns at most `UNCOVERED_MAX` parts. Parts after the first `PARTS_MAX` count as not covered.
    """
    parts = (part for rule in desired if not any(_covers(owner, rule) for owner in owned) for part in parts_of(rule))
    found: list[Rule] = []
    for compared, part in enumerate(parts):
        if compared >= PARTS_MAX or not any(_covers(owner, part) for owner in owned):
            found.append(part)
            if len(found) == UNCOVERED_MAX:
                break
    return found


def comparisons(owned: Sequence[Rule], desired: Iterable[Rule]) -> int:
    """Return an estimate of the maximum number of comparisons that `uncovered` makes."""
    return len(owned) * min(PARTS_MAX, sum(map(_count_parts, desired)))


def _count_parts(rule: Rule) -> int:
    groups, resources, names, urls = (
        len(strings(rule, name)) for name in ("apiGroups", "resources", "resourceNames", "nonResourceURLs")
    )
    return 1 + len(strings(rule, "verbs")) * (groups * resources * max(names, 1) + urls)


def parts_of(rule: Rule) -> Iterator[Rule]:
    """Yield the same permissions as rules with one verb on one resource, name or URL each."""
    verbs, names = strings(rule, "verbs"), strings(rule, "resourceNames")
    for group, resource, verb in product(strings(rule, "apiGroups"), strings(rule, "resources"), verbs):
        part: dict[str, Any] = {"verbs": [verb], "apiGroups": [group], "resources": [resource]}
        if not names:
            yield part
        for name in names:
            yield {**part, "resourceNames": [name]}
    for url, verb in product(strings(rule, "nonResourceURLs"), verbs):
        yield {"verbs": [verb], "nonResourceURLs": [url]}


def compacted(rules: Iterable[Rule]) -> list[Rule]:
    """Merge rules for the same single resource that differ only in their verbs."""
    merged: list[Rule] = []
    simple: dict[tuple[str, str, tuple[str, ...]], dict[str, Any]] = {}
    for rule in rules:
        groups, resources, names = (strings(rule, name) for name in ("apiGroups", "resources", "resourceNames"))
        if len(names) > 1 or strings(rule, "nonResourceURLs") or len(groups) != 1 or len(resources) != 1:
            merged.append(rule)
            continue
        key = (groups[0], resources[0], tuple(names))
        if key in simple:
            simple[key]["verbs"] += strings(rule, "verbs")
        else:
            simple[key] = {**rule, "verbs": list(strings(rule, "verbs"))}
    return [*merged, *simple.values()]


def compact_text(rule: Rule) -> str:
    """Format a rule for error messages: `{APIGroups:[""], Resources:["pods"], Verbs:["get"]}`."""
    labels = ("APIGroups", "Resources", "NonResourceURLs", "ResourceNames", "Verbs")
    names = ("apiGroups", "resources", "nonResourceURLs", "resourceNames", "verbs")
    shown = (f"{label}:{quoted_list(strings(rule, name))}" for label, name in zip(labels, names, strict=True))
    return "{" + ", ".join(text for text in shown if not text.endswith(":[]")) + "}"


def quoted_list(values: Iterable[str]) -> str:
    """Format strings like Go's `%q` formats a slice: `["a" "b"]`."""
    return "[" + " ".join(quote(value) for value in values) + "]"


def _has(values: Sequence[str], value: str) -> bool:
    return value in values or ALL in values


def _covers(owner: Rule, part: Rule) -> bool:
    """Report whether one rule allows everything that `part` allows."""
    if not (_has_all(owner, part, "verbs") and _has_all(owner, part, "apiGroups")):
        return False
    owned = strings(owner, "resources")
    for resource in strings(part, "resources"):
        _, slash, subresource = resource.partition("/")
        if not _has(owned, resource) and not (slash and f"*/{subresource}" in owned):
            return False
    for path in strings(part, "nonResourceURLs"):
        if not any(url_covers(url, path) for url in strings(owner, "nonResourceURLs")):
            return False
    names = strings(owner, "resourceNames")
    desired = strings(part, "resourceNames")
    return not names or (bool(desired) and all(name in names for name in desired))


def _has_all(owner: Rule, part: Rule, name: str) -> bool:
    owned = strings(owner, name)
    return all(_has(owned, value) for value in strings(part, name))
