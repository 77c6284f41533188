"""Names of CRDs: plural, singular and short names are unique in a group, and so are kinds and list kinds.

The first CRD that requests a name gets it. Source: apiextensions pkg/controller/status/naming_controller.go (1.36).
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from sampan.core.field import quote
from sampan.core.object import Object
from sampan.registry.crd.conditions import Condition, find_condition, is_true, make_condition
from sampan.registry.crd.validation.ca_bundle import ca_bundle_error, ca_bundle_of

Names = dict[str, Any]

_FIELDS = (
    ("plural", "PluralConflict", "resources"),
    ("singular", "SingularConflict", "resources"),
    ("kind", "KindConflict", "kinds"),
    ("listKind", "ListKindConflict", "kinds"),
)


class Naming(NamedTuple):
    """Result of the name check: the accepted names and the two conditions."""

    accepted: Names
    names_accepted: Condition
    established: Condition


Taken = Callable[[str, str], bool]
"""Predicate `taken(space, name)`: another CRD holds the name. The space is `resources` or `kinds`."""


class ClaimedNames:
    """Names that the CRDs of a cluster hold. The index saves reading the CRDs again."""

    def __init__(self) -> None:
        self._names: dict[str, Names] = {}
        self._holders: dict[tuple[str, str, str], set[str]] = {}
        self._losers: dict[str, set[str]] = {}

    def hold(self, crd: Object, names: Names, *, satisfied: bool) -> bool:
        """Record the names that a CRD holds. Return True if they have changed."""
        group, name = crd["spec"]["group"], crd["metadata"]["name"]
        losers = self._losers.setdefault(group, set())
        (losers.discard if satisfied else losers.add)(name)
        before = self._names.get(name)
        if before == names:
            return False
        self._drop(group, name)
        self._names[name] = names
        for key in _keys(group, names):
            self._holders.setdefault(key, set()).add(name)
        return True

    def release(self, crd: Object) -> None:
        """Release the names of a deleted CRD."""
        group, name = crd["spec"]["group"], crd["metadata"]["name"]
        self._drop(group, name)
        self._losers.get(group, set()).discard(name)

    def losers(self, crd: Object) -> list[str]:
        """Return the other CRDs of its group that lack a requested name."""
        return sorted(self._losers.get(crd["spec"]["group"], set()) - {crd["metadata"]["name"]})

    def taken(self, crd: Object) -> Taken:
        """Return a predicate for names that other CRDs of its group hold."""
        group, own = crd["spec"]["group"], {crd["metadata"]["name"]}
        return lambda space, name: bool(self._holders.get((group, space, name), set()) - own)

    def _drop(self, group: str, name: str) -> None:
        for key in _keys(group, self._names.pop(name, {})):
            holders = self._holders.get(key, set())
            holders.discard(name)
            if not holders:
                self._holders.pop(key, None)


def _keys(group: str, names: Names) -> list[tuple[str, str, str]]:
    resources = (names.get("plural"), names.get("singular"), *(names.get("shortNames") or ()))
    kinds = (names.get("kind"), names.get("listKind"))
    return [(group, "resources", name) for name in resources if name] + [
        (group, "kinds", name) for name in kinds if name
    ]


def resolve(crd: Object, taken: Taken) -> Naming:
    """Decide which names a CRD gets. `taken` reports the names of other CRDs."""
    desired: Names = crd["spec"]["names"]
    old: Names = (crd.get("status") or {}).get("acceptedNames") or {}
    accepted = dict(old)
    conflict: tuple[str, str] | None = None
    for name, reason, space in _FIELDS:
        requested = desired.get(name, "")
        if requested != old.get(name) and taken(space, requested):
            conflict = (reason, _in_use(requested))
        else:
            accepted[name] = requested
        if name == "singular":
            conflict = _short_names(desired, old, accepted, taken) or conflict
    _set_or_drop(accepted, "categories", desired.get("categories"))
    if conflict is None:
        names_accepted = make_condition("NamesAccepted", True, "NoConflicts", "no conflicts found")
    else:
        names_accepted = make_condition("NamesAccepted", False, *conflict)
    return Naming(accepted, names_accepted, _established(crd, conflict is None))


def _short_names(desired: Names, old: Names, accepted: Names, is_taken: Taken) -> tuple[str, str] | None:
    requested, mine = desired.get("shortNames") or [], old.get("shortNames") or []
    taken = [name for name in requested if name not in mine and is_taken("resources", name)]
    if taken:
        texts = [_in_use(name) for name in taken]
        return "ShortNamesConflict", texts[0] if len(texts) == 1 else "[" + ", ".join(texts) + "]"
    _set_or_drop(accepted, "shortNames", requested)
    return None


def _set_or_drop(names: Names, name: str, value: Any) -> None:
    if value:
        names[name] = value
    else:
        names.pop(name, None)


def _established(crd: Object, accepted: bool) -> Condition:
    if is_true(crd, "Established"):
        condition = find_condition(crd, "Established")
        assert condition is not None
        return {k: condition[k] for k in ("type", "status", "reason", "message") if k in condition}
    if accepted and ca_bundle_error(ca_bundle_of(crd)):
        text = "The conversion webhook CABundle is invalid"
        return make_condition("Established", False, "InvalidCABundle", text)
    if accepted:
        text = "the initial names have been accepted"
        return make_condition("Established", True, "InitialNamesAccepted", text)
    return make_condition("Established", False, "NotAccepted", "not all names are accepted")


def _in_use(name: str) -> str:
    return f"{quote(name)} is already in use"
