"""Resource claims and their templates. Source: pkg/registry/resource, pkg/apis/resource/{v1,validation} (1.36)."""

from collections.abc import Iterator
from typing import ClassVar, Final

from sampan.core.field import Path, forbidden, internal, invalid, required
from sampan.core.object import Object
from sampan.registry.columns.cells import EMPTY, NAME, column
from sampan.registry.kind import Kind
from sampan.registry.kinds.resource.device_selectors import LIST_MAX, check_selectors
from sampan.registry.kinds.resource.resource_claim_status import check_status, granted_admin_access
from sampan.registry.kinds.resource.rules import (
    Check,
    check_configuration,
    check_full_attribute_name,
    check_list,
    check_references,
    check_toleration,
    check_unique,
)
from sampan.registry.old_versions.devices import resource_claim, resource_claim_template
from sampan.registry.rules.fields import (
    Errors,
    check_annotations,
    check_immutable,
    check_label,
    check_labels,
    check_subdomain,
    not_supported,
)
from sampan.registry.strategy import OBJECT_METADATA, Context, Strategy

_SPEC = Path("spec")
_SUBREQUESTS_MAX = 8
_MODES = ("All", "ExactCount")
_ADMIN_LABEL = "resource.kubernetes.io/admin-access"


def _device_requests(spec: Object) -> Iterator[Object]:
    """Yield all requests of devices, alternatives included."""
    for request in spec.get("devices", {}).get("requests") or ():
        if "exactly" in request:
            yield request["exactly"]
        yield from request.get("firstAvailable") or ()


def _default_spec(spec: Object) -> None:
    spec.setdefault("devices", {}).setdefault("requests", None)  # always shown
    for request in _device_requests(spec):
        if not request.get("allocationMode"):
            request["allocationMode"] = "ExactCount"
        if request["allocationMode"] == "ExactCount" and not request.get("count"):
            request["count"] = 1


def _check_device_request(request: Object, path: Path, errors: Errors) -> None:
    class_name, mode, count = request.get("deviceClassName", ""), request.get("allocationMode"), request.get("count", 0)
    if class_name:
        check_subdomain(class_name, path.child("deviceClassName"), errors)
    else:
        errors.append(required(path.child("deviceClassName")))
    check_selectors(request.get("selectors") or [], path.child("selectors"), errors)
    if mode == "All":
        if count:
            detail = "must not be specified when allocationMode is 'All'"
            errors.append(invalid(path.child("count"), count, detail))
    elif mode == "ExactCount":
        if count <= 0:
            errors.append(invalid(path.child("count"), count, "must be greater than zero"))
    else:
        errors.append(not_supported(path.child("allocationMode"), mode, _MODES))
    check_list(request.get("tolerations") or [], -1, path.child("tolerations"), errors, check_toleration)


def _check_alternative(alternative: Object, path: Path, errors: Errors) -> None:
    check_label(alternative.get("name", ""), path.child("name"), errors)
    _check_device_request(alternative, path, errors)


def _check_request(request: Object, path: Path, errors: Errors) -> None:
    check_label(request.get("name", ""), path.child("name"), errors)
    alternatives, exactly = request.get("firstAvailable") or [], request.get("exactly")
    if not alternatives and exactly is None:
        errors.append(required(path, "exactly one of `exactly` or `firstAvailable` is required"))
    elif alternatives and exactly is not None:
        detail = "exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set"
        errors.append(invalid(path, None, detail))
    elif exactly is not None:
        _check_device_request(exactly, path.child("exactly"), errors)
    else:
        at = path.child("firstAvailable")
        if check_list(alternatives, _SUBREQUESTS_MAX, at, errors, _check_alternative):
            check_unique([alternative.get("name", "") for alternative in alternatives], at, errors)


def request_names(spec: Object) -> set[str]:
    """Return the names that constraints, configurations and results may refer to."""
    names: set[str] = set()
    for request in spec.get("devices", {}).get("requests") or ():
        name = request.get("name", "")
        alternatives = request.get("firstAvailable") or ()
        names |= {name, *(f"{name}/{alternative.get('name', '')}" for alternative in alternatives)}
    return names


def _check_constraint(constraint: Object, path: Path, errors: Errors) -> None:
    for field in ("matchAttribute", "distinctAttribute"):
        if field in constraint:
            check_full_attribute_name(constraint[field], path.child(field), errors)
            return
    detail = 'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set'
    errors.append(required(path, detail))


def check_claim_spec(spec: Object, path: Path, errors: Errors) -> None:
    """Check requests, and the constraints and configurations that refer to them."""
    devices, at, known = spec.get("devices", {}), path.child("devices"), request_names(spec)
    requests = devices.get("requests") or []
    if check_list(requests, LIST_MAX, at.child("requests"), errors, _check_request):
        check_unique([request.get("name", "") for request in requests], at.child("requests"), errors)
    for name, check in (("constraints", _check_constraint), ("config", check_configuration)):

        def check_entry(entry: Object, at: Path, errors: Errors, check: Check = check) -> None:
            check_references(entry.get("requests") or [], known, at.child("requests"), errors)
            check(entry, at, errors)

        check_list(devices.get(name) or [], LIST_MAX, at.child(name), errors, check_entry)


