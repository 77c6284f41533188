"""Pods. Source: pkg/registry/core/pod/strategy.go, pkg/apis/core/validation/validation.go (1.36)."""

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, ClassVar, Final, TypedDict

import orjson

from sampan.core.field import FieldError, Path, forbidden
from sampan.core.object import Object
from sampan.registry.kind import Kind
from sampan.registry.kinds.core.pod_columns import pod_columns, row_conditions
from sampan.registry.kinds.core.pod_qos import compute_qos
from sampan.registry.kinds.core.pod_status import prepare_status, validate_pod_status_update
from sampan.registry.kinds.core.pod_subresources import (
    prepare_ephemeral_containers,
    prepare_resize,
    validate_ephemeral_containers_update,
    validate_resize,
)
from sampan.registry.kinds.core.pod_update import validate_pod_update
from sampan.registry.kinds.core.valid_pod import validate_pod
from sampan.registry.kinds.pod_spec.annotations import check_profiles_match_annotations
from sampan.registry.kinds.pod_spec.defaults import default_pod
from sampan.registry.kinds.pod_spec.options import STRICT_POD
from sampan.registry.kinds.pod_spec.prepare import (
    apparmor_warnings,
    apply_apparmor_annotations,
    apply_label_keys,
    drop_disabled_fields,
    new_status,
)
from sampan.registry.kinds.pod_spec.spec import hostname_warning
from sampan.registry.kinds.pod_spec.warnings import pod_warnings
from sampan.registry.rules.ip_addresses import ip_warnings
from sampan.registry.rules.semantics import same
from sampan.registry.strategy import Context, Strategy, keep_metadata

Errors = list[FieldError]
_SPEC = Path("spec")
_CACHED_KEYS_MAX = 512
_CACHED_KEY_BYTES_MAX = 16 << 10


class _Spec(TypedDict, total=False):
    nodeName: str
    restartPolicy: str
    schedulerName: str
    serviceAccountName: str
    hostNetwork: bool


class _Status(TypedDict, total=False):
    phase: str
    podIP: str
    podIPs: list[dict[str, str]]
    nominatedNodeName: str


class _Part(TypedDict, total=False):
    """Fields that field selectors read."""

    spec: _Spec | None
    status: _Status | None


class PodStrategy(Strategy):
    """Strategy of pods, the only resource with graceful deletion."""

    returns_deleted_object = True
    reset_metadata: ClassVar = {"f:deletionTimestamp": {}, "f:ownerReferences": {}}
    field_label_aliases: ClassVar[dict[str, str]] = {"spec.host": "spec.nodeName"}
    labels: ClassVar[Sequence[str]] = (
        "spec.nodeName",
        "spec.restartPolicy",
        "spec.schedulerName",
        "spec.serviceAccountName",
        "spec.hostNetwork",
        "status.phase",
        "status.podIP",
        "status.podIPs",
        "status.nominatedNodeName",
    )

    def __init__(self) -> None:
        self._valid = ValidPodCache()
        self._without_warnings = ValidPodCache()

    def for_cluster(self) -> "PodStrategy":
        return type(self)()

    def default(self, obj: Object) -> None:
        default_pod(obj)
        if obj["spec"].get("terminationGracePeriodSeconds", 0) < 0:
            obj["spec"]["terminationGracePeriodSeconds"] = 1  # as in the conversion of Pods; templates keep the value

    def prepare_for_create(self, ctx: Context, obj: Object) -> None:
        spec, metadata = obj["spec"], obj["metadata"]
        obj["status"] = new_status(obj, compute_qos(spec))
        drop_disabled_fields(spec, None)
        if "affinity" in spec or "topologySpreadConstraints" in spec:
            apply_label_keys(spec, metadata.get("labels") or {})
        apply_apparmor_annotations(obj)

    def prepare_for_update(self, ctx: Context, obj: Object, old: Object) -> None:
        drop_disabled_fields(obj["spec"], old["spec"])

    def prepare_for_status_update(self, ctx: Context, obj: Object, old: Object) -> None:
        keep_metadata(obj, old, ("ownerReferences", "deletionTimestamp"))
        prepare_status(obj, old)

    def check(self, ctx: Context, obj: Object, errors: Errors) -> None:
        key = self._valid.key(obj)
        if self._valid.contains(key):
            return
        before = len(errors)
        self._check(obj, errors)
        if len(errors) == before:
            self._valid.add(key)

    def _check(self, obj: Object, errors: Errors) -> None:
        spec, annotations = obj["spec"], obj["metadata"].get("annotations")
        validate_pod(obj, errors, STRICT_POD)
        if spec.get("ephemeralContainers"):
            errors.append(forbidden(_SPEC.child("ephemeralContainers"), "cannot be set on create"))
        if spec.get("nodeName") and spec.get("schedulingGates"):
            text = "cannot be set until all schedulingGates have been cleared"
            errors.append(forbidden(_SPEC.child("nodeName"), text))
        if annotations:
            check_profiles_match_annotations(annotations, spec, _SPEC, errors)

    def check_update(self, ctx: Context, obj: Object, old: Object, errors: Errors) -> None:
        validate_pod_update(obj, old, errors)

    def check_status_update(self, ctx: Context, obj: Object, old: Object, errors: Errors) -> None:
        validate_pod_status_update(obj, old, errors)

    def warnings_on_create(self, ctx: Context, obj: Object) -> list[str]:
        by_name = hostname_warning(obj["metadata"].get("name", ""))
        key = self._without_warnings.key(obj)
        if self._without_warnings.contains(key):
            return by_name
        warnings = apparmor_warnings(obj) + pod_warnings(obj)
        if not warnings:
            self._without_warnings.add(key)
        return by_name + warnings

    def warnings_on_update(self, ctx: Context, obj: Object, old: Object) -> list[str]:
        if ctx.subresource != "status":
            return []
        warnings: list[str] = []
        for name in ("podIPs", "hostIPs"):
            for i, address in enumerate((obj.get("status") or {}).get(name) or ()):
                at = Path("status", name).index(i).child("ip")
                warnings.extend(ip_warnings(at, address.get("ip", "")))
        return warnings

    def spec_changed(self, obj: Object, old: Object) -> bool:
        return not same(obj.get("spec"), old.get("spec"))

    def grace_period_s(self, obj: Object, requested: int | None) -> int | None:
        spec, phase = obj.get("spec") or {}, (obj.get("status") or {}).get("phase")
        period: int = spec.get("terminationGracePeriodSeconds", 0) if requested is None else requested
        if not spec.get("nodeName") or phase in ("Failed", "Succeeded"):
            return 0
        return 1 if period < 0 else period

    selectable_part: ClassVar[Any] = _Part

    def selectable_fields(self, obj: Object) -> dict[str, str]:
        spec, status = obj.get("spec") or {}, obj.get("status") or {}
        addresses = status.get("podIPs")
        return {
            "spec.nodeName": spec.get("nodeName", ""),
            "spec.restartPolicy": spec.get("restartPolicy", ""),
            "spec.schedulerName": spec.get("schedulerName", ""),
            "spec.serviceAccountName": spec.get("serviceAccountName", ""),
            "spec.hostNetwork": "true" if spec.get("hostNetwork") else "false",
            "status.phase": status.get("phase", ""),
            "status.podIP": addresses[0].get("ip", "") if addresses else status.get("podIP", ""),
            "status.nominatedNodeName": status.get("nominatedNodeName", ""),
        }


