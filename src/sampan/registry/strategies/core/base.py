"""`CoreStrategy`: what the strategies of the core group have in common."""

from collections.abc import Sequence
from typing import ClassVar

from sampan.core.field import FieldError, Path, invalid
from sampan.core.object import Object
from sampan.registry.strategy import Context, Strategy

Errors = list[FieldError]
_STANDARD_FINALIZERS = frozenset({"kubernetes", "orphan", "foregroundDeletion"})
_FINALIZERS = Path("metadata", "finalizers")
_NOT_STANDARD = "name is neither a standard finalizer name nor is it fully qualified"


def check_kube_finalizer(name: str, path: Path, errors: Errors) -> None:
    """A finalizer has a domain or is one of Kubernetes' own."""
    if "/" not in name and name not in _STANDARD_FINALIZERS:
        errors.append(invalid(path, name, _NOT_STANDARD))


class CoreStrategy(Strategy):
    """Checks finalizers as the core group does; subclasses fill in `check` and `check_update`."""

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
        _check_finalizers(obj, errors)
        self.check(obj, errors)
        return errors

    def validate_update(self, ctx: Context, obj: Object, old: Object) -> list[FieldError]:
        errors: Errors = []
        _check_finalizers(obj, errors)
        self.check_update(obj, old, errors)
        return errors

    def validate_status_update(self, ctx: Context, obj: Object, old: Object) -> list[FieldError]:
        errors: Errors = []
        _check_finalizers(obj, errors)
        self.check_status_update(obj, old, errors)
        return errors

    def field_labels(self, api_version: str) -> frozenset[str]:
        of_metadata = super().field_labels(api_version)
        if not self.selects_namespace:
            of_metadata -= {"metadata.namespace"}
        return of_metadata | frozenset(self.labels)


def _check_finalizers(obj: Object, errors: Errors) -> None:
    finalizers = obj["metadata"].get("finalizers")
    if finalizers:
        for i, name in enumerate(finalizers):
            check_kube_finalizer(name, _FINALIZERS.index(i), errors)