def _check_admin_access(ctx: Context, path: Path | None, errors: Errors) -> None:
    """Check that admin access is requested only in a namespace labelled for it. Admin access includes devices that
    other claims use.
    """
    if path is None:
        return
    namespace = ctx.reader.get("", "namespaces", "", ctx.namespace) if ctx.reader is not None else None
    if namespace is None:
        text = f'could not retrieve namespace to verify admin access: namespaces "{ctx.namespace}" not found'
        errors.append(internal(path, text))
    elif namespace["metadata"].get("labels", {}).get(_ADMIN_LABEL) != "true":
        text = f"admin access to devices requires the `{_ADMIN_LABEL}: true` label on the containing namespace"
        errors.append(forbidden(path, text))


def _admin_access(spec: Object) -> Path | None:
    """Return the path of the first request with admin access, or None."""
    for index, request in enumerate(spec.get("devices", {}).get("requests") or ()):
        if (request.get("exactly") or {}).get("adminAccess"):
            return Path("spec", "devices", "requests").index(index).child("adminAccess")
    return None


class ResourceClaimStrategy(Strategy):
    """Defaults and rules of claims. The spec is immutable."""

    has_generation = False
    returns_deleted_object = True
    kept_metadata = OBJECT_METADATA
    reset_metadata: ClassVar = {}

    def default(self, obj: Object) -> None:
        """Set defaults: one device for each request."""
        _default_spec(obj.setdefault("spec", {}))

    def check(self, ctx: Context, obj: Object, errors: Errors) -> None:
        spec = obj.get("spec", {})
        _check_admin_access(ctx, _admin_access(spec), errors)
        check_claim_spec(spec, _SPEC, errors)

    def check_update(self, ctx: Context, obj: Object, old: Object, errors: Errors) -> None:
        """Check that the spec did not change."""
        check_immutable(obj.get("spec"), old.get("spec"), _SPEC, errors)

    def check_status_update(self, ctx: Context, obj: Object, old: Object, errors: Errors) -> None:
        """Check that only an allocated claim is reserved, and that the allocation changes only by deallocation."""
        status, before = obj.get("status", {}), old.get("status", {})
        if granted_admin_access(before) is None:
            _check_admin_access(ctx, granted_admin_access(status), errors)
        deleted = "deletionTimestamp" in obj["metadata"]
        check_status(status, before, request_names(obj.get("spec", {})), errors, deleted=deleted)


class ResourceClaimTemplateStrategy(Strategy):
    """Defaults and rules of templates of claims, which are immutable."""

    has_generation = False
    returns_deleted_object = True

    def default(self, obj: Object) -> None:
        """Set defaults: one device for each request."""
        _default_spec(obj.setdefault("spec", {}).setdefault("spec", {}))

    def check(self, ctx: Context, obj: Object, errors: Errors) -> None:
        _check_admin_access(ctx, _admin_access(obj.get("spec", {}).get("spec", {})), errors)
        self._check(obj, errors)

    def _check(self, obj: Object, errors: Errors) -> None:
        spec = obj.get("spec", {})
        metadata, path = spec.get("metadata", {}), _SPEC.child("metadata")
        check_annotations(metadata.get("annotations") or {}, path.child("annotations"), errors)
        check_labels(metadata.get("labels") or {}, path.child("labels"), errors)
        check_claim_spec(spec.get("spec", {}), _SPEC.child("spec"), errors)

    def check_update(self, ctx: Context, obj: Object, old: Object, errors: Errors) -> None:
        """Check that the spec did not change. Faults of the spec are reported too."""
        self._check(obj, errors)
        check_immutable(obj.get("spec"), old.get("spec"), _SPEC, errors)


def _state(claim: Object) -> str:
    status = claim.get("status", EMPTY)
    states = ["deleted"] if "deletionTimestamp" in claim["metadata"] else []
    if "allocation" in status:
        states.append("allocated")
        if status.get("reservedFor"):
            states.append("reserved")
    elif not states:
        states.append("pending")
    return ",".join(states)


KINDS: Final = (
    Kind(
        "resource.k8s.io",
        "resourceclaims",
        ResourceClaimStrategy(),
        old_versions={"resource.k8s.io/v1beta1": resource_claim},
        columns=lambda ages: (NAME, column("State", _state), ages.column),
    ),
    Kind(
        "resource.k8s.io",
        "resourceclaimtemplates",
        ResourceClaimTemplateStrategy(),
        old_versions={"resource.k8s.io/v1beta1": resource_claim_template},
        columns=lambda ages: (NAME, ages.column),
    ),
)
