"""Resource slices. Source: pkg/registry/resource/resourceslice, pkg/apis/resource/{v1,validation} (1.36)."""

from __future__ import annotations

from functools import partial
from typing import Final

from sampan.core.clock import utc_now
from sampan.core.field import Path, invalid, required, too_many
from sampan.core.object import Object
from sampan.core.time import format_time
from sampan.kinds import resource_v1
from sampan.registry.columns.cells import NAME, at, column
from sampan.registry.kind import Kind
from sampan.registry.kinds.pod_spec.scheduling import check_node_selector
from sampan.registry.kinds.pod_spec.volume_sources import check_csi_driver_name
from sampan.registry.kinds.resource.devices import check_counters, check_device
from sampan.registry.kinds.resource.rules import check_list, check_pool_name, check_unique
from sampan.registry.old_versions.devices import resource_slice
from sampan.registry.rules.fields import Errors, check_immutable, check_subdomain
from sampan.registry.strategy import Context, Strategy

_SPEC = Path("spec")
_DEVICES_MAX = 128
_DEVICES_WITH_FEATURES_MAX = 64
_COUNTER_SETS_MAX = 8
_PLACES = ("nodeName", "nodeSelector", "allNodes", "perDeviceNodeSelection")
_ONE_PLACE = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
_LISTS = ("bools", "ints", "strings", "versions")


def _check_pool(pool: Object, path: Path, errors: Errors) -> None:
    count, generation = pool.get("resourceSliceCount", 0), pool.get("generation", 0)
    check_pool_name(pool.get("name", ""), path.child("name"), errors)
    if count <= 0:
        errors.append(invalid(path.child("resourceSliceCount"), count, "must be greater than zero"))
    if generation < 0:
        errors.append(invalid(path.child("generation"), generation, "must be greater than or equal to zero"))


def _check_place(spec: Object, errors: Errors) -> None:
    found = []
    for name in _PLACES:
        value, at = spec.get(name), _SPEC.child(name)
        if value is None:
            continue
        if name == "nodeName" and not value:
            errors.append(invalid(at, value, "must be either unset or set to a non-empty string"))
            continue
        if value is False:
            errors.append(invalid(at, value, "must be either unset or set to true"))
            continue
        found.append(f"`{name}`")
        if name == "nodeName":
            check_subdomain(value, at, errors)
        elif name == "nodeSelector":
            check_node_selector(value, at, errors)
            terms = value.get("nodeSelectorTerms")
            if len(terms or ()) != 1:
                errors.append(invalid(at.child("nodeSelectorTerms"), terms, "must have exactly one node selector term"))
    if not found:
        errors.append(required(_SPEC, _ONE_PLACE))
    elif len(found) > 1:
        errors.append(invalid(_SPEC, f"{{{', '.join(found)}}}", f"{_ONE_PLACE}, but multiple fields are set"))


def _has_features(device: Object) -> bool:
    """Return True if the device has taints or counters. The maximum number of devices in a slice is lower if it has
    such devices.
    """
    return bool(device.get("taints") or device.get("consumesCounters"))


def _check_devices(spec: Object, old: Object | None, errors: Errors) -> None:
    devices, path = spec.get("devices") or [], _SPEC.child("devices")
    count_max = _DEVICES_WITH_FEATURES_MAX if any(map(_has_features, devices)) else _DEVICES_MAX
    if len(devices) > count_max:
        errors.append(too_many(path, len(devices), count_max))
        return
    before = {device.get("name", ""): device for device in (old or {}).get("devices") or ()}
    per_device = bool(spec.get("perDeviceNodeSelection"))
    for index, device in enumerate(devices):
        known = before.get(device.get("name", ""))
        check_device(device, known, path.index(index), errors, per_device=per_device)
    check_unique([device.get("name", "") for device in devices], path, errors)


