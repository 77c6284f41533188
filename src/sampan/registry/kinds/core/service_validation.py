"""Validation of Services and of their updates.

Source: pkg/apis/core/validation/validation.go validateService, ValidateServiceUpdate (1.36).
"""

from __future__ import annotations

from typing import Any

from sampan.core.field import FieldError, Path, Shown, duplicate, forbidden, go_json, invalid, required
from sampan.core.object import Object
from sampan.core.validation.names import dns1123_label_errors, dns1123_subdomain_errors
from sampan.kinds import core_v1
from sampan.registry.kinds.pod_spec.handlers import PORT_RANGE, check_port
from sampan.registry.rules.fields import check_labels, check_qualified_name, check_subdomain, not_supported
from sampan.registry.rules.ip_addresses import check_cidr, check_endpoint_ip, check_ip, parse_ip
from sampan.registry.rules.service_ips import validate_cluster_ips, validate_ip_changes
from sampan.registry.rules.service_types import is_externally_accessible, is_headless, needs_health_check

Errors = list[FieldError]
_SPEC = Path("spec")
_PORTS = Path("spec", "ports")
_PROTOCOLS = frozenset({"TCP", "UDP", "SCTP"})
_TYPES = frozenset({"ClusterIP", "NodePort", "LoadBalancer", "ExternalName"})
_POLICIES = frozenset({"Cluster", "Local"})
_AFFINITY_S_MAX = 86400
_HINTS = "service.kubernetes.io/topology-aware-hints"
_MODE = "service.kubernetes.io/topology-mode"
_RANGES = "service.beta.kubernetes.io/load-balancer-source-ranges"
_ONLY_LOAD_BALANCER = "may only be used when `type` is 'LoadBalancer'"
_DISTRIBUTIONS = ("PreferClose", "PreferSameZone", "PreferSameNode")


def validate_service(service: Object, old: Object | None, errors: Errors) -> None:
    """Check a Service. `old` is the stored one."""
    spec: core_v1.ServiceSpec = service["spec"]
    annotations = service["metadata"].get("annotations") or {}
    old_spec: core_v1.ServiceSpec = (old or {}).get("spec") or {}
    _check_topology(annotations, errors)
    kind, ports = spec.get("type", ""), spec.get("ports") or []
    if not ports and not is_headless(spec) and kind != "ExternalName":
        errors.append(required(_PORTS))
    _check_by_type(kind, spec, errors)
    names: set[str] = set()
    for i, port in enumerate(ports):
        _check_port(port, i, len(ports) > 1, names, errors)
    if spec.get("selector"):
        check_labels(spec["selector"], _SPEC.child("selector"), errors)
    _check_affinity(spec, errors)
    validate_cluster_ips(spec, old_spec, errors)
    for i, ip in enumerate(spec.get("externalIPs") or ()):
        at, before = _SPEC.child("externalIPs").index(i), len(errors)
        check_ip(ip, at, errors, old_spec.get("externalIPs") or ())
        if len(errors) == before:
            check_endpoint_ip(ip, at, errors)
    if kind not in _TYPES:
        at = _SPEC.child("type")
        errors.append(not_supported(at, kind, _TYPES) if kind else required(at))
    _check_node_ports(kind, ports, errors)
    _check_source_ranges(spec, old_spec, annotations, (old or {}).get("metadata") or {}, errors)
    if spec.get("allocateLoadBalancerNodePorts") is not None and kind != "LoadBalancer":
        errors.append(forbidden(_SPEC.child("allocateLoadBalancerNodePorts"), _ONLY_LOAD_BALANCER))
    if kind == "LoadBalancer" and spec.get("allocateLoadBalancerNodePorts") is None:
        errors.append(required(Path("allocateLoadBalancerNodePorts")))
    _check_class(spec, errors)
    _check_traffic(spec, errors)


def _check_topology(annotations: dict[str, str], errors: Errors) -> None:
    hints, mode = annotations.get(_HINTS), annotations.get(_MODE)
    if hints is not None and mode is not None and hints != mode:
        text = f"must match annotations[{_HINTS}] when both are specified"
        errors.append(invalid(Path("metadata", "annotations").key(_MODE), mode, text))


def _check_by_type(kind: str, spec: core_v1.ServiceSpec, errors: Errors) -> None:
    if kind in ("LoadBalancer", "NodePort") and is_headless(spec):
        text = f"may not be set to 'None' for {kind} services"
        errors.append(invalid(_SPEC.child("clusterIPs").index(0), "None", text))
    if kind != "ExternalName":
        return
    text = "may not be set for ExternalName services"
    for name in ("clusterIPs", "ipFamilies"):
        if spec.get(name):
            errors.append(forbidden(_SPEC.child(name), text))
    if spec.get("ipFamilyPolicy") is not None:
        errors.append(forbidden(_SPEC.child("ipFamilyPolicy"), text))
    name = spec.get("externalName", "").removesuffix(".")
    if name:
        check_subdomain(name, _SPEC.child("externalName"), errors)
    else:
        errors.append(required(_SPEC.child("externalName")))


