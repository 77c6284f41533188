"""`CoreStrategy`: what the strategies of the core group have in common."""

from collections.abc import Sequence
from typing import ClassVar

from sampan.core.field import FieldError
from sampan.core.object import Object
from sampan.registry.strategy import Context, Strategy

Errors = list[FieldError]


class CoreStrategy(Strategy):
    """Subclasses fill in `check` and `check_update`."""

    has_generation = False
    labels: ClassVar[Sequence[str]] = ()
    """The selectable fields beside those of the metadata."""
    selects_namespace = True
    """Whether metadata.namespace is selectable; not so for nodes and namespaces."""

    def check(self, obj: Object, errors: Errors) -> None:
        """All faults of a new object."""

    def check_update(self, obj: Object, old: Object, errors: Errors) -> None:
        """All faults of the new state of an object."""
        self.check(obj, errors)

    def check_status_update(self, obj: Object, old: Object, errors: Errors) -> None:
        """All faults of a new status."""

    def validate(self, ctx: Context, obj: Object) -> list[FieldError]:
        errors: Errors = []
        self.check(obj, errors)
        return errors

    def validate_update(self, ctx: Context, obj: Object, old: Object) -> list[FieldError]:
        errors: Errors = []
        self.check_update(obj, old, errors)
        return errors

    def validate_status_update(self, ctx: Context, obj: Object, old: Object) -> list[FieldError]:
        errors: Errors = []
        self.check_status_update(obj, old, errors)
        return errors

    def field_labels(self, api_version: str) -> frozenset[str]:
        of_metadata = super().field_labels(api_version)
        if not self.selects_namespace:
            of_metadata -= {"metadata.namespace"}
        return of_metadata | frozenset(self.labels)