def _check_spec(spec: Object, old: Object | None, errors: Errors) -> None:
    check_csi_driver_name(spec.get("driver", ""), _SPEC.child("driver"), errors)
    _check_pool(spec.get("pool", {}), _SPEC.child("pool"), errors)
    if old is not None:
        new_name, old_name = spec.get("pool", {}).get("name"), old.get("pool", {}).get("name")
        check_immutable(new_name, old_name, _SPEC.child("pool", "name"), errors)
        for name in ("driver", "nodeName"):
            check_immutable(spec.get(name), old.get(name), _SPEC.child(name), errors)
    _check_place(spec, errors)
    if spec.get("sharedCounters") and spec.get("devices"):
        errors.append(invalid(_SPEC, "", "only one of `sharedCounters` or `devices` is allowed"))
    _check_devices(spec, old, errors)
    counters, path = spec.get("sharedCounters") or [], _SPEC.child("sharedCounters")
    if check_list(counters, _COUNTER_SETS_MAX, path, errors, partial(check_counters, field="name")):
        check_unique([each.get("name", "") for each in counters], path, errors)


def _drop_lists(obj: Object) -> None:
    for device in obj.get("spec", {}).get("devices") or ():
        for attribute in (device.get("attributes") or {}).values():
            for name in _LISTS:
                attribute.pop(name, None)


def _driver_warnings(obj: Object) -> list[str]:
    driver = obj.get("spec", {}).get("driver", "")
    if driver == driver.lower():
        return []
    return [f'spec.driver: driver names should be lowercase; "{driver}" contains uppercase characters']


class ResourceSliceStrategy(Strategy):
    """Rules of slices. Driver, pool and node are immutable."""

    labels = ("spec.driver", "spec.nodeName")
    selects_namespace = False
    returns_deleted_object = True

    def check(self, ctx: Context, obj: Object, errors: Errors) -> None:
        _check_spec(obj.get("spec", {}), None, errors)

    def check_update(self, ctx: Context, obj: Object, old: Object, errors: Errors) -> None:
        """Check an update: driver, pool and node are immutable."""
        _check_spec(obj.get("spec", {}), old.get("spec", {}), errors)

    def default(self, obj: resource_v1.ResourceSlice) -> None:
        """Set defaults: taints start now, and allocations on the node have the multiplier 1."""
        for device in obj.get("spec", {}).get("devices") or ():
            for taint in device.get("taints") or ():
                taint.setdefault("timeAdded", format_time(utc_now()))
            for mapping in (device.get("nodeAllocatableResourceMappings") or {}).values():
                mapping.setdefault("allocationMultiplier", "1")

    def prepare_for_create(self, ctx: Context, obj: Object) -> None:
        """Drop attributes with list values, because that feature is disabled."""
        super().prepare_for_create(ctx, obj)
        _drop_lists(obj)

    def prepare_for_update(self, ctx: Context, obj: Object, old: Object) -> None:
        """Drop attributes with list values, because that feature is disabled."""
        super().prepare_for_update(ctx, obj, old)
        _drop_lists(obj)

    def warnings_on_create(self, ctx: Context, obj: Object) -> list[str]:
        """Warn about names of drivers that are not in lower case."""
        return _driver_warnings(obj)

    def warnings_on_update(self, ctx: Context, obj: Object, old: Object) -> list[str]:
        """Warn about names of drivers that are not in lower case."""
        return _driver_warnings(obj)

    def selectable_fields(self, obj: Object) -> dict[str, str]:
        """Return `spec.driver` and `spec.nodeName`."""
        spec = obj.get("spec", {})
        return {"spec.driver": spec.get("driver", ""), "spec.nodeName": spec.get("nodeName", "")}


KINDS: Final = (
    Kind(
        "resource.k8s.io",
        "resourceslices",
        ResourceSliceStrategy(),
        old_versions={"resource.k8s.io/v1beta1": resource_slice},
        columns=lambda ages: (
            NAME,
            column("Node", at("spec", "nodeName")),
            column("Driver", at("spec", "driver")),
            column("Pool", at("spec", "pool", "name")),
            ages.column,
        ),
    ),
)