def _check_port(port: core_v1.ServicePort, i: int, name_required: bool, names: set[str], errors: Errors) -> None:
    name, number, protocol = port.get("name", ""), port.get("port", 0), port.get("protocol", "")
    if name:
        if texts := dns1123_label_errors(name):
            errors.extend(invalid(_PORTS.index(i).child("name"), name, text) for text in texts)
        if name in names:
            errors.append(duplicate(_PORTS.index(i).child("name"), name))
        names.add(name)
    elif name_required:
        errors.append(required(_PORTS.index(i).child("name")))
    if not 1 <= number <= 65535:
        errors.append(invalid(_PORTS.index(i).child("port"), number, PORT_RANGE))
    if protocol not in _PROTOCOLS:
        at = _PORTS.index(i).child("protocol")
        errors.append(not_supported(at, protocol, _PROTOCOLS) if protocol else required(at))
    target = port.get("targetPort", 0)
    if not (isinstance(target, int) and 1 <= target <= 65535):
        check_port(target, _PORTS.index(i).child("targetPort"), errors)
    if port.get("appProtocol") is not None:
        check_qualified_name(port["appProtocol"], _PORTS.index(i).child("appProtocol"), errors)


def _check_affinity(spec: core_v1.ServiceSpec, errors: Errors) -> None:
    affinity, config = spec.get("sessionAffinity", ""), spec.get("sessionAffinityConfig")
    at = _SPEC.child("sessionAffinityConfig")
    if affinity == "None":
        if config is not None:
            errors.append(forbidden(at, "must not be set when session affinity is None"))
        return
    if affinity != "ClientIP":
        where = _SPEC.child("sessionAffinity")
        errors.append(not_supported(where, affinity, ("ClientIP", "None")) if affinity else required(where))
        return
    text = "when session affinity type is ClientIP"
    if config is None:
        errors.append(required(at, text))
    elif config.get("clientIP") is None:
        errors.append(required(at.child("clientIP"), text))
    elif config["clientIP"].get("timeoutSeconds") is None:
        errors.append(required(at.child("clientIP", "timeoutSeconds"), text))
    elif not 0 < config["clientIP"]["timeoutSeconds"] <= _AFFINITY_S_MAX:
        text = f"must be greater than 0 and less than {_AFFINITY_S_MAX}"
        errors.append(invalid(at.child("clientIP", "timeoutSeconds"), config["clientIP"]["timeoutSeconds"], text))


def _check_node_ports(kind: str, ports: list[core_v1.ServicePort], errors: Errors) -> None:
    if kind == "ClusterIP":
        for i, port in enumerate(ports):
            if port.get("nodePort"):
                text = "may not be used when `type` is 'ClusterIP'"
                errors.append(forbidden(_PORTS.index(i).child("nodePort"), text))
    node_ports: set[tuple[str, int]] = set()
    for i, port in enumerate(ports):
        number = port.get("nodePort", 0)
        if number:
            if (port.get("protocol", ""), number) in node_ports:
                errors.append(duplicate(_PORTS.index(i).child("nodePort"), number))
            node_ports.add((port.get("protocol", ""), number))
    seen: set[tuple[str, int]] = set()
    for i, port in enumerate(ports):
        key = (port.get("protocol", ""), port.get("port", 0))
        if key in seen:
            errors.append(duplicate(_PORTS.index(i), _shown_port(*key)))
        seen.add(key)


def _shown_port(protocol: str, number: int) -> Shown:
    """Return a port as Go encodes its internal type ServicePort: the names of its fields in Go, in Go's order."""
    port: dict[str, Any] = {"Name": "", "Protocol": protocol, "AppProtocol": None, "Port": number}
    return Shown(go_json({**port, "TargetPort": 0, "NodePort": 0}))


def _check_source_ranges(
    spec: core_v1.ServiceSpec,
    old_spec: core_v1.ServiceSpec,
    annotations: dict[str, str],
    old_metadata: Object,
    errors: Errors,
) -> None:
    kind, ranges, text = spec.get("type"), spec.get("loadBalancerSourceRanges"), annotations.get(_RANGES)
    if ranges:
        at = _SPEC.child("LoadBalancerSourceRanges")
        if kind != "LoadBalancer":
            errors.append(forbidden(at, _ONLY_LOAD_BALANCER))
        stored = [value.strip() for value in old_spec.get("loadBalancerSourceRanges") or ()]
        for i, value in enumerate(ranges):
            check_cidr(value.strip(), at.index(i), errors, stored)
    elif text is not None:
        at = Path("metadata", "annotations").key(_RANGES)
        if kind != "LoadBalancer":
            errors.append(forbidden(at, _ONLY_LOAD_BALANCER))
        if (old_metadata.get("annotations") or {}).get(_RANGES) != text:
            for value in text.split(",") if text.strip() else ():
                check_cidr(value.strip(), at, errors)


