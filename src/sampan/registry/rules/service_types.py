"""Fields that depend on the type of a Service, and their removal when the type changes.

Source: pkg/registry/core/service/strategy.go dropTypeDependentFields, pkg/api/service/util.go (1.36).
"""

from __future__ import annotations

from typing import Any

from sampan.core.object import Object
from sampan.kinds import core_v1


def is_externally_accessible(spec: core_v1.ServiceSpec) -> bool:
    """Return True if the Service can be reached from outside the cluster."""
    kind = spec.get("type")
    return kind in ("LoadBalancer", "NodePort") or (kind == "ClusterIP" and bool(spec.get("externalIPs")))


def is_headless(spec: core_v1.ServiceSpec) -> bool:
    """Return True if the Service has no cluster IP by intent."""
    return (spec.get("clusterIPs") or []) == ["None"]


def needs_cluster_ip(spec: core_v1.ServiceSpec) -> bool:
    """Return True for all types except ExternalName."""
    return spec.get("type") != "ExternalName"


def needs_health_check(spec: core_v1.ServiceSpec) -> bool:
    """Report whether a Service needs a health check port, by which load balancers find the nodes with endpoints."""
    return spec.get("type") == "LoadBalancer" and spec.get("externalTrafficPolicy") == "Local"


def node_ports(spec: core_v1.ServiceSpec) -> list[int]:
    """Return the node ports of the Service's ports."""
    return [port["nodePort"] for port in spec.get("ports") or () if port.get("nodePort")]


def drop_type_dependent_fields(obj: Object, old: Object) -> None:
    """Remove, in place, the fields of the old type that the client did not change."""
    new: core_v1.ServiceSpec = obj["spec"]
    before: core_v1.ServiceSpec = old.get("spec") or {}
    if needs_cluster_ip(before) and not needs_cluster_ip(new):
        if new.get("clusterIP", "") == before.get("clusterIP", "") and _same(new, before, "clusterIPs"):
            _drop(new, "clusterIP", "clusterIPs")
        for name in ("ipFamilies", "ipFamilyPolicy"):
            if _same(new, before, name):
                _drop(new, name)
    with_ports = ("NodePort", "LoadBalancer")
    untouched = set(node_ports(new)) <= set(node_ports(before))
    if before.get("type") in with_ports and new.get("type") not in with_ports and untouched:
        for port in new.get("ports") or ():
            port.pop("nodePort", None)
    if needs_health_check(before) and not needs_health_check(new) and _same(new, before, "healthCheckNodePort"):
        _drop(new, "healthCheckNodePort")
    if before.get("type") == "LoadBalancer" and new.get("type") != "LoadBalancer":
        for name in ("allocateLoadBalancerNodePorts", "loadBalancerClass"):
            if _same(new, before, name):
                _drop(new, name)
    hidden = is_externally_accessible(before) and not is_externally_accessible(new)
    if hidden and _same(new, before, "externalTrafficPolicy"):
        _drop(new, "externalTrafficPolicy")
    if new.get("type") != "LoadBalancer" and ((obj.get("status") or {}).get("loadBalancer") or {}):
        obj["status"] = {**obj["status"], "loadBalancer": {}}


def _same(new: core_v1.ServiceSpec, old: core_v1.ServiceSpec, name: str) -> bool:
    return (new.get(name) or None) == (old.get(name) or None)


def _drop(spec: Any, *names: str) -> None:
    for name in names:
        spec.pop(name, None)
