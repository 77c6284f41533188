"""Warnings for Services. Source: pkg/api/service/warnings.go (1.36)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sampan.core.field import Path
from sampan.registry.rules.ip_addresses import cidr_warnings, ip_warnings

_SPEC = Path("spec")
_HINTS = "service.kubernetes.io/topology-aware-hints"
_MODE = "service.kubernetes.io/topology-mode"


def service_warnings(service: Mapping[str, Any]) -> list[str]:
    """Return warnings for fields that have no effect or are deprecated."""
    spec, warnings = service.get("spec") or {}, []
    kind, external = spec.get("type", ""), spec.get("externalIPs") or []
    headless = kind == "ClusterIP" and spec.get("clusterIP") == "None"
    if _HINTS in (service["metadata"].get("annotations") or ()):
        warnings.append(f"annotation {_HINTS} is deprecated, please use {_MODE} instead")
    if spec.get("clusterIP") and spec["clusterIP"] != "None":
        for i, ip in enumerate(spec.get("clusterIPs") or ()):
            warnings.extend(ip_warnings(_SPEC.child("clusterIPs").index(i), ip))
    if headless:
        if spec.get("loadBalancerIP"):
            warnings.append("spec.loadBalancerIP is ignored for headless services")
        if external:
            warnings.append("spec.externalIPs is ignored for headless services")
        if spec.get("sessionAffinity", "None") != "None":
            warnings.append("spec.SessionAffinity is ignored for headless services")
    for i, ip in enumerate(external):
        warnings.extend(ip_warnings(_SPEC.child("externalIPs").index(i), ip))
    if external and not headless and kind != "ExternalName":
        warnings.append("spec.externalIPs is deprecated and may no longer be implemented in some clusters")
    if spec.get("loadBalancerIP"):
        warnings.extend(ip_warnings(_SPEC.child("loadBalancerIP"), spec["loadBalancerIP"]))
    for i, cidr in enumerate(spec.get("loadBalancerSourceRanges") or ()):
        warnings.extend(cidr_warnings(_SPEC.child("loadBalancerSourceRanges").index(i), cidr))
    if kind == "ExternalName" and external:
        warnings.append('spec.externalIPs is ignored when spec.type is "ExternalName"')
    if kind != "ExternalName" and spec.get("externalName"):
        warnings.append('spec.externalName is ignored when spec.type is not "ExternalName"')
    if spec.get("trafficDistribution") == "PreferClose":
        warnings.append('spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"')
    return warnings
