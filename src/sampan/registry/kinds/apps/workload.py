"""Base of deployments, replica sets, stateful sets and daemon sets: a spec with a pod template, and counters in the
status.
"""

from collections.abc import Sequence
from typing import Any, ClassVar

from sampan.core.field import Path
from sampan.registry.kinds.pod_spec import templates
from sampan.registry.rules.counts import MORE_THAN_REPLICAS, check_at_most, check_collision_count, check_counts
from sampan.registry.rules.fields import Errors, check_immutable
from sampan.registry.strategy import Context, KindObject, Strategy

SPEC = Path("spec")
STATUS = Path("status")
TEMPLATE = Path("spec", "template")


class WorkloadStrategy(Strategy):
    """Strategy of a kind with a spec, a pod template and counters in its status."""

    status_counts: ClassVar[Sequence[str]] = ()
    """Counters of the status, none of which may be negative."""
    counts_of_replicas: ClassVar[Sequence[str]] = ()
    """Counters that are at most `status.replicas`."""
    selector_first: ClassVar[bool] = False
    """True to check the selector's immutability before everything else."""
    ready_count: ClassVar[str] = "readyReplicas"
    """Name of the counter that limits `availableReplicas`, as the error message shows it."""

    def prepare_for_create(self, ctx: Context, obj: KindObject) -> None:
        """Drop fields of disabled features from the template."""
        templates.drop_disabled_template_fields(obj["spec"], None)

    def prepare_for_update(self, ctx: Context, obj: KindObject, old: KindObject) -> None:
        """Drop fields of disabled features from the template, unless the stored object has them."""
        templates.drop_disabled_template_fields(obj["spec"], old.get("spec"))

    def check_spec(self, spec: Any, old: Any, errors: Errors) -> None:
        """Add the errors of a spec of the kind. Some errors are tolerated if the stored spec `old` has them already."""
        raise NotImplementedError

    def check(self, ctx: Context, obj: KindObject, errors: Errors) -> None:
        self.check_spec(obj.get("spec", {}), None, errors)

    def check_update(self, ctx: Context, obj: KindObject, old: KindObject, errors: Errors) -> None:
        """Check the spec, and that the selector did not change."""
        spec, old_spec = obj.get("spec", {}), old.get("spec", {})
        if self.selector_first:
            check_immutable(spec.get("selector"), old_spec.get("selector"), SPEC.child("selector"), errors)
        self.check_spec(spec, old_spec, errors)
        if not self.selector_first:
            check_immutable(spec.get("selector"), old_spec.get("selector"), SPEC.child("selector"), errors)

    def warnings_on_create(self, ctx: Context, obj: KindObject) -> list[str]:
        """Return the warnings of the template."""
        return templates.warnings(obj["spec"].get("template", {}), None, TEMPLATE)

    def warnings_on_update(self, ctx: Context, obj: KindObject, old: KindObject) -> list[str]:
        """Return the warnings of the template if the spec changed."""
        return templates.warnings_on_update(obj, old, TEMPLATE)

    def check_status_update(self, ctx: Context, obj: KindObject, old: KindObject, errors: Errors) -> None:
        """Check that counters are consistent and not negative."""
        status = obj.get("status", {})
        check_counts(status, self.status_counts, STATUS, errors)
        for name in self.counts_of_replicas:
            check_at_most(status, name, "replicas", MORE_THAN_REPLICAS, path=STATUS, errors=errors)
        text = f"cannot be greater than {self.ready_count}"
        check_at_most(status, "availableReplicas", "readyReplicas", text, path=STATUS, errors=errors)
        check_collision_count(status, old.get("status", {}), STATUS, errors)
