"""`ApplyDiff`: the changes that an apply would make. Its text is like the output of `kubectl diff --server-side`.

Source: kubectl pkg/cmd/diff/diff.go (1.36).
"""

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import unified_diff
from importlib import import_module
from typing import Any, Final

from sampan.core.gvk import GroupVersion
from sampan.core.json.values import same
from sampan.resource import Object

_YAML: Final = "sampan.wire.yaml"
"""Imported on first use, because most clients never print YAML."""
_MASK: Final = "***"
_LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"


@dataclass(frozen=True, slots=True)
class ApplyDiff:
    """State of an object before an apply and after it. `str` returns the changed lines; empty if there are none."""

    before: Object | None
    """The object on the server; None if the apply would create it."""
    after: Object
    """The object that the server would store, with its defaults and the changes of admission."""

    @property
    def changed(self) -> bool:
        """True if the apply would change more than managed fields."""
        return self.before is None or not same(_shown(self.before), _shown(self.after))

    def __str__(self) -> str:
        before, after = (None if self.before is None else _shown(self.before)), _shown(self.after)
        if self.after.get("kind") == "Secret":
            _mask(before, after)
        encode = import_module(_YAML).encode
        old = encode(before).decode().splitlines() if before is not None else []
        new = encode(after).decode().splitlines()
        name = _file_name(self.after)
        return "\n".join(unified_diff(old, new, f"LIVE/{name}", f"MERGED/{name}", lineterm=""))


def _shown(obj: Object) -> Object:
    shown = copy.deepcopy(obj)
    (shown.get("metadata") or {}).pop("managedFields", None)
    return shown


def _file_name(obj: Object) -> str:
    """Return kubectl's name of a file with an object: `apps.v1.Deployment.default.web`."""
    version, metadata = GroupVersion.parse(obj.get("apiVersion", "")), obj.get("metadata") or {}
    parts = (version.group, version.version, obj.get("kind"), metadata.get("namespace"), metadata.get("name"))
    return ".".join(part for part in parts if part)


def _mask(before: Object | None, after: Object) -> None:
    """Hide the values of a Secret. A changed value is still visible as changed."""
    for path in (("data",), ("stringData",), ("metadata", "annotations")):
        old, new = _at(before or {}, path), _at(after, path)
        for key in {*old, *new}:
            if path[-1] == "annotations" and key != _LAST_APPLIED:
                continue
            differs = key in old and key in new and not same(old[key], new[key])
            for fields, suffix in ((old, " (before)"), (new, " (after)")):
                if key in fields:
                    fields[key] = _MASK + (suffix if differs else "")


def _at(obj: Mapping[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    found: Any = obj
    for name in path:
        found = found.get(name) if isinstance(found, Mapping) else None
    return found if isinstance(found, dict) else {}
