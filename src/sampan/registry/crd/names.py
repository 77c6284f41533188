"""Who may use which names: within a group, plurals, singulars and short names are unique, and so are kinds and list
kinds.

First come, first served. Source: apiextensions pkg/controller/status/naming_controller.go (1.36).
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from sampan.core.field import quote
from sampan.core.object import Object
from sampan.registry.crd.ca_bundle import ca_bundle_error, ca_bundle_of
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


Taken = Callable[[str, str], bool]
"""Whether another CRD holds a name: `taken(space, name)`, the space being `resources` or `kinds`."""


class Claims:
    """The names that the CRDs of a cluster hold, kept beside the CRDs, so that none has to be read again."""

    def __init__(self) -> None:
        self._names: dict[str, Names] = {}
        self._holders: dict[tuple[str, str, str], set[str]] = {}
        self._losers: dict[str, set[str]] = {}

    def hold(self, crd: Object, names: Names, *, satisfied: bool) -> bool:
        """Note what a CRD holds; tells whether that changed."""
        group, name = crd["spec"]["group"], crd["metadata"]["name"]
        losers = self._losers.setdefault(group, set())
        (losers.discard if satisfied else losers.add)(name)
        before = self._names.get(name)
        if before == names:
            return False
        self._let_go(group, name)
        self._names[name] = names
        for key in _keys(group, names):
            self._holders.setdefault(key, set()).add(name)
        return True

    def release(self, crd: Object) -> None:
        """A CRD has gone."""
        group, name = crd["spec"]["group"], crd["metadata"]["name"]
        self._let_go(group, name)
        self._losers.get(group, set()).discard(name)

    def losers(self, crd: Object) -> list[str]:
        """The other CRDs of its group that did not get all that they want."""
        return sorted(self._losers.get(crd["spec"]["group"], set()) - {crd["metadata"]["name"]})

    def taken(self, crd: Object) -> Taken:
        """Whether other CRDs of its group hold a name."""
        group, own = crd["spec"]["group"], {crd["metadata"]["name"]}
        return lambda space, name: bool(self._holders.get((group, space, name), set()) - own)

    def _let_go(self, group: str, name: str) -> None:
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
    """Decide about a CRD's names; `taken` knows those that others hold."""
    wanted: Names = crd["spec"]["names"]
    old: Names = (crd.get("status") or {}).get("acceptedNames") or {}
    accepted = dict(old)
    conflict: tuple[str, str] | None = None
    for name, reason, space in _FIELDS:
        requested = wanted.get(name, "")
        if requested != old.get(name) and taken(space, requested):
            conflict = (reason, _in_use(requested))
        else:
            accepted[name] = requested
        if name == "singular":
            conflict = _short_names(wanted, old, accepted, taken) or conflict
    _set_or_drop(accepted, "categories", wanted.get("categories"))
    if conflict is None:
        names_accepted = make_condition("NamesAccepted", True, "NoConflicts", "no conflicts found")
    else:
        names_accepted = make_condition("NamesAccepted", False, *conflict)
    return Naming(accepted, names_accepted, _established(crd, conflict is None))


def _short_names(wanted: Names, old: Names, accepted: Names, is_taken: Taken) -> tuple[str, str] | None:
    requested, mine = wanted.get("shortNames") or [], old.get("shortNames") or []
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
