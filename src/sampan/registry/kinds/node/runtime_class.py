"""Strategies of node.k8s.io."""

from __future__ import annotations

from typing import Final

from sampan.core.field import Path, duplicate, invalid, required
from sampan.core.object import Object
from sampan.core.validation.names import dns1123_label_errors
from sampan.kinds import core_v1
from sampan.registry.columns.cells import NAME, at, column
from sampan.registry.kind import Kind
from sampan.registry.kinds.pod_spec.options import STRICT_TEMPLATE
from sampan.registry.kinds.pod_spec.resources import validate_requirements
from sampan.registry.kinds.pod_spec.scheduling import validate_tolerations
from sampan.registry.old_versions.runtime_class import runtime_class
from sampan.registry.rules.fields import Errors, check_immutable, check_labels
from sampan.registry.rules.node_labels import DEPRECATED
from sampan.registry.strategy import Context, Strategy

_HANDLER = Path("handler")
_SCHEDULING = Path("scheduling")


def _check_tolerations(tolerations: list[core_v1.Toleration], path: Path, errors: Errors) -> None:
    validate_tolerations(tolerations, path, errors, STRICT_TEMPLATE)
    seen: set[tuple[str, ...]] = set()
    for index, toleration in enumerate(tolerations):
        key = tuple(toleration.get(name, "") for name in ("key", "operator", "value", "effect"))
        if key in seen:
            errors.append(duplicate(path.index(index), toleration))
        seen.add(key)


class RuntimeClassStrategy(Strategy):
    """Rules of runtime classes. The handler is immutable.

    Source: pkg/registry/node/runtimeclass, pkg/apis/node/validation (1.36).
    """

    standard_finalizers = False
    has_generation = False
    allow_create_on_update = True
    allow_unconditional_update = False

    def check(self, ctx: Context, obj: Object, errors: Errors) -> None:
        handler = obj.get("handler", "")
        if not handler:
            errors.append(required(_HANDLER))
        else:
            errors.extend(invalid(_HANDLER, handler, text) for text in dns1123_label_errors(handler))
        overhead, scheduling = obj.get("overhead"), obj.get("scheduling")
        if overhead is not None:
            validate_requirements({"limits": overhead.get("podFixed") or {}}, (), Path("overhead"), errors)
        if scheduling is not None:
            check_labels(scheduling.get("nodeSelector") or {}, _SCHEDULING.child("nodeSelector"), errors)
            _check_tolerations(scheduling.get("tolerations") or [], _SCHEDULING.child("tolerations"), errors)

    def check_update(self, ctx: Context, obj: Object, old: Object, errors: Errors) -> None:
        """Check an update: the handler is immutable."""
        self.check(ctx, obj, errors)
        check_immutable(obj.get("handler", ""), old.get("handler", ""), _HANDLER, errors)

    def warnings_on_create(self, ctx: Context, obj: Object) -> list[str]:
        """Warn about deprecated node labels."""
        labels = (obj.get("scheduling") or {}).get("nodeSelector") or {}
        path = _SCHEDULING.child("nodeSelector")
        return [f"{path}: {DEPRECATED[key]}" for key in labels if key in DEPRECATED]


KINDS: Final = (
    Kind(
        "node.k8s.io",
        "runtimeclasses",
        RuntimeClassStrategy(),
        old_versions={"node.k8s.io/v1alpha1": runtime_class},
        columns=lambda ages: (NAME, column("Handler", at("handler")), ages.column),
    ),
)
