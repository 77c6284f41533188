"""Read Kubernetes' feature gates: the stage and the default of each in one minor version."""

import re
from pathlib import Path
from typing import Final, NamedTuple

from scripts.kinds.sources import Sources

_GATES: Final = re.compile(r"^\t([\w.]+): \{\n(.*?)^\t\},", re.MULTILINE | re.DOTALL)
_SPEC: Final = re.compile(r'^\s*\{Version: version\.MustParse\("([\d.]+)"\), (.*?)\}', re.MULTILINE)
_NAME: Final = re.compile(r'^\t(\w+)\s+featuregate\.Feature = "(\w+)"', re.MULTILINE)


class Gate(NamedTuple):
    """State of a feature gate. `stage` is `Alpha`, `Beta`, `GA` or `Deprecated`."""

    default: bool
    stage: str
    locked: bool

    def __str__(self) -> str:
        return f"{self.stage} {'on' if self.default else 'off'}{' (locked)' if self.locked else ''}"


def read_gates(sources: Sources) -> dict[str, Gate]:
    """Return the gates that exist in the sources' minor version, by name."""
    minor = _number(sources.minor)
    texts = [path.read_text() for path in _files(sources)]
    names = {identifier: name for text in texts for identifier, name in _NAME.findall(text)}
    found: dict[str, Gate] = {}
    for text in texts:
        for identifier, body in _GATES.findall(text):
            short = identifier.rpartition(".")[2]
            specs = [spec for version, spec in _SPEC.findall(body) if _number(version) <= minor]
            if specs:
                found[names.get(short, short)] = _gate(specs[-1])
    return dict(sorted(found.items()))


def _files(sources: Sources) -> tuple[Path, ...]:
    return (
        sources.modules["apiserver"] / "pkg/features/kube_features.go",
        sources.modules["apiextensions-apiserver"] / "pkg/features/kube_features.go",
        sources.kubernetes / "pkg/features/kube_features.go",
    )


def _gate(spec: str) -> Gate:
    entries = dict(entry.split(": ") for entry in spec.split(", "))
    stage = entries.get("PreRelease", "GA").removeprefix("featuregate.")
    return Gate(entries.get("Default") == "true", stage, entries.get("LockToDefault") == "true")


def _number(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))
