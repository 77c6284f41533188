"""Strategies of scheduling.k8s.io."""

from __future__ import annotations

from typing import Final

from sampan.core.field import Path, forbidden, required
from sampan.core.object import Object
from sampan.kinds import scheduling_v1
from sampan.registry.columns.cells import NAME, at, boolean, column, integer
from sampan.registry.kind import Kind
from sampan.registry.rules.fields import Errors, check_immutable, not_supported
from sampan.registry.strategy import Context, Strategy

HIGHEST_USER_DEFINABLE_PRIORITY = 1_000_000_000
SYSTEM_PREFIX = "system-"
SYSTEM_PRIORITY_CLASSES = {"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000}
"""Names and values of the built-in classes."""

_VALUE = Path("value")
_POLICY = Path("preemptionPolicy")
_POLICIES = ("PreemptLowerPriority", "Never")


def _system_class_problem(name: str, value: int, global_default: bool) -> str:
    known = SYSTEM_PRIORITY_CLASSES.get(name)
    if known is None:
        return f"{name} is not a known system priority class"
    if known != value:
        return f"value of {name} PriorityClass must be {known}"
    return f"globalDefault of {name} PriorityClass must be false" if global_default else ""


class PriorityClassStrategy(Strategy):
    """Strategy of priority classes. Value and preemption policy are immutable.

    Source: pkg/registry/scheduling/priorityclass, pkg/apis/scheduling/{v1,validation} (1.36).
    """

    def default(self, obj: scheduling_v1.PriorityClass) -> None:
        """Set defaults: pods may preempt pods of lower priority."""
        obj.setdefault("preemptionPolicy", "PreemptLowerPriority")

    def spec_changed(self, obj: Object, old: Object) -> bool:
        """Return False: changes of the mutable fields do not increase the generation."""
        return False

    def check(self, ctx: Context, obj: Object, errors: Errors) -> None:
        name, value = obj["metadata"].get("name", ""), obj.get("value", 0)
        if name.startswith(SYSTEM_PREFIX):
            problem = _system_class_problem(name, value, bool(obj.get("globalDefault")))
            if problem:
                detail = (
                    f"priority class names with 'system-' prefix are reserved for system use only. error: {problem}"
                )
                errors.append(forbidden(Path("metadata", "name"), detail))
        elif value > HIGHEST_USER_DEFINABLE_PRIORITY:
            detail = f"maximum allowed value of a user defined priority is {HIGHEST_USER_DEFINABLE_PRIORITY}"
            errors.append(forbidden(_VALUE, detail))
        policy = obj.get("preemptionPolicy")
        if policy == "":
            errors.append(required(_POLICY))
        elif policy is not None and policy not in _POLICIES:
            errors.append(not_supported(_POLICY, policy, _POLICIES))

    def check_update(self, ctx: Context, obj: Object, old: Object, errors: Errors) -> None:
        """Check that only description and global default changed."""
        if obj.get("value", 0) != old.get("value", 0):
            errors.append(forbidden(_VALUE, "may not be changed in an update."))
        check_immutable(obj.get("preemptionPolicy"), old.get("preemptionPolicy"), _POLICY, errors)

    def deletion_fault(self, name: str) -> str:
        """Return an error for built-in classes, which cannot be deleted."""
        return "this is a system priority class and cannot be deleted" if name in SYSTEM_PRIORITY_CLASSES else ""


KINDS: Final = (
    Kind(
        "scheduling.k8s.io",
        "priorityclasses",
        PriorityClassStrategy(),
        columns=lambda ages: (
            NAME,
            integer("Value", at("value", default=0)),
            boolean("Global-Default", at("globalDefault", default=False)),
            ages.column,
            column("PreemptionPolicy", at("preemptionPolicy")),
        ),
    ),
)
