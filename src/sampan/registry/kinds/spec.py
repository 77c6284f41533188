"""`SpecStrategy`: kinds whose rules are those of their spec."""

from sampan.core.field import FieldError
from sampan.core.object import Object
from sampan.registry.kinds.rules.fields import Errors
from sampan.registry.strategy import Context, Strategy


class SpecStrategy(Strategy):
    """Checks the spec, on create by itself, on update beside the stored one."""

    def check_spec(self, spec: Object, old: Object | None, errors: Errors) -> None:
        """The rules of a spec. `old` is the stored one: faults that it has already may be tolerated."""
        raise NotImplementedError

    def validate(self, ctx: Context, obj: Object) -> list[FieldError]:
        """The rules of a new object."""
        errors: Errors = []
        self.check_spec(obj.get("spec", {}), None, errors)
        return errors

    def validate_update(self, ctx: Context, obj: Object, old: Object) -> list[FieldError]:
        """The rules of an object that replaces another."""
        errors: Errors = []
        self.check_spec(obj.get("spec", {}), old.get("spec", {}), errors)
        return errors
