"""Tables of the core group, pods and controllers apart."""

from collections.abc import Iterable, Mapping
from typing import Any

from sampan.core.object import Object
from sampan.registry.columns.age import Ages
from sampan.registry.columns.cells import (
    EMPTY,
    NAME,
    NONE,
    UNKNOWN,
    UNSET,
    at,
    column,
    count,
    labels_text,
)
from sampan.registry.columns.tables import Tables

_NODE_ROLE_PREFIX = "node-role.kubernetes.io/"
_ACCESS_MODES = (
    ("ReadWriteOnce", "RWO"),
    ("ReadOnlyMany", "ROX"),
    ("ReadWriteMany", "RWX"),
    ("ReadWriteOncePod", "RWOP"),
)
_STORAGE_CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class"


def load_balancer_text(obj: Object) -> str:
    """Addresses of the load balancer in `status`, sorted, joined by commas."""
    ingress = obj.get("status", EMPTY).get("loadBalancer", EMPTY).get("ingress", ())
    return ",".join(sorted({each.get("ip") or each.get("hostname") or "" for each in ingress} - {""}))


def _external_ip(service: Object) -> str:
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


def _cluster_ip(service: Object) -> str:
    addresses = service.get("spec", EMPTY).get("clusterIPs")
    return addresses[0] if addresses else NONE


def _port_text(port: Mapping[str, Any]) -> str:
    node_port = port.get("nodePort", 0)
    return f"{port['port']}:{node_port}/{port['protocol']}" if node_port > 0 else f"{port['port']}/{port['protocol']}"


def _ports(service: Object) -> str:
    return ",".join(map(_port_text, service.get("spec", EMPTY).get("ports", ()))) or NONE


def _node_status(node: Object) -> str:
    ready = "Unknown"
    for condition in node.get("status", EMPTY).get("conditions", ()):
        if condition["type"] == "Ready":
            ready = "Ready" if condition["status"] == "True" else "NotReady"
    return f"{ready},SchedulingDisabled" if node.get("spec", EMPTY).get("unschedulable") else ready


def _node_roles(node: Object) -> str:
    roles = set()
    for key, value in node["metadata"].get("labels", EMPTY).items():
        if key.startswith(_NODE_ROLE_PREFIX):
            roles.add(key[len(_NODE_ROLE_PREFIX) :])
        elif key == "kubernetes.io/role":
            roles.add(value)
    return ",".join(sorted(roles - {""})) or NONE


def _node_address(node: Object, kind: str) -> str:
    for address in node.get("status", EMPTY).get("addresses", ()):
        if address["type"] == kind:
            return str(address["address"])
    return NONE


def _node_info(node: Object, field: str) -> str:
    return node.get("status", EMPTY).get("nodeInfo", EMPTY).get(field) or UNKNOWN


def _kernel(node: Object) -> str:
    architecture = node.get("status", EMPTY).get("nodeInfo", EMPTY).get("architecture")
    kernel = _node_info(node, "kernelVersion")
    return f"{kernel} ({architecture})" if architecture else kernel


def _endpoints(endpoints: Object) -> str:
    texts = [text for subset in endpoints.get("subsets", ()) for text in _subset(subset)]
    if not endpoints.get("subsets"):
        return NONE
    shown = ",".join(texts[:3])
    return f"{shown} + {len(texts) - 3} more..." if len(texts) > 3 else shown


def _subset(subset: Mapping[str, Any]) -> Iterable[str]:
    addresses = [address["ip"] for address in subset.get("addresses", ())]
    ports = subset.get("ports")
    if not ports:
        return addresses
    hosts = [f"[{address}]" if ":" in address else address for address in addresses]
    return [f"{host}:{port['port']}" for port in ports for host in hosts]


def _access_modes(modes: Iterable[str]) -> str:
    known = set(modes)
    return ",".join(short for mode, short in _ACCESS_MODES if mode in known)


def _phase(obj: Object) -> str:
    if "deletionTimestamp" in obj["metadata"]:
        return "Terminating"
    return str(obj.get("status", EMPTY).get("phase", ""))


def _storage_class(obj: Object) -> str:
    annotated = obj["metadata"].get("annotations", EMPTY).get(_STORAGE_CLASS_ANNOTATION)
    return str(obj.get("spec", EMPTY).get("storageClassName", "") if annotated is None else annotated)


def _claim(volume: Object) -> str:
    claim = volume.get("spec", EMPTY).get("claimRef")
    return "" if claim is None else f"{claim.get('namespace', '')}/{claim.get('name', '')}"


