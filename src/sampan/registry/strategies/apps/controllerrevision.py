"""Controller revisions. Source: pkg/registry/apps/controllerrevision, pkg/apis/apps/validation (1.36)."""

from sampan.core.field import FieldError, Path, required
from sampan.core.object import Object
from sampan.registry.strategies.core.fields import Errors, check_immutable, check_not_negative
from sampan.registry.strategy import Context, Strategy

_DATA = Path("data")
_REVISION = Path("revision")


class ControllerRevisionStrategy(Strategy):
    """The data of a revision never changes."""

    has_generation = False

    def validate(self, ctx: Context, obj: Object) -> list[FieldError]:
        """The rules of a new revision."""
        errors: Errors = []
        check_not_negative(obj.get("revision", 0), _REVISION, errors)
        data = obj.get("data")
        if data is None:
            errors.append(required(_DATA, "data is mandatory"))
        elif not isinstance(data, dict):
            errors.append(required(_DATA, "data must be a valid JSON object"))
        return errors

    def validate_update(self, ctx: Context, obj: Object, old: Object) -> list[FieldError]:
        """Only the revision number may change."""
        errors: Errors = []
        check_not_negative(obj.get("revision", 0), _REVISION, errors)
        check_immutable(obj.get("data"), old.get("data"), _DATA, errors)
        return errors
