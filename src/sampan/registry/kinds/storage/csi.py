"""CSI drivers, their nodes and capacities. Source: pkg/registry/storage, pkg/apis/storage/{v1,validation} (1.36)."""

from __future__ import annotations

from math import inf
from typing import Final

from sampan.core.field import Path, duplicate, invalid, required
from sampan.core.numbers.quantity import Quantity
from sampan.core.object import Object
from sampan.core.validation.names import dns1123_subdomain_errors
from sampan.kinds import storage_v1
from sampan.registry.columns.cells import EMPTY, NAME, NONE, UNSET, at, boolean, column, count, integer
from sampan.registry.kind import Kind
from sampan.registry.kinds.pod_spec.volume_sources import check_csi_driver_name
from sampan.registry.rules.fields import (
    NOT_NEGATIVE,
    Errors,
    check_immutable,
    check_label_selector,
    check_not_negative,
    check_qualified_name,
    not_supported,
)
from sampan.registry.rules.node_labels import DEPRECATED
from sampan.registry.rules.selectors import has_invalid_selector
from sampan.registry.rules.table import number, one_of
from sampan.registry.strategy import Context, Strategy

_SPEC = Path("spec")
_DRIVERS = Path("spec", "drivers")
_TOPOLOGY = Path("nodeTopology")
_NODE_ID_LENGTH_MAX = 256
_TOKEN_S_MIN = 600
_TOKEN_S_MAX = 1 << 32
_UPDATE_PERIOD = number("nodeAllocatableUpdatePeriodSeconds", 10, inf, "must be greater than or equal to 10 seconds")
_GROUP_POLICY = one_of("fsGroupPolicy", ("File", "None", "ReadWriteOnceWithFSType"))
_MODES = ("Persistent", "Ephemeral")
_DRIVER_DEFAULTS = {
    "attachRequired": True,
    "podInfoOnMount": False,
    "storageCapacity": False,
    "fsGroupPolicy": "ReadWriteOnceWithFSType",
    "requiresRepublish": False,
    "seLinuxMount": False,
}
_TOKEN_WARNING = (
    "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible "
    "logging of tokens in volume attributes"
)


def _check_tokens(requests: list[storage_v1.TokenRequest], path: Path, errors: Errors) -> None:
    audiences: set[str] = set()
    for index, request in enumerate(requests):
        at, audience = path.index(index), request.get("audience", "")
        if audience in audiences:
            errors.append(duplicate(at.child("audience"), audience))
            continue
        audiences.add(audience)
        seconds = request.get("expirationSeconds")
        if seconds is None:
            continue
        if seconds < _TOKEN_S_MIN:
            detail = "may not specify a duration less than 10 minutes"
            errors.append(invalid(at.child("expirationSeconds"), seconds, detail))
        if seconds > _TOKEN_S_MAX:
            detail = "may not specify a duration larger than 2^32 seconds"
            errors.append(invalid(at.child("expirationSeconds"), seconds, detail))