def _claim_capacity(claim: Object) -> str:
    if not claim.get("spec", EMPTY).get("volumeName"):
        return ""
    return str(claim.get("status", EMPTY).get("capacity", EMPTY).get("storage", "0"))


def _claim_modes(claim: Object) -> str:
    if not claim.get("spec", EMPTY).get("volumeName"):
        return ""
    return _access_modes(claim.get("status", EMPTY).get("accessModes", ()))


def _quota(obj: Object, *, limits: bool) -> str:
    status = obj.get("status", EMPTY)
    used = status.get("used", EMPTY)
    return ", ".join(
        f"{name}: {used.get(name, '0')}/{hard}"
        for name, hard in sorted(status.get("hard", EMPTY).items())
        if name.startswith("limits.") == limits
    )


def _healthy(component: Object) -> Mapping[str, Any]:
    for condition in component.get("conditions", ()):
        if condition["type"] == "Healthy":
            return condition  # type: ignore[no-any-return]
    return EMPTY


def _component_status(component: Object) -> str:
    status = _healthy(component).get("status")
    return "Unknown" if status is None else "Healthy" if status == "True" else "Unhealthy"


def core_tables(ages: Ages) -> Tables:
    """Tables of the core group, pods and controllers apart."""
    age = ages.column
    data = at("data", default=())
    binary_data = at("binaryData", default=())
    return {
        ("", "configmaps", "v1"): (
            NAME,
            column("Data", lambda obj: len(data(obj)) + len(binary_data(obj))),
            age,
        ),
        ("", "secrets", "v1"): (NAME, column("Type", at("type")), column("Data", count("data")), age),
        ("", "serviceaccounts", "v1"): (NAME, age),
        ("", "namespaces", "v1"): (NAME, column("Status", at("status", "phase")), age),
        ("", "endpoints", "v1"): (NAME, column("Endpoints", _endpoints), age),
        ("", "services", "v1"): (
            NAME,
            column("Type", at("spec", "type")),
            column("Cluster-IP", _cluster_ip),
            column("External-IP", _external_ip),
            column("Port(s)", _ports),
            age,
            column("Selector", lambda obj: labels_text(obj.get("spec", EMPTY).get("selector")), wide=True),
        ),
        ("", "resourcequotas", "v1"): (
            NAME,
            column("Request", lambda obj: _quota(obj, limits=False)),
            column("Limit", lambda obj: _quota(obj, limits=True)),
            age,
        ),
        ("", "componentstatuses", "v1"): (
            NAME,
            column("Status", _component_status),
            column("Message", lambda obj: _healthy(obj).get("message", "")),
            column("Error", lambda obj: _healthy(obj).get("error", "")),
        ),
    } | _machine_tables(ages)


def _machine_tables(ages: Ages) -> Tables:
    age = ages.column
    volume_mode = column("VolumeMode", at("spec", "volumeMode", default=UNSET), wide=True)
    attributes_class = column("VolumeAttributesClass", at("spec", "volumeAttributesClassName", default=UNSET))
    return {
        ("", "nodes", "v1"): (
            NAME,
            column("Status", _node_status),
            column("Roles", _node_roles),
            age,
            column("Version", at("status", "nodeInfo", "kubeletVersion")),
            column("Internal-IP", lambda obj: _node_address(obj, "InternalIP"), wide=True),
            column("External-IP", lambda obj: _node_address(obj, "ExternalIP"), wide=True),
            column("OS-Image", lambda obj: _node_info(obj, "osImage"), wide=True),
            column("Kernel-Version", _kernel, wide=True),
            column("Container-Runtime", lambda obj: _node_info(obj, "containerRuntimeVersion"), wide=True),
        ),
        ("", "persistentvolumes", "v1"): (
            NAME,
            column("Capacity", at("spec", "capacity", "storage", default="0")),
            column("Access Modes", lambda obj: _access_modes(obj.get("spec", EMPTY).get("accessModes", ()))),
            column("Reclaim Policy", at("spec", "persistentVolumeReclaimPolicy")),
            column("Status", _phase),
            column("Claim", _claim),
            column("StorageClass", _storage_class),
            attributes_class,
            column("Reason", at("status", "reason")),
            age,
            volume_mode,
        ),
        ("", "persistentvolumeclaims", "v1"): (
            NAME,
            column("Status", _phase),
            column("Volume", at("spec", "volumeName")),
            column("Capacity", _claim_capacity),
            column("Access Modes", _claim_modes),
            column("StorageClass", _storage_class),
            attributes_class,
            age,
            volume_mode,
        ),
    }