def _check_class(spec: core_v1.ServiceSpec, errors: Errors) -> None:
    name = spec.get("loadBalancerClass")
    if name is None:
        return
    at = _SPEC.child("loadBalancerClass")
    if spec.get("type") == "LoadBalancer":
        check_qualified_name(name, at, errors)
    else:
        errors.append(forbidden(at, _ONLY_LOAD_BALANCER))


def _check_traffic(spec: core_v1.ServiceSpec, errors: Errors) -> None:
    policy, at = spec.get("externalTrafficPolicy", ""), _SPEC.child("externalTrafficPolicy")
    if not is_externally_accessible(spec):
        if policy:
            errors.append(invalid(at, policy, "may only be set for externally-accessible services"))
    elif policy not in _POLICIES:
        errors.append(not_supported(at, policy, _POLICIES) if policy else required(at))
    port, at = spec.get("healthCheckNodePort", 0), _SPEC.child("healthCheckNodePort")
    if not needs_health_check(spec):
        if port:
            text = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"
            errors.append(invalid(at, port, text))
    elif not port:
        errors.append(required(at))
    elif not 1 <= port <= 65535:
        errors.append(invalid(at, port, PORT_RANGE))
    internal, at = spec.get("internalTrafficPolicy"), _SPEC.child("internalTrafficPolicy")
    if internal is None:
        if spec.get("type") in ("ClusterIP", "NodePort", "LoadBalancer"):
            errors.append(required(at))
    elif internal not in _POLICIES:
        errors.append(not_supported(at, internal, _POLICIES))
    distribution = spec.get("trafficDistribution")
    if distribution is not None and distribution not in _DISTRIBUTIONS:
        errors.append(not_supported(_SPEC.child("trafficDistribution"), distribution, _DISTRIBUTIONS))


def validate_transition(service: Object, old: Object, errors: Errors) -> None:
    """Check that immutable fields of the stored Service did not change."""
    spec: core_v1.ServiceSpec = service["spec"]
    old_spec: core_v1.ServiceSpec = old.get("spec") or {}
    validate_ip_changes(spec, old_spec, errors)
    both = spec.get("type") == old_spec.get("type") == "LoadBalancer"
    if both and spec.get("loadBalancerClass") != old_spec.get("loadBalancerClass"):
        at = _SPEC.child("loadBalancerClass")
        errors.append(invalid(at, spec.get("loadBalancerClass"), "may not change once set"))
    port, old_port = (each.get("healthCheckNodePort", 0) for each in (spec, old_spec))
    if port != old_port and needs_health_check(spec) and needs_health_check(old_spec):
        errors.append(forbidden(_SPEC.child("healthCheckNodePort"), "field is immutable"))


def validate_load_balancer_status(service: Object, old: Object, errors: Errors) -> None:
    """Check a new load balancer status."""
    entries = ((service.get("status") or {}).get("loadBalancer") or {}).get("ingress") or []
    path = Path("status", "loadBalancer", "ingress")
    if (service.get("spec") or {}).get("type") != "LoadBalancer" and entries:
        errors.append(forbidden(path, "may only be used when `spec.type` is 'LoadBalancer'"))
        return
    old_entries = ((old.get("status") or {}).get("loadBalancer") or {}).get("ingress") or ()
    stored = [entry["ip"] for entry in old_entries if entry.get("ip")]
    for i, entry in enumerate(entries):
        at, ip, mode, host = path.index(i), entry.get("ip"), entry.get("ipMode"), entry.get("hostname")
        if ip:
            check_ip(ip, at.child("ip"), errors, stored)
        if mode is None:
            if ip:
                errors.append(required(at.child("ipMode"), "must be specified when `ip` is set"))
        elif not ip:
            errors.append(forbidden(at.child("ipMode"), "may not be specified when `ip` is not set"))
        elif mode not in ("VIP", "Proxy"):
            errors.append(not_supported(at.child("ipMode"), mode, ("Proxy", "VIP")))
        if host:
            errors.extend(invalid(at.child("hostname"), host, text) for text in dns1123_subdomain_errors(host))
            if parse_ip(host) is not None:
                errors.append(invalid(at.child("hostname"), host, "must be a DNS name, not an IP address"))