class CSIDriverStrategy(Strategy):
    """Defaults and rules of CSI drivers."""

    allow_unconditional_update = False
    returns_deleted_object = True

    def default(self, obj: Object) -> None:
        """Set defaults: volumes are attached and persistent; fsGroup applies only to ReadWriteOnce volumes with a file
        system.
        """
        spec = obj.setdefault("spec", {})
        for name, value in _DRIVER_DEFAULTS.items():
            spec.setdefault(name, value)
        if not spec.get("volumeLifecycleModes"):
            spec["volumeLifecycleModes"] = ["Persistent"]

    def prepare_for_create(self, ctx: Context, obj: Object) -> None:
        """Drop fields of disabled features, and the generation, which starts with the first change."""
        obj["metadata"].pop("generation", None)
        obj["spec"].pop("preventPodSchedulingIfMissing", None)

    def prepare_for_update(self, ctx: Context, obj: Object, old: Object) -> None:
        """Drop fields of disabled features, unless the stored object has them."""
        if "preventPodSchedulingIfMissing" not in old["spec"]:
            obj["spec"].pop("preventPodSchedulingIfMissing", None)

    def check(self, ctx: Context, obj: Object, errors: Errors) -> None:
        spec = obj.get("spec", {})
        _GROUP_POLICY(spec, _SPEC, errors)
        tokens = spec.get("tokenRequests") or []
        _check_tokens(tokens, _SPEC.child("tokenRequests"), errors)
        modes = _SPEC.child("volumeLifecycleModes")
        errors.extend(not_supported(modes, mode, _MODES) for mode in spec["volumeLifecycleModes"] if mode not in _MODES)
        _UPDATE_PERIOD(spec, _SPEC, errors)
        in_secrets = spec.get("serviceAccountTokenInSecrets")
        if in_secrets is not None and not tokens:
            detail = "serviceAccountTokenInSecrets is set but no tokenRequests are specified"
            errors.append(invalid(_SPEC.child("serviceAccountTokenInSecrets"), in_secrets, detail))

    def warnings_on_create(self, ctx: Context, obj: Object) -> list[str]:
        """Warn if tokens in volume attributes may be logged."""
        spec = obj["spec"]
        exposed = spec.get("tokenRequests") and "serviceAccountTokenInSecrets" not in spec
        return [_TOKEN_WARNING] if exposed else []

    def warnings_on_update(self, ctx: Context, obj: Object, old: Object) -> list[str]:
        """Warn if tokens in volume attributes may be logged and the token requests changed."""
        changed = (obj["spec"].get("tokenRequests") or []) != (old["spec"].get("tokenRequests") or [])
        return self.warnings_on_create(ctx, obj) if changed else []

    def check_update(self, ctx: Context, obj: Object, old: Object, errors: Errors) -> None:
        """Check an update: `attachRequired` and `volumeLifecycleModes` are immutable."""
        self.check(ctx, obj, errors)
        for name, shown in (("attachRequired", "attachedRequired"), ("volumeLifecycleModes", "volumeLifecycleModes")):
            check_immutable(obj["spec"].get(name), old["spec"].get(name), _SPEC.child(shown), errors)


def _check_node_driver(driver: storage_v1.CSINodeDriver, path: Path, errors: Errors) -> None:
    check_csi_driver_name(driver.get("name", ""), path.child("name"), errors)
    node_id = driver.get("nodeID", "")
    if not node_id:
        errors.append(required(path.child("nodeID")))
    if len(node_id) > _NODE_ID_LENGTH_MAX:
        detail = f"must be {_NODE_ID_LENGTH_MAX} characters or less"
        errors.append(invalid(path.child("nodeID"), node_id, detail))
    count = driver.get("allocatable", {}).get("count", 0)
    check_not_negative(count, path.child("allocatable", "count"), errors)


def _check_topology_keys(driver: storage_v1.CSINodeDriver, path: Path, errors: Errors) -> None:
    seen: set[str] = set()
    for key in driver.get("topologyKeys") or ():
        if not key:
            errors.append(required(path))
        if key in seen:
            errors.append(duplicate(path, key))
        seen.add(key)
        check_qualified_name(key, path, errors)


def _without_allocatable(driver: Object) -> Object:
    return {name: value for name, value in driver.items() if name != "allocatable"}


class CSINodeStrategy(Strategy):
    """Rules of CSI nodes. Only the allocatable count of an existing driver may change."""

    has_generation = False
    allow_unconditional_update = False
    returns_deleted_object = True

    def default(self, obj: Object) -> None:
        """Set defaults: drivers and their topology keys are always present, as null if there are none."""
        spec = obj.setdefault("spec", {})
        if not spec.get("drivers"):
            spec["drivers"] = None
        for driver in spec["drivers"] or ():
            driver.setdefault("topologyKeys", None)

    def check(self, ctx: Context, obj: Object, errors: Errors) -> None:
        seen: set[str] = set()
        for index, driver in enumerate(obj.get("spec", {}).get("drivers") or ()):
            path, name = _DRIVERS.index(index), driver.get("name", "")
            _check_node_driver(driver, path, errors)
            if name in seen:
                errors.append(duplicate(path.child("name"), name))
            seen.add(name)
            _check_topology_keys(driver, path, errors)

    def check_update(self, ctx: Context, obj: Object, old: Object, errors: Errors) -> None:
        """Check an update: the other fields of existing drivers are immutable."""
        self.check(ctx, obj, errors)
        drivers = obj.get("spec", {}).get("drivers") or ()
        for before in old.get("spec", {}).get("drivers") or ():
            for driver in drivers:
                if driver.get("name") == before.get("name"):
                    check_immutable(_without_allocatable(driver), _without_allocatable(before), _DRIVERS, errors)


