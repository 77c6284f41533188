"""What deployments, replica sets, stateful sets and daemon sets have in common: a spec with a pod template, a status of
counters.
"""

from collections.abc import Sequence
from typing import ClassVar

from sampan.core.field import FieldError, Path
from sampan.core.object import Object
from sampan.registry.kinds.pod_spec import templates
from sampan.registry.kinds.rules.counts import MORE_THAN_REPLICAS, check_at_most, check_collision_count, check_counts
from sampan.registry.kinds.rules.fields import Errors, check_immutable
from sampan.registry.kinds.spec import SpecStrategy
from sampan.registry.strategy import Context

SPEC = Path("spec")
STATUS = Path("status")
TEMPLATE = Path("spec", "template")


class WorkloadStrategy(SpecStrategy):
    """The frame; a kind says what its spec must be and which counters its status has."""

    status_counts: ClassVar[Sequence[str]] = ()
    """Counters of the status, none of which is negative."""
    counts_of_replicas: ClassVar[Sequence[str]] = ()
    """Those that are at most `status.replicas`."""
    selector_first: ClassVar[bool] = False
    """Whether an update is told of a changed selector before anything else."""
    ready_count: ClassVar[str] = "readyReplicas"
    """What the message calls the counter that `availableReplicas` is at most."""

    def prepare_for_create(self, ctx: Context, obj: Object) -> None:
        """Features that are off leave the template."""
        templates.drop_disabled_template_fields(obj["spec"], None)

    def prepare_for_update(self, ctx: Context, obj: Object, old: Object) -> None:
        """The same, but for what is stored already."""
        templates.drop_disabled_template_fields(obj["spec"], old.get("spec"))

    def validate_update(self, ctx: Context, obj: Object, old: Object) -> list[FieldError]:
        """As for create; the selector stays as it is."""
        of_spec, of_selector = super().validate_update(ctx, obj, old), _selector_faults(obj, old)
        return of_selector + of_spec if self.selector_first else of_spec + of_selector

    def warnings_on_create(self, ctx: Context, obj: Object) -> list[str]:
        """What the template says."""
        return templates.warnings(obj["spec"].get("template", {}), None, TEMPLATE)

    def warnings_on_update(self, ctx: Context, obj: Object, old: Object) -> list[str]:
        """What the template says, if something changed."""
        return templates.warnings_on_update(obj, old, TEMPLATE)

    def validate_status_update(self, ctx: Context, obj: Object, old: Object) -> list[FieldError]:
        """Counters are not negative and fit together."""
        errors: Errors = []
        status = obj.get("status", {})
        check_counts(status, self.status_counts, STATUS, errors)
        for name in self.counts_of_replicas:
            check_at_most(status, name, "replicas", MORE_THAN_REPLICAS, path=STATUS, errors=errors)
        text = f"cannot be greater than {self.ready_count}"
        check_at_most(status, "availableReplicas", "readyReplicas", text, path=STATUS, errors=errors)
        check_collision_count(status, old.get("status", {}), STATUS, errors)
        return errors


def _selector_faults(obj: Object, old: Object) -> Errors:
    errors: Errors = []
    selector, old_selector = obj.get("spec", {}).get("selector"), old.get("spec", {}).get("selector")
    check_immutable(selector, old_selector, SPEC.child("selector"), errors)
    return errors
