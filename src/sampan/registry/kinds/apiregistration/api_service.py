"""Strategies of apiregistration.k8s.io."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

from sampan.core.clock import utc_now
from sampan.core.field import Path, invalid, quote, required
from sampan.core.object import Object
from sampan.core.time import format_time
from sampan.core.validation.names import dns1035_label_errors, dns1123_subdomain_errors, path_segment_errors
from sampan.core.validation.values import port_number_errors
from sampan.kinds import apiregistration_v1
from sampan.registry.columns.cells import EMPTY, NAME, column
from sampan.registry.kind import Kind
from sampan.registry.rules.fields import Errors, not_supported
from sampan.registry.strategy import Context, Strategy

_SPEC = Path("spec")
_SERVICE = Path("spec", "service")
_CONDITIONS = Path("status", "conditions")
_GROUP_PRIORITY_MAX = 20_000
_VERSION_PRIORITY_MAX = 1000
_LOCAL = {
    "type": "Available",
    "status": "True",
    "reason": "Local",
    "message": "Local APIServices are always available",
}


def _check_local(spec: Object, errors: Errors) -> None:
    bundle = spec.get("caBundle", "")
    if bundle:
        size = len(bundle) * 3 // 4 - bundle.count("=")
        errors.append(invalid(_SPEC.child("caBundle"), f"{size} bytes", "local APIServices may not have a caBundle"))
    if spec.get("insecureSkipTLSVerify"):
        detail = "local APIServices may not have insecureSkipTLSVerify"
        errors.append(invalid(_SPEC.child("insecureSkipTLSVerify"), True, detail))


def _check_service(spec: Object, errors: Errors) -> None:
    service = spec["service"]
    errors.extend(required(_SERVICE.child(name)) for name in ("namespace", "name") if not service.get(name))
    port = service.get("port", 0)
    texts = port_number_errors(port)
    if texts:
        errors.append(invalid(_SERVICE.child("port"), port, f"port is not valid: {', '.join(texts)}"))
    if spec.get("insecureSkipTLSVerify") and spec.get("caBundle"):
        detail = "may not be true if caBundle is present"
        errors.append(invalid(_SPEC.child("insecureSkipTLSVerify"), True, detail))


class APIServiceStrategy(Strategy):
    """Strategy of API services, which are named `<version>.<group>`.

    Source: kube-aggregator pkg/registry/apiservice, pkg/apis/apiregistration/{v1,validation} (1.36).
    """

    standard_finalizers = False
    has_generation = False
    allow_unconditional_update = False
    kept_metadata: ClassVar[Sequence[str]] = ("labels", "annotations", "finalizers", "ownerReferences")
    reset_metadata: ClassVar = {}

    def name_errors(self, name: str, *, prefix: bool = False) -> list[str]:
        """Check the name. The name for the core group ends with a dot."""
        return path_segment_errors(name)

    def default(self, obj: Object) -> None:
        """Set defaults: services listen on port 443."""
        service = obj.setdefault("spec", {}).get("service")
        if service is not None:
            service.setdefault("port", 443)

    def prepare_for_create(self, ctx: Context, obj: Object) -> None:
        """Mark local API services as available."""
        if "service" not in obj["spec"]:
            now = format_time(utc_now())
            obj["status"] = {"conditions": [{**_LOCAL, "lastTransitionTime": now}]}

    def check(self, ctx: Context, obj: Object, errors: Errors) -> None:
        spec, name = obj.get("spec", {}), obj["metadata"].get("name", "")
        group, version = spec.get("group", ""), spec.get("version", "")
        expected = f"{version}.{group}"
        detail = f'must be `spec.version+"."+spec.group`: {quote(expected)}'
        prefix = obj["metadata"].get("generateName")
        if prefix and prefix != expected and not path_segment_errors(prefix):
            errors.append(invalid(Path("metadata", "generateName"), prefix, detail))
        if name != expected:
            errors.append(invalid(Path("metadata", "name"), name, detail))
        if not group and version != "v1":
            detail = "only v1 may have an empty group and it better be legacy kube"
            errors.append(required(_SPEC.child("group"), detail))
        if group:
            errors.extend(invalid(_SPEC.child("group"), group, text) for text in dns1123_subdomain_errors(group))
        errors.extend(invalid(_SPEC.child("version"), version, text) for text in dns1035_label_errors(version))
        priorities = (("groupPriorityMinimum", _GROUP_PRIORITY_MAX), ("versionPriority", _VERSION_PRIORITY_MAX))
        for field, bound in priorities:
            value = spec.get(field, 0)
            if not 0 < value <= bound:
                errors.append(invalid(_SPEC.child(field), value, f"must be positive and less than {bound}"))
        if "service" in spec:
            _check_service(spec, errors)
        else:
            _check_local(spec, errors)

    def check_status_update(self, ctx: Context, obj: Object, old: Object, errors: Errors) -> None:
        """Check that conditions are true, false or unknown."""
        known = ("True", "False", "Unknown")
        errors.extend(
            not_supported(_CONDITIONS.index(index).child("status"), condition.get("status", ""), known)
            for index, condition in enumerate(obj.get("status", {}).get("conditions") or ())
            if condition.get("status") not in known
        )


def _target(service: apiregistration_v1.APIService) -> str:
    target = service.get("spec", EMPTY).get("service")
    return "Local" if target is None else f"{target.get('namespace', '')}/{target.get('name', '')}"


def _available(service: apiregistration_v1.APIService) -> str:
    for condition in service.get("status", EMPTY).get("conditions", ()):
        if condition["type"] == "Available":
            status, reason = condition["status"], condition.get("reason")
            return f"{status} ({reason})" if reason and status != "True" else str(status)
    return "Unknown"


KINDS: Final = (
    Kind(
        "apiregistration.k8s.io",
        "apiservices",
        APIServiceStrategy(),
        columns=lambda ages: (
            NAME,
            column("Service", _target),
            column("Available", _available),
            ages.column,
        ),
        storage_prefix="apiregistration.k8s.io/apiservices",
    ),
)
