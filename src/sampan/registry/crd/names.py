"""Who may use which names: within a group, plurals, singulars and short names are unique, and so are kinds and list
kinds.

First come, first served. Source: apiextensions pkg/controller/status/naming_controller.go (1.36).
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

from sampan.core.field import quote
from sampan.core.object import Object
from sampan.registry.crd.conditions import Condition, find_condition, is_true, make_condition

Names = dict[str, Any]

_FIELDS = (
    ("plural", "PluralConflict", "resources"),
    ("singular", "SingularConflict", "resources"),
    ("kind", "KindConflict", "kinds"),
    ("listKind", "ListKindConflict", "kinds"),
)


class Naming(NamedTuple):
    """What a CRD gets: its accepted names and the two conditions that say so."""

    accepted: Names
    names_accepted: Condition
    established: Condition


def resolve(crd: Object, others: Iterable[Object]) -> Naming:
    """Decide about a CRD's names, given the other CRDs of the cluster."""
    used = _used_names(crd, others)
    wanted: Names = crd["spec"]["names"]
    old: Names = (crd.get("status") or {}).get("acceptedNames") or {}
    accepted = dict(old)
    conflict: tuple[str, str] | None = None
    for name, reason, space in _FIELDS:
        requested = wanted.get(name, "")
        if requested != old.get(name) and requested in used[space]:
            conflict = (reason, _in_use(requested))
        else:
            accepted[name] = requested
    short_conflict = _short_names(wanted, old, accepted, used["resources"])
    conflict = conflict or short_conflict
    if wanted.get("categories"):
        accepted["categories"] = wanted["categories"]
    else:
        accepted.pop("categories", None)
    if conflict is None:
        names_accepted = make_condition("NamesAccepted", True, "NoConflicts", "no conflicts found")
    else:
        names_accepted = make_condition("NamesAccepted", False, *conflict)
    return Naming(accepted, names_accepted, _established(crd, conflict is None))


def _short_names(wanted: Names, old: Names, accepted: Names, used: set[str]) -> tuple[str, str] | None:
    requested, mine = wanted.get("shortNames") or [], old.get("shortNames") or []
    taken = [name for name in requested if name not in mine and name in used]
    if taken:
        texts = [_in_use(name) for name in taken]
        return "ShortNamesConflict", texts[0] if len(texts) == 1 else "[" + ", ".join(texts) + "]"
    if requested:
        accepted["shortNames"] = requested
    else:
        accepted.pop("shortNames", None)
    return None


def _established(crd: Object, accepted: bool) -> Condition:
    if is_true(crd, "Established"):
        condition = find_condition(crd, "Established")
        assert condition is not None
        return {k: condition[k] for k in ("type", "status", "reason", "message") if k in condition}
    if accepted:
        text = "the initial names have been accepted"
        return make_condition("Established", True, "InitialNamesAccepted", text)
    return make_condition("Established", False, "NotAccepted", "not all names are accepted")


def _used_names(crd: Object, others: Iterable[Object]) -> dict[str, set[str]]:
    resources: set[str] = set()
    kinds: set[str] = set()
    for other in others:
        if other["spec"]["group"] != crd["spec"]["group"] or other["metadata"]["name"] == crd["metadata"]["name"]:
            continue
        names = (other.get("status") or {}).get("acceptedNames") or {}
        resources.update(filter(None, (names.get("plural"), names.get("singular"), *(names.get("shortNames") or ()))))
        kinds.update(filter(None, (names.get("kind"), names.get("listKind"))))
    return {"resources": resources, "kinds": kinds}


def _in_use(name: str) -> str:
    return f"{quote(name)} is already in use"
