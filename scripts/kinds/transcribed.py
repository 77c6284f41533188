"""Compare tables that are written by hand in the code with the sources: feature gates, group priorities, columns.

They are code and not data files, because a reader needs them next to the functions that use them.
"""

import re
import time
from collections.abc import Iterator
from typing import Final

from scripts.kinds.feature_gates import Gate, read_gates
from scripts.kinds.resources import rows
from scripts.kinds.sources import Sources

from sampan.registry.columns.age import Ages
from sampan.registry.kinds.builtin import BUILTIN_KINDS
from sampan.registry.rules import feature_gates
from sampan.server.discovery.order import GROUP_PRIORITIES, version_priority
from sampan.server.metrics.features import FEATURES

_PRIORITY: Final = re.compile(r'\{Group: "([^"]*)", Version: "(\w+)"\}: +\{Group: (\d+), Version: (\d+)\}')
_TABLE: Final = re.compile(
    r"^\t(\w+) :?= (?:append\(\w+, )?\[\]metav1\.TableColumnDefinition\{\n(.*?)^\t\}", re.MULTILINE | re.DOTALL
)
_COLUMN: Final = re.compile(r"^\t\t\{(.*?), Description:", re.MULTILINE)
_HANDLER: Final = re.compile(r"h\.TableHandler\((\w+), (\w+)\)")
_PRINTER: Final = re.compile(r"^func (\w+)\(\w+ \*\w+\.(\w+),", re.MULTILINE)

_STABLE: Final = re.compile(r"v\d+")
_OTHER_COLUMNS: Final = {
    ("storage.k8s.io", "csistoragecapacities"),  # served with the default table
    ("networking.k8s.io", "ipaddresses"),  # rows have an age that no column declares
}

Shape = tuple[str, str, str, int]
"""Name, type, format and priority of a column."""


def differences(sources: Sources) -> Iterator[str]:
    """Yield a line for each fact in the code that differs from the sources."""
    known = read_gates(sources)
    yield from _gates(known)
    yield from _features(known)
    yield from _priorities(sources)
    yield from _columns(sources)


def named_gates(known: dict[str, Gate]) -> dict[str, bool]:
    """Return the gates that Sampan's rules name, each with the value that they take."""
    names = {name.lower(): name for name in known}
    constants = {name: value for name, value in vars(feature_gates).items() if isinstance(value, bool)}
    return {names.get(name.replace("_", "").lower(), name): value for name, value in constants.items()}


def _gates(known: dict[str, Gate]) -> Iterator[str]:
    for name, value in named_gates(known).items():
        if name not in known:
            yield f"feature gate {name} does not exist any more, the rules take it as {value}"
        elif known[name].default != value:
            yield f"feature gate {name} is {known[name]}, the rules take it as {value}"


def _features(known: dict[str, Gate]) -> Iterator[str]:
    for name, (stage, _) in FEATURES.items():
        if name not in known:
            yield f"feature {name} of kubernetes_feature_enabled does not exist any more"
        elif stage != ("" if known[name].stage == "GA" else known[name].stage.upper()):
            yield f"feature {name} of kubernetes_feature_enabled is {known[name]}, not {stage or 'GA'}"


def _priorities(sources: Sources) -> Iterator[str]:
    found = {}
    for path in ("cmd/kube-apiserver/app/aggregator.go", "pkg/controlplane/apiserver/aggregator.go"):
        for group, version, group_priority, priority in _PRIORITY.findall((sources.kubernetes / path).read_text()):
            found[group, version] = (int(group_priority), int(priority))
    for group, version in sorted(found.keys() & {(row["group"], row["version"]) for row in rows(sources)}):
        ours = (GROUP_PRIORITIES.get(group), version_priority(group, version, custom=False))
        if _STABLE.fullmatch(version) and ours != found[group, version]:
            yield f"priorities of {group}/{version} are {found[group, version]}, not {ours}"


def _columns(sources: Sources) -> Iterator[str]:
    published = _published_columns(sources)
    ages = Ages(time.time)
    made = {(kind.group, kind.resource): kind.columns(ages) for kind in BUILTIN_KINDS if kind.columns is not None}
    for row in rows(sources):
        key = (row["group"], row["resource"])
        expected = published.get(row["kind"])
        if key not in made or key in _OTHER_COLUMNS or expected is None or not _STABLE.fullmatch(row["version"]):
            continue
        ours = [(column.name, column.type, column.format, column.priority) for column in made[key]]
        if ours != expected:
            yield f"columns of {'/'.join(key)} are {expected}, not {ours}"


def _published_columns(sources: Sources) -> dict[str, list[Shape]]:
    """Return the columns of each Go type."""
    text = (sources.kubernetes / "pkg/printers/internalversion/printers.go").read_text()
    tables: dict[str, list[Shape]] = {}
    for name, body in _TABLE.findall(text):
        tables.setdefault(name, []).extend(_shape(entry) for entry in _COLUMN.findall(body))
    kinds = dict(_PRINTER.findall(text))
    return {kinds[printer]: tables[table] for table, printer in _HANDLER.findall(text) if printer in kinds}


def _shape(entry: str) -> Shape:
    values = {key: value.strip('"') for key, value in (part.split(": ") for part in entry.split(", "))}
    return values["Name"], values["Type"], values.get("Format", ""), int(values.get("Priority", "0"))
