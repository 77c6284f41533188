"""Resource slices. Source: pkg/registry/resource/resourceslice, pkg/apis/resource/validation (1.36)."""

from sampan.core.field import Path, duplicate, invalid, required, too_long, too_many
from sampan.core.object import Object
from sampan.registry.strategies.core.fields import Errors, check_immutable, check_label, check_subdomain
from sampan.registry.strategies.spec import SpecStrategy
from sampan.registry.strategies.storage.csi import check_driver_name

_SPEC = Path("spec")
_DEVICES_MAX = 128
_POOL_LENGTH_MAX = 253
_PLACES = ("nodeName", "nodeSelector", "allNodes", "perDeviceNodeSelection")
_ONE_PLACE = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"


def _check_pool(pool: Object, path: Path, errors: Errors) -> None:
    name, count, generation = pool.get("name", ""), pool.get("resourceSliceCount", 0), pool.get("generation", 0)
    if not name:
        errors.append(required(path.child("name")))
    else:
        if len(name) > _POOL_LENGTH_MAX:
            errors.append(too_long(path.child("name"), "", _POOL_LENGTH_MAX))
        for part in name.split("/"):
            check_subdomain(part, path.child("name"), errors)
    if count <= 0:
        errors.append(invalid(path.child("resourceSliceCount"), count, "must be greater than zero"))
    if generation < 0:
        errors.append(invalid(path.child("generation"), generation, "must be greater than or equal to zero"))


def _check_place(spec: Object, errors: Errors) -> None:
    found = []
    for name in _PLACES:
        value = spec.get(name)
        if value is None:
            continue
        if name == "nodeName" and not value:
            detail = "must be either unset or set to a non-empty string"
            errors.append(invalid(_SPEC.child(name), value, detail))
        elif value is False:
            errors.append(invalid(_SPEC.child(name), value, "must be either unset or set to true"))
        else:
            found.append(f"`{name}`")
    if spec.get("nodeName"):
        check_subdomain(spec["nodeName"], _SPEC.child("nodeName"), errors)
    if not found:
        errors.append(required(_SPEC, _ONE_PLACE))
    elif len(found) > 1:
        errors.append(invalid(_SPEC, f"{{{', '.join(found)}}}", f"{_ONE_PLACE}, but multiple fields are set"))


def _check_spec(spec: Object, old: Object | None, errors: Errors) -> None:
    check_driver_name(spec.get("driver", ""), _SPEC.child("driver"), errors)
    _check_pool(spec.get("pool", {}), _SPEC.child("pool"), errors)
    if old is not None:
        new_name, old_name = spec.get("pool", {}).get("name"), old.get("pool", {}).get("name")
        check_immutable(new_name, old_name, _SPEC.child("pool", "name"), errors)
        for name in ("driver", "nodeName"):
            check_immutable(spec.get(name), old.get(name), _SPEC.child(name), errors)
    _check_place(spec, errors)
    devices, path = spec.get("devices") or [], _SPEC.child("devices")
    if len(devices) > _DEVICES_MAX:
        errors.append(too_many(path, len(devices), _DEVICES_MAX))
    names: set[str] = set()
    for index, device in enumerate(devices):
        name = device.get("name", "")
        check_label(name, path.index(index).child("name"), errors)
        if name in names:
            errors.append(duplicate(path.index(index), name))
        names.add(name)


class ResourceSliceStrategy(SpecStrategy):
    """Rules of slices; driver, pool and node never change."""

    returns_deleted_object = True

    def check_spec(self, spec: Object, old: Object | None, errors: Errors) -> None:
        """What it is a slice of stays."""
        _check_spec(spec, old, errors)

    def selectable_fields(self, obj: Object) -> dict[str, str]:
        """`spec.driver` and `spec.nodeName`."""
        spec = obj.get("spec", {})
        return {"spec.driver": spec.get("driver", ""), "spec.nodeName": spec.get("nodeName", "")}

    def field_labels(self, api_version: str) -> frozenset[str]:
        """The same, for field selectors."""
        return super().field_labels(api_version) | {"spec.driver", "spec.nodeName"}