class EphemeralContainersStrategy(PodStrategy):
    """Strategy of PUT and PATCH `pods/NAME/ephemeralcontainers`."""

    def prepare_for_update(self, ctx: Context, obj: Object, old: Object) -> None:
        prepare_ephemeral_containers(obj, old)

    def check_update(self, ctx: Context, obj: Object, old: Object, errors: Errors) -> None:
        errors.extend(validate_ephemeral_containers_update(obj, old))

    def warnings_on_update(self, ctx: Context, obj: Object, old: Object) -> list[str]:
        return []


class ResizeStrategy(PodStrategy):
    """Strategy of PUT and PATCH `pods/NAME/resize`."""

    def prepare_for_update(self, ctx: Context, obj: Object, old: Object) -> None:
        prepare_resize(obj, old)

    def check_update(self, ctx: Context, obj: Object, old: Object, errors: Errors) -> None:
        errors.extend(validate_resize(obj, old))

    def warnings_on_update(self, ctx: Context, obj: Object, old: Object) -> list[str]:
        return []


class ValidPodCache:
    """Cache of valid pods: workloads create many equal pods from one template, which need not be validated again.

    The key is the exact bytes of all that the result depends on, so pods that differ never share a result. Only the
    results "no fault" and "no warning" are cached. The least recently used ones are evicted.
    """

    def __init__(self) -> None:
        self._keys: OrderedDict[bytes, None] = OrderedDict()

    def key(self, pod: Object) -> bytes | None:
        """Return the cache key of a pod. None if the result depends on the pod's name too, or if the pod is large."""
        spec, metadata = pod["spec"], pod["metadata"]
        if "resourceClaims" in spec or any("ephemeral" in volume for volume in spec.get("volumes") or ()):
            return None
        try:
            found = orjson.dumps((spec, metadata.get("labels"), metadata.get("annotations")))
        except orjson.JSONEncodeError:
            return None
        return found if len(found) <= _CACHED_KEY_BYTES_MAX else None

    def contains(self, key: bytes | None) -> bool:
        """Return True if an equal pod was valid. The key counts as recently used."""
        if key is None or key not in self._keys:
            return False
        self._keys.move_to_end(key)
        return True

    def add(self, key: bytes | None) -> None:
        """Record that a pod is valid. Evict the least recently used key of a full cache."""
        if key is not None:
            self._keys[key] = None
            if len(self._keys) > _CACHED_KEYS_MAX:
                self._keys.popitem(last=False)


KINDS: Final = (
    Kind(
        "",
        "pods",
        PodStrategy(),
        columns=pod_columns,
        row_conditions=row_conditions,
        subresources={"ephemeralcontainers": EphemeralContainersStrategy(), "resize": ResizeStrategy()},
    ),
)
