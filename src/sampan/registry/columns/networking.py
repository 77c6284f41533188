"""Tables of networking.k8s.io and discovery.k8s.io."""

from collections.abc import Iterable, Mapping
from typing import Any

from sampan.core.object import Object
from sampan.registry.columns.age import Ages
from sampan.registry.columns.cells import EMPTY, NAME, NONE, at, column, name_of, selector_or_none, some_of
from sampan.registry.columns.core import load_balancer_text
from sampan.registry.columns.tables import Tables


def _hosts(ingress: Object) -> str:
    rules = ingress.get("spec", EMPTY).get("rules", ())
    hosts: list[str] = []
    for rule in rules:
        if len(hosts) == 3:
            return f"{','.join(hosts)} + {len(rules) - 3} more..."
        if rule.get("host"):
            hosts.append(rule["host"])
    return ",".join(hosts) or "*"


def _parameters(ingress_class: Object) -> str:
    parameters = ingress_class.get("spec", EMPTY).get("parameters")
    if parameters is None:
        return NONE
    kind = parameters.get("kind", "")
    if "apiGroup" in parameters:
        kind += f".{parameters['apiGroup']}"
    return f"{kind}/{parameters.get('name', '')}"


def _class_name(ingress_class: Object) -> str:
    annotations = ingress_class["metadata"].get("annotations", EMPTY)
    default = annotations.get("ingressclass.kubernetes.io/is-default-class") == "true"
    return f"{name_of(ingress_class)} (default)" if default else name_of(ingress_class)


def _port(port: Mapping[str, Any]) -> str:
    number = port.get("port")
    return str(number) if number is not None else port.get("name", "*")


def _addresses(endpoint_slice: Object) -> Iterable[str]:
    return (address for endpoint in endpoint_slice.get("endpoints") or () for address in endpoint["addresses"])


def _parent(address: Object) -> str:
    parent = address.get("spec", EMPTY).get("parentRef")
    if parent is None:
        return NONE
    resource, group = parent.get("resource", ""), parent.get("group", "")
    parts = [f"{resource}.{group}".lower() if group else resource.lower()]
    if parent.get("namespace"):
        parts.append(parent["namespace"])
    return "/".join([*parts, parent.get("name", "")])


def networking_tables(ages: Ages) -> Tables:
    """Tables of networking.k8s.io and discovery.k8s.io."""
    age = ages.column
    return {
        ("networking.k8s.io", "ingresses", "v1"): (
            NAME,
            column("Class", at("spec", "ingressClassName", default=NONE)),
            column("Hosts", _hosts),
            column("Address", load_balancer_text),
            column("Ports", lambda obj: "80, 443" if obj.get("spec", EMPTY).get("tls") else "80"),
            age,
        ),
        ("networking.k8s.io", "ingressclasses", "v1"): (
            column("Name", _class_name, format="name"),
            column("Controller", at("spec", "controller")),
            column("Parameters", _parameters),
            age,
        ),
        ("networking.k8s.io", "networkpolicies", "v1"): (
            NAME,
            column("Pod-Selector", lambda obj: selector_or_none(obj.get("spec", EMPTY).get("podSelector"))),
            age,
        ),
        ("networking.k8s.io", "servicecidrs", "v1"): (
            NAME,
            column("CIDRs", lambda obj: ",".join(obj.get("spec", EMPTY).get("cidrs", ()))),
            age,
        ),
        ("networking.k8s.io", "ipaddresses", "v1"): (NAME, column("ParentRef", _parent), column("", ages.age)),
        ("discovery.k8s.io", "endpointslices", "v1"): (
            NAME,
            column("AddressType", at("addressType")),
            column("Ports", lambda obj: some_of(map(_port, obj.get("ports") or ()), 3)),
            column("Endpoints", lambda obj: some_of(_addresses(obj), 3)),
            age,
        ),
    }
