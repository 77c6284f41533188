"""Strategies of coordination.k8s.io."""

from typing import Final

from sampan.core.field import Path, invalid
from sampan.core.object import Object
from sampan.registry.columns.cells import NAME, at, column
from sampan.registry.kind import Kind
from sampan.registry.rules.fields import Errors
from sampan.registry.strategy import Context, Strategy

_SPEC = Path("spec")
_COORDINATED = ("strategy", "preferredHolder")
"""Fields of coordinated leader election, which is off by default. They are dropped from new objects."""


class LeaseStrategy(Strategy):
    """Strategy of leases. PUT may create them, and must set the resourceVersion.

    Source: pkg/registry/coordination/lease, pkg/apis/coordination/validation (1.36).
    """

    standard_finalizers = False
    has_generation = False
    allow_create_on_update = True
    allow_unconditional_update = False

    def prepare_for_create(self, ctx: Context, obj: Object) -> None:
        """Drop fields of disabled features."""
        spec = obj.get("spec")
        if spec:
            for name in _COORDINATED:
                spec.pop(name, None)

    def prepare_for_update(self, ctx: Context, obj: Object, old: Object) -> None:
        """Drop fields of disabled features, unless the stored object has them."""
        spec, old_spec = obj.get("spec"), old.get("spec", {})
        if spec:
            for name in _COORDINATED:
                if name not in old_spec:
                    spec.pop(name, None)

    def check(self, ctx: Context, obj: Object, errors: Errors) -> None:
        """Check that durations are positive and transitions are not negative."""
        spec = obj.get("spec", {})
        duration_s = spec.get("leaseDurationSeconds")
        if duration_s is not None and duration_s <= 0:
            errors.append(invalid(_SPEC.child("leaseDurationSeconds"), duration_s, "must be greater than 0"))
        transitions = spec.get("leaseTransitions")
        if transitions is not None and transitions < 0:
            detail = "must be greater than or equal to 0"
            errors.append(invalid(_SPEC.child("leaseTransitions"), transitions, detail))


KINDS: Final = (
    Kind(
        "coordination.k8s.io",
        "leases",
        LeaseStrategy(),
        columns=lambda ages: (NAME, column("Holder", at("spec", "holderIdentity")), ages.column),
    ),
)
