"""Device classes. Source: pkg/registry/resource/deviceclass, pkg/apis/resource/validation (1.36)."""

from typing import Final

from sampan.core.field import Path, invalid
from sampan.core.object import Object
from sampan.registry.columns.cells import NAME
from sampan.registry.kind import Kind
from sampan.registry.kinds.pod_spec.resources import is_extended
from sampan.registry.kinds.resource.device_selectors import LIST_MAX, check_selectors
from sampan.registry.kinds.resource.rules import check_configuration, check_list
from sampan.registry.rules.fields import Errors
from sampan.registry.strategy import Context, Strategy

_SPEC = Path("spec")


class DeviceClassStrategy(Strategy):
    """Rules of device classes."""

    returns_deleted_object = True

    def name_errors(self, name: str, *, prefix: bool = False) -> list[str]:
        """Check the name. A prefix for generated names has no separate rule."""
        return [] if prefix else super().name_errors(name)

    def check(self, ctx: Context, obj: Object, errors: Errors) -> None:
        spec = obj.get("spec", {})
        check_selectors(spec.get("selectors") or [], _SPEC.child("selectors"), errors)
        check_list(spec.get("config") or [], LIST_MAX, _SPEC.child("config"), errors, check_configuration)
        name = spec.get("extendedResourceName")
        if name is not None and not is_extended(name):
            path = _SPEC.child("extendedResourceName")
            errors.append(invalid(path, name, "must be a valid extended resource name"))


KINDS: Final = (
    Kind(
        "resource.k8s.io",
        "deviceclasses",
        DeviceClassStrategy(),
        columns=lambda ages: (NAME, ages.column),
    ),
)
