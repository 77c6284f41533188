"""Compare two Kubernetes versions, and show what Sampan lacks of the newer one.

Each change is one line: `+` added, `-` removed, `~` changed. A line that Sampan does not follow ends with `LACKS:` and
the reason; the last section repeats these lines. The comparison with Sampan's rules is a hint: it looks for the name of
a field or feature gate in the strings of all modules.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple, TypeVar

from scripts.kinds.feature_gates import Gate, read_gates
from scripts.kinds.published import Field, fields_of, served_resources, short
from scripts.kinds.sampan_has import SampanHas
from scripts.kinds.sources import Json, Sources
from scripts.kinds.transcribed import named_gates

Item = TypeVar("Item")
Fields = Mapping[str, Mapping[str, Field]]


class Change(NamedTuple):
    """A difference. `lacks` is what Sampan lacks of it; empty if nothing."""

    sign: str
    text: str
    lacks: str = ""

    def __str__(self) -> str:
        return f"{self.sign} {self.text}" + (f"  LACKS: {self.lacks}" if self.lacks else "")


def report(old: Sources, new: Sources) -> str:
    """Return the report as text with Markdown headings."""
    sampan = SampanHas()
    before, after = fields_of(old), fields_of(new)
    gates = read_gates(new)
    sections = {
        "Kinds": list(_kinds(served_resources(old), served_resources(new), sampan)),
        "Types": list(_types(before, after, sampan)),
        "Fields": list(_fields(before, after, gates, sampan)),
        "Defaults": list(_defaults(before, after, sampan)),
        "List types and merge keys": list(_merges(before, after, sampan)),
        "Feature gates": list(_gates(read_gates(old), gates, sampan)),
    }
    sections["What Sampan lacks"] = [change for found in sections.values() for change in found if change.lacks]
    lines = [f"# Kubernetes {old.minor} to {new.minor}", ""]
    for title, changes in sections.items():
        lines += [f"## {title} ({len(changes)})", *map(str, changes), ""]
    return "\n".join(lines)


def _pairs(old: Mapping[str, Item], new: Mapping[str, Item]) -> Iterator[tuple[str, Item | None, Item | None]]:
    """Yield key, old and new value of every item that differs, in the order of the keys."""
    for key in sorted(old.keys() | new.keys()):
        if old.get(key) != new.get(key):
            yield key, old.get(key), new.get(key)


def _both(old: Fields, new: Fields) -> Iterator[tuple[str, str, Field, Field]]:
    """Yield definition, field, and its state in both versions, for every field that both have."""
    for name in sorted(old.keys() & new.keys()):
        for field in sorted(old[name].keys() & new[name].keys()):
            yield name, field, old[name][field], new[name][field]


def _kinds(
    old: Mapping[tuple[str, str, str], Json], new: Mapping[tuple[str, str, str], Json], sampan: SampanHas
) -> Iterator[Change]:
    def by_name(rows: Mapping[tuple[str, str, str], Json]) -> dict[str, Json]:
        return {f"{group or 'core'}/{version} {resource}": row for (group, version, resource), row in rows.items()}

    for name, was, now in _pairs(by_name(old), by_name(new)):
        if now is None:
            yield Change("-", name)
        elif was is None:
            yield Change("+", f"{name} ({now['kind']})", _lacks_of_kind(now, sampan))
        else:
            yield Change("~", f"{name}: {_difference(was, now)}")


def _lacks_of_kind(row: Json, sampan: SampanHas) -> str:
    resource = row["resource"].partition("/")[0]
    if not row["version"].removeprefix("v").isdigit():
        return "not served: Sampan serves stable versions"
    return "" if sampan.kind(row["group"], resource) else "no module: only the rules that all kinds share"


def _difference(was: Json, now: Json) -> str:
    keys = sorted(key for key in was.keys() | now.keys() if was.get(key) != now.get(key))
    return ", ".join(f"{key} {was.get(key)} -> {now.get(key)}" for key in keys)


def _types(old: Fields, new: Fields, sampan: SampanHas) -> Iterator[Change]:
    for name, was, now in _pairs(dict.fromkeys(old, 0), dict.fromkeys(new, 0)):
        if was is None:
            yield Change("+", f"{short(name)}: {', '.join(new[name])}", "" if sampan.definition(name) else "make kinds")
        elif now is None:
            yield Change("-", short(name))


def _fields(old: Fields, new: Fields, gates: Mapping[str, Gate], sampan: SampanHas) -> Iterator[Change]:
    for name in sorted(old.keys() & new.keys()):
        for field, was, now in _pairs(old[name], new[name]):
            place = f"{short(name)}.{field}"
            if now is None:
                yield Change("-", place)
            elif was is None:
                yield Change("+", _added(place, now, gates), _lacks_of_field(name, field, now, gates, sampan))
            elif (was.type, was.required, was.gates) != (now.type, now.required, now.gates):
                yield Change("~", f"{place}: {_changed(was, now)}")


def _added(place: str, field: Field, gates: Mapping[str, Gate]) -> str:
    guards = ", ".join(f"{gate}: {gates.get(gate, 'no such gate')}" for gate in field.gates)
    return f"{place} {field.type}{' required' if field.required else ''}{f' [{guards}]' if guards else ''}"


def _changed(was: Field, now: Field) -> str:
    changes = []
    if was.type != now.type:
        changes.append(f"{was.type} -> {now.type}")
    if was.required != now.required:
        changes.append("required now" if now.required else "optional now")
    if was.gates != now.gates:
        changes.append(f"gates {', '.join(was.gates) or 'none'} -> {', '.join(now.gates) or 'none'}")
    return "; ".join(changes)


def _lacks_of_field(name: str, field: str, now: Field, gates: Mapping[str, Gate], sampan: SampanHas) -> str:
    if sampan.field(name, field) is None:
        return "make kinds"
    if sampan.names(field):
        return ""
    off = [gate for gate in now.gates if gate in gates and not gates[gate].default]
    return f"not dropped while {off[0]} is off" if off else "stored, but no rule names it"


def _compared(
    old: Fields, new: Fields, part: Callable[[Field], object], has: Callable[[str, str], object]
) -> Iterator[Change]:
    for name, field, was, now in _both(old, new):
        if part(was) != part(now):
            lacks = "" if has(name, field) == part(now) else f"make kinds (packaged: {has(name, field)})"
            yield Change("~", f"{short(name)}.{field}: {part(was)} -> {part(now)}", lacks)


def _defaults(old: Fields, new: Fields, sampan: SampanHas) -> Iterator[Change]:
    return _compared(old, new, lambda field: field.default, sampan.default)


def _merges(old: Fields, new: Fields, sampan: SampanHas) -> Iterator[Change]:
    return _compared(old, new, lambda field: field.merge or "none", lambda *place: sampan.merge(*place) or "none")


def _gates(old: Mapping[str, Gate], new: Mapping[str, Gate], sampan: SampanHas) -> Iterator[Change]:
    followed = named_gates(dict(new))
    for name, was, now in _pairs(old, new):
        if now is None:
            yield Change("-", f"{name}: was {was}", "the rules still name it" if name in followed else "")
        elif was is None:
            yield Change("+", f"{name}: {now}", _lacks_of_gate(name, now.default, now, followed, sampan))
        else:
            lacks = _lacks_of_gate(name, now.default and not was.default, now, followed, sampan)
            yield Change("~", f"{name}: {was} -> {now}", lacks)


def _lacks_of_gate(name: str, turned_on: bool, now: Gate, followed: Mapping[str, bool], sampan: SampanHas) -> str:
    if name in followed:
        return "" if followed[name] == now.default else f"the rules take it as {followed[name]}"
    return "perhaps: on by default now, and no module mentions it" if turned_on and not sampan.mentions(name) else ""
