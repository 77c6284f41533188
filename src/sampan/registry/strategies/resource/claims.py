"""Resource claims and their templates. Source: pkg/registry/resource, pkg/apis/resource/{v1,validation} (1.36)."""

from collections.abc import Iterator

from sampan.core.field import FieldError, Path, duplicate, forbidden, invalid, required, too_many
from sampan.core.object import Object
from sampan.registry.strategies.core.fields import (
    Errors,
    check_immutable,
    check_label,
    check_subdomain,
    not_supported,
)
from sampan.registry.strategies.resource.deviceclass import LIST_MAX, check_configuration, check_selectors
from sampan.registry.strategies.statusonly import StatusOnlyStrategy
from sampan.registry.strategy import Context, Strategy

_SPEC = Path("spec")
_STATUS = Path("status")
_SUBREQUESTS_MAX = 8
_RESERVED_MAX = 256
_MODES = ("All", "ExactCount")
_NOT_QUALIFIED = "a fully qualified name must be a domain and a name separated by a slash"
_NO_SUCH_REQUEST = (
    "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
)


def _device_requests(spec: Object) -> Iterator[Object]:
    """What is asked for, alternatives included."""
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


def _check_alternatives(alternatives: list[Object], path: Path, errors: Errors) -> None:
    if len(alternatives) > _SUBREQUESTS_MAX:
        errors.append(too_many(path, len(alternatives), _SUBREQUESTS_MAX))
    names: set[str] = set()
    for index, alternative in enumerate(alternatives):
        at, name = path.index(index), alternative.get("name", "")
        check_label(name, at.child("name"), errors)
        if name in names:
            errors.append(duplicate(at, name))
        names.add(name)
        _check_device_request(alternative, at, errors)


def _check_requests(requests: list[Object], path: Path, errors: Errors) -> set[str]:
    """The names that constraints and configurations may refer to."""
    names: set[str] = set()
    if len(requests) > LIST_MAX:
        errors.append(too_many(path, len(requests), LIST_MAX))
    for index, request in enumerate(requests):
        at, name = path.index(index), request.get("name", "")
        check_label(name, at.child("name"), errors)
        if name in names:
            errors.append(duplicate(at, name))
        alternatives, exactly = request.get("firstAvailable") or [], request.get("exactly")
        if not alternatives and exactly is None:
            errors.append(required(at, "exactly one of `exactly` or `firstAvailable` is required"))
        elif alternatives and exactly is not None:
            detail = "exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set"
            errors.append(invalid(at, None, detail))
        elif exactly is not None:
            _check_device_request(exactly, at.child("exactly"), errors)
        else:
            _check_alternatives(alternatives, at.child("firstAvailable"), errors)
        names |= {name, *(f"{name}/{alternative.get('name', '')}" for alternative in alternatives)}
    return names


def _check_references(names: list[str], known: set[str], path: Path, errors: Errors) -> None:
    for index, name in enumerate(names):
        if name not in known:
            errors.append(invalid(path.index(index), name, _NO_SUCH_REQUEST))
        if name in names[:index]:
            errors.append(duplicate(path.index(index), name))


def check_claim_spec(spec: Object, path: Path, errors: Errors) -> None:
    """Requests, and constraints and configurations that refer to them."""
    devices, at = spec.get("devices", {}), path.child("devices")
    known = _check_requests(devices.get("requests") or [], at.child("requests"), errors)
    for name in ("constraints", "config"):
        entries, here = devices.get(name) or [], at.child(name)
        if len(entries) > LIST_MAX:
            errors.append(too_many(here, len(entries), LIST_MAX))
        for index, entry in enumerate(entries):
            _check_references(entry.get("requests") or [], known, here.index(index).child("requests"), errors)
            if name == "config":
                check_configuration(entry, here.index(index), errors)
                continue
            for field in ("matchAttribute", "distinctAttribute"):
                if "/" not in entry.get(field, "/"):
                    errors.append(invalid(here.index(index).child(field), entry[field], _NOT_QUALIFIED))
            if "matchAttribute" not in entry and "distinctAttribute" not in entry:
                detail = (
                    'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set'
                )
                errors.append(required(here.index(index), detail))


class ResourceClaimStrategy(StatusOnlyStrategy):
    """Defaults and rules of claims; the spec never changes."""

    has_generation = False
    returns_deleted_object = True

    def default(self, obj: Object) -> None:
        """One device of each request."""
        _default_spec(obj.setdefault("spec", {}))

    def validate(self, ctx: Context, obj: Object) -> list[FieldError]:
        """The rules of a new claim."""
        errors: Errors = []
        check_claim_spec(obj.get("spec", {}), _SPEC, errors)
        return errors

    def validate_update(self, ctx: Context, obj: Object, old: Object) -> list[FieldError]:
        """The spec stays."""
        errors: Errors = []
        check_immutable(obj.get("spec"), old.get("spec"), _SPEC, errors)
        return errors

    def validate_status_update(self, ctx: Context, obj: Object, old: Object) -> list[FieldError]:
        """Only what is allocated can be reserved; an allocation stays until it is given back."""
        errors: Errors = []
        status, before = obj.get("status", {}), old.get("status", {})
        reserved, path = status.get("reservedFor") or [], _STATUS.child("reservedFor")
        if len(reserved) > _RESERVED_MAX:
            errors.append(too_many(path, len(reserved), _RESERVED_MAX))
        for index, consumer in enumerate(reserved):
            for name in ("resource", "name", "uid"):
                if not consumer.get(name):
                    errors.append(required(path.index(index).child(name)))
        if reserved and "allocation" not in status:
            errors.append(forbidden(path, "may not be specified when `allocated` is not set"))
        elif "deletionTimestamp" in obj["metadata"]:
            known = before.get("reservedFor") or []
            if any(consumer not in known for consumer in reserved):
                detail = "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set"
                errors.append(forbidden(path, detail))
        if "allocation" in before and "allocation" in status:
            check_immutable(status["allocation"], before["allocation"], _STATUS.child("allocation"), errors)
        return errors


class ResourceClaimTemplateStrategy(Strategy):
    """Defaults and rules of templates of claims; they never change."""

    has_generation = False
    returns_deleted_object = True

    def default(self, obj: Object) -> None:
        """One device of each request."""
        _default_spec(obj.setdefault("spec", {}).setdefault("spec", {}))

    def validate(self, ctx: Context, obj: Object) -> list[FieldError]:
        """The rules of a new template."""
        errors: Errors = []
        check_claim_spec(obj.get("spec", {}).get("spec", {}), _SPEC.child("spec"), errors)
        return errors

    def validate_update(self, ctx: Context, obj: Object, old: Object) -> list[FieldError]:
        """The spec stays."""
        errors: Errors = []
        check_immutable(obj.get("spec"), old.get("spec"), _SPEC, errors)
        return errors
