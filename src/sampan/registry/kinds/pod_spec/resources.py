"""Names and amounts of compute resources: valid names, permitted uses, and sums over containers.

Source: pkg/apis/core/helper/helpers.go, pkg/apis/core/validation/validation.go, component-helpers resource/helpers.go
(1.36).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import Any

from sampan.core.field import FieldError, Path, duplicate, forbidden, invalid, required
from sampan.core.pods.resources import Kind, parts_of, pod_requests
from sampan.core.quota.usage import Usage
from sampan.core.validation.names import dns1123_label_errors, qualified_name_errors
from sampan.kinds import core_v1
from sampan.registry.rules.fields import not_found_with_detail, not_supported
from sampan.registry.rules.quantities import ZERO, amount, is_whole

Errors = list[FieldError]

NOT_NEGATIVE = "must be greater than or equal to 0"
NOT_INTEGER = "must be an integer"
STORAGE = "storage"

_COUNTS = frozenset(
    {
        "pods",
        "resourcequotas",
        "services",
        "replicationcontrollers",
        "secrets",
        "configmaps",
        "persistentvolumeclaims",
        "services.nodeports",
        "services.loadbalancers",
    }
)
_STANDARD_QUOTA = _COUNTS | {
    "cpu",
    "memory",
    "ephemeral-storage",
    "requests.cpu",
    "requests.memory",
    "requests.storage",
    "requests.ephemeral-storage",
    "limits.cpu",
    "limits.memory",
    "limits.ephemeral-storage",
}
_STANDARD = _STANDARD_QUOTA | {STORAGE}
_CPU_AND_MEMORY = frozenset({"cpu", "memory"})
_NOTHING: dict[str, str] = {}
_PLAIN = frozenset({"cpu", "memory", "ephemeral-storage"})


def is_hugepages(name: str) -> bool:
    """Return True if the resource is huge pages of some size."""
    return name.startswith("hugepages-")


def is_native(name: str) -> bool:
    """Return True if Kubernetes defines the resource."""
    return "/" not in name or "kubernetes.io/" in name


@lru_cache(maxsize=1024)
def is_extended(name: str) -> bool:
    """Return True if the name is that of an extended resource (`example.com/gpu`)."""
    if is_native(name) or name.startswith("requests."):
        return False
    return not qualified_name_errors(f"requests.{name}")


def is_integer_resource(name: str) -> bool:
    """Return True if amounts of the resource must be whole."""
    return name in _COUNTS or ("/" in name and is_extended(name))


def is_overcommit_allowed(name: str) -> bool:
    """Return True if requests may be less than limits."""
    return is_native(name) and not is_hugepages(name)


def is_pod_level_resource(name: str) -> bool:
    """Return True if a pod as a whole can request the resource."""
    return name in _CPU_AND_MEMORY or is_hugepages(name)


def is_standard_quota_resource(name: str) -> bool:
    """Return True if quotas accept the resource by its short name."""
    return name in _STANDARD_QUOTA or name.startswith(("hugepages-", "requests.hugepages-"))


def check_resource_name(name: str, path: Path, errors: Errors) -> None:
    """Check a qualified name. A name without a domain must be a standard one."""
    texts = qualified_name_errors(name)
    if texts:
        errors.extend(invalid(path, name, text) for text in texts)
    elif "/" not in name and name not in _STANDARD and not name.startswith(("hugepages-", "requests.hugepages-")):
        errors.append(invalid(path, name, "must be a standard resource type or fully qualified"))


def check_container_resource_name(name: str, path: Path, errors: Errors) -> None:
    """Check the name of a resource that a container requests."""
    if name in _PLAIN:
        return
    check_resource_name(name, path, errors)
    if "/" not in name:
        if not is_hugepages(name):
            errors.append(invalid(path, name, "must be a standard resource for containers"))
    elif not is_native(name) and not is_extended(name):
        errors.append(invalid(path, name, "doesn't follow extended resource name standard"))


def check_pod_resource_name(name: str, path: Path, errors: Errors) -> None:
    """Check the name of a resource that a pod as a whole requests."""
    before = len(errors)
    check_resource_name(name, path, errors)
    if len(errors) == before and not is_pod_level_resource(name):
        errors.append(not_supported(path, name, ("cpu", "hugepages-", "memory")))


def check_quota_resource_name(name: str, path: Path, errors: Errors) -> None:
    """Check the name of a resource that a quota limits."""
    check_resource_name(name, path, errors)
    if "/" not in name and not is_standard_quota_resource(name):
        errors.append(invalid(path, name, "must be a standard resource for quota"))


def check_amount(name: str, text: str, path: Path, errors: Errors) -> None:
    """Check that an amount is not negative, and that it is a whole number if the resource requires that."""
    if text[:1] == "-" and amount(text) < ZERO:
        errors.append(invalid(path, text, NOT_NEGATIVE))
    if is_integer_resource(name) and not is_whole(text):
        errors.append(invalid(path, text, NOT_INTEGER))


def check_positive_amount(text: str, path: Path, errors: Errors) -> None:
    """Check that an amount is greater than zero."""
    if amount(text) <= ZERO:
        errors.append(invalid(path, text, "must be greater than zero"))


def check_basic_amount(text: str, path: Path, errors: Errors) -> None:
    """Check that an amount is not negative."""
    units = amount(text).value()
    if units < 0:
        errors.append(invalid(path, units, "must be a valid resource quantity"))


def is_whole_pages(name: str, text: str) -> bool:
    """Return True if the amount is a multiple of the page size in the name of a huge page resource.

    Source: pkg/apis/core/v1/helper/helpers.go IsHugePageResourceValueDivisible (1.36).
    """
    size = name[len("hugepages-") :]
    return amount(size) > ZERO and is_whole(size) and amount(text).value() % amount(size).value() == 0


def _check_hugepages_amount(name: str, text: str, path: Path, errors: Errors) -> None:
    if not is_whole_pages(name, text):
        errors.append(invalid(path, text, f"{text} is not positive integer multiple of {name}"))


def validate_requirements(
    resources: core_v1.ResourceRequirements,
    claim_names: Collection[str],
    path: Path,
    errors: Errors,
    *,
    pod_level: bool = False,
    allow_indivisible_hugepages: bool = False,
) -> None:
    """Check ResourceRequirements of a container, or, with `pod_level`, of a pod."""
    limits = resources.get("limits") or {}
    requests = resources.get("requests") or {}
    claims = resources.get("claims")
    check_name = check_pod_resource_name if pod_level else check_container_resource_name
    for kind, amounts in (("limits", limits), ("requests", requests)):
        for name, text in amounts.items():
            at = path.child(kind).key(name)
            check_name(name, at, errors)
            check_amount(name, text, at, errors)
            if kind == "requests":
                _check_request(name, text, limits.get(name), path, errors)
            if is_hugepages(name) and not allow_indivisible_hugepages:
                _check_hugepages_amount(name, text, at, errors)
    everything = limits.keys() | requests.keys()
    if not everything & _CPU_AND_MEMORY and any(map(is_hugepages, everything)):
        errors.append(forbidden(path, "HugePages require cpu or memory"))
    if claims:
        _check_claims(claims, claim_names, path.child("claims"), errors)


def is_trivially_valid(resources: core_v1.ResourceRequirements) -> bool:
    """Return True if a container requests only cpu, memory and storage, within its limits.

    This is a fast path around the full check. False does not imply a fault.
    """
    if resources.get("claims"):
        return False
    limits, requests = resources.get("limits") or _NOTHING, resources.get("requests") or _NOTHING
    for name, text in limits.items():
        if text[:1] == "-" or name not in _PLAIN:
            return False
    for name, text in requests.items():
        if text[:1] == "-" or name not in _PLAIN:
            return False
        limit = limits.get(name)
        if limit is not None and limit != text and amount(text) > amount(limit):
            return False
    return True


def _check_request(name: str, text: str, limit: str | None, path: Path, errors: Errors) -> None:
    if limit is None:
        if not is_overcommit_allowed(name):
            errors.append(required(path.child("limits"), "Limit must be set for non overcommitable resources"))
        return
    difference = amount(text).compare(amount(limit))
    if difference and not is_overcommit_allowed(name):
        errors.append(invalid(path.child("requests"), text, f"must be equal to {name} limit of {limit}"))
    elif difference > 0:
        errors.append(invalid(path.child("requests"), text, f"must be less than or equal to {name} limit of {limit}"))


def _check_claims(claims: list[core_v1.ResourceClaim], known: Collection[str], path: Path, errors: Errors) -> None:
    names: set[str] = set()
    for i, claim in enumerate(claims):
        name = claim.get("name", "")
        request = claim.get("request", "")
        if not name:
            errors.append(required(path.index(i)))
            continue
        if name in names:
            errors.append(duplicate(path.index(i), name))
        else:
            key = name
            if request:
                at = path.index(i).child("request")
                errors.extend(invalid(at, request, text) for text in dns1123_label_errors(request))
                key = f"{name}/{request}"
            if key in names:
                errors.append(duplicate(path.index(i), key))
            elif not request:
                errors.extend(duplicate(path.index(i), name) for other in names if other.partition("/")[0] == name)
            names.add(key)
        if name not in known:
            detail = "must be one of the names in pod.spec.resourceClaims"
            detail += f": {', '.join(sorted(known))}" if known else " which is empty"
            errors.append(not_found_with_detail(path.index(i), name, detail))


def aggregate_container_resources(spec: core_v1.PodSpec, kind: Kind) -> Usage:
    """Return the amounts that all containers of a pod need at once, without those of the pod itself."""
    return pod_requests(parts_of({"spec": spec}, kind, _amounts, overhead=False, pod_level=False))


def _amounts(values: Mapping[str, Any] | None) -> Usage:
    return {name: amount(text) for name, text in (values or {}).items()}
