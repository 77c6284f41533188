"""Who may use which names: within a group, plurals, singulars and short names are unique, and so are kinds and list
kinds.

First come, first served. Source: apiextensions pkg/controller/status/naming_controller.go (1.36).
"""

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


class Claims:
    """The names that the CRDs of a cluster hold, by group; kept beside the CRDs, so that none has to be read again."""

    def __init__(self) -> None:
        self._groups: dict[str, dict[str, Names]] = {}
        self._losers: set[str] = set()

    def hold(self, crd: Object, names: Names, *, satisfied: bool) -> bool:
        """Note what a CRD holds; tells whether that changed."""
        group, name = self._groups.setdefault(crd["spec"]["group"], {}), crd["metadata"]["name"]
        changed = group.get(name) != names
        group[name] = names
        if satisfied:
            self._losers.discard(name)
        else:
            self._losers.add(name)
        return changed

    def release(self, crd: Object) -> None:
        """A CRD has gone."""
        name, group = crd["metadata"]["name"], crd["spec"]["group"]
        self._losers.discard(name)
        held = self._groups.get(group, {})
        held.pop(name, None)
        if not held:
            self._groups.pop(group, None)

    def losers(self, crd: Object) -> list[str]:
        """The other CRDs of its group that did not get all that they want."""
        own = crd["metadata"]["name"]
        return [name for name in self._groups.get(crd["spec"]["group"], {}) if name in self._losers and name != own]

    def used(self, crd: Object) -> dict[str, set[str]]:
        """What the other CRDs of its group hold."""
        resources: set[str] = set()
        kinds: set[str] = set()
        for name, names in self._groups.get(crd["spec"]["group"], {}).items():
            if name == crd["metadata"]["name"]:
                continue
            resources.update(
                filter(None, (names.get("plural"), names.get("singular"), *(names.get("shortNames") or ())))
            )
            kinds.update(filter(None, (names.get("kind"), names.get("listKind"))))
        return {"resources": resources, "kinds": kinds}


def resolve(crd: Object, used: dict[str, set[str]]) -> Naming:
    """Decide about a CRD's names, given those that others hold."""
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
        if name == "singular":
            conflict = _short_names(wanted, old, accepted, used["resources"]) or conflict
    _set_or_drop(accepted, "categories", wanted.get("categories"))
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
    if accepted:
        text = "the initial names have been accepted"
        return make_condition("Established", True, "InitialNamesAccepted", text)
    return make_condition("Established", False, "NotAccepted", "not all names are accepted")


def _in_use(name: str) -> str:
    return f"{quote(name)} is already in use"
