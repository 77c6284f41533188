"""Device classes. Source: pkg/registry/resource/deviceclass, pkg/apis/resource/validation (1.36)."""

from sampan.core.field import FieldError, Path, invalid, required, too_long, too_many
from sampan.core.object import Object
from sampan.registry.strategies.core.fields import Errors
from sampan.registry.strategies.core.resources import is_extended
from sampan.registry.strategies.storage.csi import check_driver_name
from sampan.registry.strategy import Context, Strategy

_SPEC = Path("spec")
LIST_MAX = 32
"""Requests, constraints, configurations and selectors: at most so many of each."""
_EXPRESSION_LENGTH_MAX = 10 * 1024


def check_selectors(selectors: list[Object], path: Path, errors: Errors) -> None:
    """CEL expressions of bounded length; they are compiled where they are used."""
    if len(selectors) > LIST_MAX:
        errors.append(too_many(path, len(selectors), LIST_MAX))
    for index, selector in enumerate(selectors):
        at, cel = path.index(index).child("cel"), selector.get("cel")
        if cel is None:
            errors.append(required(at))
        elif len(cel.get("expression", "")) > _EXPRESSION_LENGTH_MAX:
            errors.append(too_long(at.child("expression"), "", _EXPRESSION_LENGTH_MAX))


def check_configuration(configuration: Object, path: Path, errors: Errors) -> None:
    """Parameters for a driver, which is named."""
    opaque, at = configuration.get("opaque"), path.child("opaque")
    if opaque is None:
        errors.append(required(at))
        return
    check_driver_name(opaque.get("driver", ""), at.child("driver"), errors)
    parameters = opaque.get("parameters")
    if parameters is None:
        errors.append(required(at.child("parameters")))
    elif not isinstance(parameters, dict):
        errors.append(invalid(at.child("parameters"), "<value omitted>", "must be a valid JSON object"))


class DeviceClassStrategy(Strategy):
    """Rules of device classes."""

    returns_deleted_object = True

    def validate(self, ctx: Context, obj: Object) -> list[FieldError]:
        """The rules of a class."""
        errors: Errors = []
        spec = obj.get("spec", {})
        check_selectors(spec.get("selectors") or [], _SPEC.child("selectors"), errors)
        configurations = spec.get("config") or []
        if len(configurations) > LIST_MAX:
            errors.append(too_many(_SPEC.child("config"), len(configurations), LIST_MAX))
        for index, configuration in enumerate(configurations):
            check_configuration(configuration, _SPEC.child("config").index(index), errors)
        name = spec.get("extendedResourceName")
        if name is not None and not is_extended(name):
            path = _SPEC.child("extendedResourceName")
            errors.append(invalid(path, name, "must be a valid extended resource name"))
        return errors