class CSIStorageCapacityStrategy(Strategy):
    """Rules of capacities. Topology and class are immutable."""

    has_generation = False
    allow_unconditional_update = False

    def check(self, ctx: Context, obj: Object, errors: Errors) -> None:
        self._check(obj, errors, lenient=False)

    def check_update(self, ctx: Context, obj: Object, old: Object, errors: Errors) -> None:
        """Check an update: topology and class are immutable."""
        self._check(obj, errors, lenient=has_invalid_selector(old.get("nodeTopology")))
        check_immutable(obj.get("nodeTopology"), old.get("nodeTopology"), _TOPOLOGY, errors)
        path = Path("storageClassName")
        check_immutable(obj.get("storageClassName", ""), old.get("storageClassName", ""), path, errors)

    def _check(self, obj: Object, errors: Errors, *, lenient: bool) -> None:
        check_label_selector(obj.get("nodeTopology"), _TOPOLOGY, errors, allow_invalid_values=lenient)
        name = obj.get("storageClassName", "")
        errors.extend(invalid(Path("storageClassName"), name, text) for text in dns1123_subdomain_errors(name))
        capacity = obj.get("capacity")
        if capacity is not None and Quantity.parse(capacity) < Quantity(0):
            errors.append(invalid(Path("capacity"), capacity, NOT_NEGATIVE))

    def warnings_on_create(self, ctx: Context, obj: Object) -> list[str]:
        """Warn about deprecated node labels."""
        topology = obj.get("nodeTopology") or {}
        found = [
            f"{_TOPOLOGY.child('matchExpressions').index(index).child('key')}: {key} is {DEPRECATED[key]}"
            for index, expression in enumerate(topology.get("matchExpressions") or ())
            if (key := expression.get("key", "")) in DEPRECATED
        ]
        labels = topology.get("matchLabels") or {}
        path = _TOPOLOGY.child("matchLabels")
        found += [f"{path.child(key)}: {DEPRECATED[key]}" for key in labels if key in DEPRECATED]
        return found


def _token_requests(driver: storage_v1.CSIDriver) -> str:
    requests = driver.get("spec", EMPTY).get("tokenRequests")
    return UNSET if requests is None else ",".join(request.get("audience", "") for request in requests)


KINDS: Final = (
    Kind(
        "storage.k8s.io",
        "csidrivers",
        CSIDriverStrategy(),
        columns=lambda ages: (
            NAME,
            boolean("AttachRequired", at("spec", "attachRequired", default=True)),
            boolean("PodInfoOnMount", at("spec", "podInfoOnMount", default=False)),
            boolean("StorageCapacity", at("spec", "storageCapacity", default=False)),
            column("TokenRequests", _token_requests),
            boolean("RequiresRepublish", at("spec", "requiresRepublish", default=False)),
            column("Modes", lambda obj: ",".join(obj.get("spec", EMPTY).get("volumeLifecycleModes", ())) or NONE),
            ages.column,
        ),
    ),
    Kind(
        "storage.k8s.io",
        "csinodes",
        CSINodeStrategy(),
        columns=lambda ages: (NAME, integer("Drivers", count("spec", "drivers")), ages.column),
    ),
    Kind("storage.k8s.io", "csistoragecapacities", CSIStorageCapacityStrategy()),
)
