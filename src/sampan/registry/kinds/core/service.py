"""Services. Source: pkg/registry/core/service/strategy.go, storage/storage.go (1.36)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Final

from sampan.core.field import FieldError, Path
from sampan.core.object import Object
from sampan.core.validation.names import dns1035_label_errors, dns1123_label_errors
from sampan.kinds import core_v1
from sampan.registry.allocation.allocators import Allocation
from sampan.registry.allocation.service_transaction import give_back, hold, hold_changes
from sampan.registry.allocation.services import allocate_create, allocate_update, complete_from_old
from sampan.registry.columns.cells import EMPTY, NAME, NONE, UNKNOWN, at, column, labels_text, load_balancer_text
from sampan.registry.kind import Kind
from sampan.registry.kinds.core.service_validation import (
    validate_load_balancer_status,
    validate_service,
    validate_transition,
)
from sampan.registry.rules import feature_gates as gates
from sampan.registry.rules.ip_addresses import cidr_warnings, ip_warnings
from sampan.registry.rules.service_types import drop_type_dependent_fields, is_externally_accessible
from sampan.registry.strategy import Context, ObjectReader, Release, Strategy

Errors = list[FieldError]
_WITH_CLUSTER_IP = ("ClusterIP", "NodePort", "LoadBalancer")
_AFFINITY_TIMEOUT_S = 10800
_SPEC = Path("spec")
_TOPOLOGY_HINTS = "service.kubernetes.io/topology-aware-hints"
_TOPOLOGY_MODE = "service.kubernetes.io/topology-mode"


class ServiceStrategy(Strategy):
    """Strategy of Services. The allocators of the cluster assign cluster IPs and node ports."""

    has_generation = False
    allow_create_on_update = True
    returns_deleted_object = True
    allocates = True
    companions: ClassVar[Sequence[tuple[str, str]]] = (("", "endpoints"),)
    labels: ClassVar[Sequence[str]] = ("spec.clusterIP", "spec.type")

    def name_errors(self, name: str, *, prefix: bool = False) -> list[str]:
        rule = dns1123_label_errors if gates.RELAXED_SERVICE_NAME_VALIDATION else dns1035_label_errors
        return rule(name, prefix=prefix)

    def default(self, obj: core_v1.Service) -> None:
        if obj.get("spec") is None:
            obj["spec"] = {}
        spec: core_v1.ServiceSpec = obj["spec"]
        _default_spec(spec)
        if spec["type"] == "LoadBalancer":
            for ingress in ((obj.get("status") or {}).get("loadBalancer") or {}).get("ingress") or ():
                if ingress.get("ip") and ingress.get("ipMode") is None:
                    ingress["ipMode"] = "VIP"

    def prepare_for_create(self, ctx: Context, obj: Object) -> None:
        obj["status"] = {"loadBalancer": {}}
        _hide_internal_policy(obj["spec"])

    def prepare_for_update(self, ctx: Context, obj: Object, old: Object) -> None:
        complete_from_old(obj["spec"], old.get("spec") or {})
        drop_type_dependent_fields(obj, old)
        _hide_internal_policy(obj["spec"])

    def check(self, ctx: Context, obj: Object, errors: Errors) -> None:
        validate_service(obj, None, errors)

    def check_update(self, ctx: Context, obj: Object, old: Object, errors: Errors) -> None:
        validate_transition(obj, old, errors)
        validate_service(obj, old, errors)

    def check_status_update(self, ctx: Context, obj: Object, old: Object, errors: Errors) -> None:
        validate_load_balancer_status(obj, old, errors)

    def warnings_on_create(self, ctx: Context, obj: Object) -> list[str]:
        return _service_warnings(obj)

    def warnings_on_update(self, ctx: Context, obj: Object, old: Object) -> list[str]:
        if ctx.subresource != "status":
            return _service_warnings(obj)
        warnings: list[str] = []
        at = Path("status", "loadBalancer", "ingress")
        for i, ingress in enumerate(((obj.get("status") or {}).get("loadBalancer") or {}).get("ingress") or ()):
            if ingress.get("ip"):
                warnings.extend(ip_warnings(at.index(i), ingress["ip"]))
        return warnings

    def selectable_fields(self, obj: Object) -> dict[str, str]:
        spec = obj.get("spec") or {}
        return {"spec.clusterIP": spec.get("clusterIP", ""), "spec.type": spec.get("type", "")}

    async def begin_create(self, ctx: Context, obj: Object, reader: ObjectReader, allocation: Any) -> Release | None:
        if not isinstance(allocation, Allocation):
            return None
        allocate = partial(allocate_create, obj, allocation.allocators, dry_run=ctx.dry_run)
        return await hold(obj, allocation.claims, allocate)

    async def begin_update(
        self, ctx: Context, obj: Object, old: Object, reader: ObjectReader, allocation: Any
    ) -> Release | None:
        if not isinstance(allocation, Allocation):
            return None
        allocate = partial(allocate_update, obj, old, allocation.allocators, dry_run=ctx.dry_run)
        return await hold_changes(obj, allocation.claims, allocate)

    async def after_delete(self, obj: Object, allocation: Any) -> None:
        if isinstance(allocation, Allocation):
            await give_back(obj, allocation)


def _hide_internal_policy(spec: core_v1.ServiceSpec) -> None:
    """Remove the internal traffic policy of ExternalName Services, which never have one."""
    if spec.get("type") == "ExternalName":
        spec.pop("internalTrafficPolicy", None)


def _default_spec(spec: core_v1.ServiceSpec) -> None:
    affinity = spec.get("sessionAffinity")
    if not affinity:
        affinity = spec["sessionAffinity"] = "None"
    if affinity == "None":
        spec.pop("sessionAffinityConfig", None)
    elif affinity == "ClientIP":
        config = (spec.get("sessionAffinityConfig") or {}).get("clientIP") or {}
        if config.get("timeoutSeconds") is None:
            spec["sessionAffinityConfig"] = {"clientIP": {"timeoutSeconds": _AFFINITY_TIMEOUT_S}}
    kind = spec.get("type")
    if not kind:
        kind = spec["type"] = "ClusterIP"
    for port in spec.get("ports") or ():
        if not port.get("protocol"):
            port["protocol"] = "TCP"
        if port.get("targetPort") in (None, 0, ""):
            port["targetPort"] = port.get("port", 0)
    if is_externally_accessible(spec) and not spec.get("externalTrafficPolicy"):
        spec["externalTrafficPolicy"] = "Cluster"
    if kind in _WITH_CLUSTER_IP and spec.get("internalTrafficPolicy") is None:
        spec["internalTrafficPolicy"] = "Cluster"
    if kind == "LoadBalancer" and spec.get("allocateLoadBalancerNodePorts") is None:
        spec["allocateLoadBalancerNodePorts"] = True


def _external_ip(service: core_v1.Service) -> str:
    spec = service.get("spec", EMPTY)
    external = spec.get("externalIPs", ())
    match spec.get("type"):
        case "ClusterIP" | "NodePort":
            return ",".join(external) or NONE
        case "LoadBalancer":
            addresses = load_balancer_text(service)
            return ",".join([addresses, *external] if addresses else external) or "<pending>"
        case "ExternalName":
            return str(spec.get("externalName", ""))
    return UNKNOWN


def _cluster_ip(service: core_v1.Service) -> str:
    addresses = service.get("spec", EMPTY).get("clusterIPs")
    return addresses[0] if addresses else NONE


def _port_text(port: Mapping[str, Any]) -> str:
    node_port = port.get("nodePort", 0)
    return f"{port['port']}:{node_port}/{port['protocol']}" if node_port > 0 else f"{port['port']}/{port['protocol']}"


def _ports(service: core_v1.Service) -> str:
    return ",".join(map(_port_text, service.get("spec", EMPTY).get("ports", ()))) or NONE


def _service_warnings(service: Mapping[str, Any]) -> list[str]:
    """Return warnings for fields that have no effect or are deprecated. Source: pkg/api/service/warnings.go (1.36)."""
    spec, warnings = service.get("spec") or {}, []
    kind, external = spec.get("type", ""), spec.get("externalIPs") or []
    headless = kind == "ClusterIP" and spec.get("clusterIP") == "None"
    if _TOPOLOGY_HINTS in (service["metadata"].get("annotations") or ()):
        warnings.append(f"annotation {_TOPOLOGY_HINTS} is deprecated, please use {_TOPOLOGY_MODE} instead")
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


KINDS: Final = (
    Kind(
        "",
        "services",
        ServiceStrategy(),
        columns=lambda ages: (
            NAME,
            column("Type", at("spec", "type")),
            column("Cluster-IP", _cluster_ip),
            column("External-IP", _external_ip),
            column("Port(s)", _ports),
            ages.column,
            column("Selector", lambda obj: labels_text(obj.get("spec", EMPTY).get("selector")), wide=True),
        ),
        storage_prefix="services/specs",
    ),
)
