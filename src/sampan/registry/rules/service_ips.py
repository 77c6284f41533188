"""Cluster IPs of a Service and their families: valid values and permitted changes.

Source: pkg/apis/core/validation/validation.go ValidateServiceClusterIPsRelatedFields (1.36).
"""

from __future__ import annotations

from sampan.core.field import FieldError, Path, duplicate, invalid, required
from sampan.kinds import core_v1
from sampan.registry.rules.fields import not_supported
from sampan.registry.rules.ip_addresses import are_dual_stack, check_ip, is_ipv6
from sampan.registry.rules.service_types import is_headless

Errors = list[FieldError]
_IPS = Path("spec", "clusterIPs")
_FAMILIES = Path("spec", "ipFamilies")
_POLICY = Path("spec", "ipFamilyPolicy")
_KNOWN_FAMILIES = ("IPv4", "IPv6")
_KNOWN_POLICIES = ("PreferDualStack", "RequireDualStack", "SingleStack")
_FIXED = "may not change once set"


def validate_cluster_ips(spec: core_v1.ServiceSpec, old_spec: core_v1.ServiceSpec, errors: Errors) -> None:
    """Check that `clusterIP`, `clusterIPs`, `ipFamilies` and `ipFamilyPolicy` are consistent."""
    if spec.get("type") == "ExternalName":
        return
    ip, ips = spec.get("clusterIP", ""), spec.get("clusterIPs") or []
    families, policy = spec.get("ipFamilies") or [], spec.get("ipFamilyPolicy")
    if ip and not ips:
        errors.append(required(_IPS))
    elif ip and ips[0] != ip:
        errors.append(invalid(_IPS, ips, "first value must match `clusterIP`"))
    elif ips and not ip:
        errors.append(invalid(_IPS, ips, "must be empty when `clusterIP` is not specified"))
    for i, family in enumerate(families):
        if family not in _KNOWN_FAMILIES:
            errors.append(not_supported(_FAMILIES.index(i), family, _KNOWN_FAMILIES))
        if family in families[:i]:
            errors.append(duplicate(_FAMILIES.index(i), family))
    if policy is not None and policy not in _KNOWN_POLICIES:
        errors.append(not_supported(_POLICY, policy, _KNOWN_POLICIES))
    if not _check_ips(ips, old_spec.get("clusterIPs") or [], errors):
        return
    if len(ips) > 1 and not are_dual_stack(ips):
        errors.append(invalid(_IPS, ips, "may specify no more than one IP for each IP family"))
    if is_headless(spec):
        return
    for i, (address, family) in enumerate(zip(ips, families, strict=False)):
        if family in _KNOWN_FAMILIES and is_ipv6(address) != (family == "IPv6"):
            text = f"expected an {family} value as indicated by `ipFamilies[{i}]`"
            errors.append(invalid(_IPS.index(i), address, text))


def _check_ips(ips: list[str], stored: list[str], errors: Errors) -> bool:
    valid = True
    for i, ip in enumerate(ips):
        if i == 0 and ip == "None":
            if len(ips) > 1:
                valid = False
                errors.append(invalid(_IPS, ips, "'None' must be the first and only value"))
            continue
        before = len(errors)
        check_ip(ip, _IPS.index(i), errors, stored)
        valid = valid and len(errors) == before
    if len(ips) > 2:
        errors.append(invalid(_IPS, ips, "may only hold up to 2 values"))
    return valid


def validate_ip_changes(spec: core_v1.ServiceSpec, old_spec: core_v1.ServiceSpec, errors: Errors) -> None:
    """Check that the primary address and family did not change.

    A secondary address is added or removed by a change of `ipFamilyPolicy`.
    """
    if "ExternalName" in (spec.get("type"), old_spec.get("type")):
        return
    headless, was_headless = is_headless(spec), is_headless(old_spec)
    ips, old_ips = spec.get("clusterIPs") or [], old_spec.get("clusterIPs") or []
    families, old_families = spec.get("ipFamilies") or [], old_spec.get("ipFamilies") or []
    policy = spec.get("ipFamilyPolicy")
    if headless and was_headless:
        return
    if len(ips) == len(old_ips):
        for i, (ip, old) in enumerate(zip(ips, old_ips, strict=True)):
            if ip != old:
                errors.append(invalid(_IPS.index(i), ips, _FIXED))
    elif len(old_ips) > len(ips):
        _check_released(ips, old_ips, ips, (_IPS, "primary clusterIP", "clusterIP"), policy, errors)
    elif old_ips and ips[0] != old_ips[0]:
        errors.append(invalid(_IPS.index(0), ips, _FIXED))
    if headless or was_headless:
        return
    if len(families) == len(old_families):
        errors.extend(
            invalid(_FAMILIES.index(0), families, _FIXED)
            for family, old in zip(families, old_families, strict=True)
            if family != old
        )
    elif len(old_families) > len(families):
        _check_released(families, old_families, ips, (_FAMILIES, "primary ipFamily", "ipFamily"), policy, errors)
    elif old_families and families and families[0] != old_families[0]:
        errors.append(invalid(_FAMILIES.index(0), ips, _FIXED))


def _check_released(
    new: list[str], old: list[str], ips: list[str], words: tuple[Path, str, str], policy: str | None, errors: Errors
) -> None:
    path, primary, what = words
    if not ips:
        errors.append(invalid(path.index(0), new, f"{primary} can not be unset"))
    if new and new[0] != old[0]:
        errors.append(invalid(path.index(0), ips, _FIXED))
    if len(new) == 1 and policy != "SingleStack":
        text = f"must be set to 'SingleStack' when releasing the secondary {what}"
        errors.append(invalid(_POLICY, policy, text))
