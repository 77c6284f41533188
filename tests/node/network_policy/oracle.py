"""Oracle: decides from the objects alone whether a connection is permitted, as NetworkPolicy is documented.

It shares no code with the rules: it reads the objects as JSON, and has no sets and chains.
"""

import ipaddress
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Json = Mapping[str, Any]


@dataclass(frozen=True)
class World:
    """Objects of a cluster, as JSON."""

    pods: Sequence[Json]
    namespaces: Mapping[str, Mapping[str, str]]
    """Labels by name."""
    policies: Sequence[Json]
    node: str = "here"
    ended: frozenset[str] = field(default_factory=frozenset)


@dataclass(frozen=True)
class Connection:
    """First packet of a connection."""

    source: str
    destination: str
    protocol: str
    port: int


def permitted(world: World, connection: Connection) -> bool:
    """Return True if the policies permit the connection, as far as the node of the world enforces them."""
    source, destination = _pod_at(world, connection.source), _pod_at(world, connection.destination)
    if connection.source == connection.destination:
        return True
    return _side(world, "egress", source, destination, connection, connection.destination) and _side(
        world, "ingress", destination, source, connection, connection.source
    )


def _side(
    world: World, direction: str, own: Json | None, peer: Json | None, connection: Connection, address: str
) -> bool:
    if own is None or own["spec"].get("nodeName") != world.node:
        return True
    isolating = [each for each in world.policies if _isolates(each, own, direction)]
    if not isolating:
        return True
    target = own if direction == "ingress" else peer
    return any(
        _rule(world, policy, rule, peer, target, connection, address)
        for policy in isolating
        for rule in policy["spec"].get(direction) or ()
    )


def _isolates(policy: Json, pod: Json, direction: str) -> bool:
    spec = policy["spec"]
    types = spec.get("policyTypes") or (["Ingress", "Egress"] if spec.get("egress") else ["Ingress"])
    return (
        policy["metadata"]["namespace"] == pod["metadata"]["namespace"]
        and direction.capitalize() in types
        and _matches(spec.get("podSelector") or {}, pod["metadata"].get("labels") or {})
    )


def _rule(
    world: World, policy: Json, rule: Json, peer: Json | None, target: Json | None, connection: Connection, address: str
) -> bool:
    peers = rule.get("from") or rule.get("to")
    if peers and not any(_peer(world, policy, each, peer, address) for each in peers):
        return False
    ports = rule.get("ports")
    return not ports or any(_port(each, target, connection) for each in ports)


def _peer(world: World, policy: Json, peer: Json, pod: Json | None, address: str) -> bool:
    block = peer.get("ipBlock")
    if block is not None:
        ip = ipaddress.ip_address(address)
        return ip in ipaddress.ip_network(block["cidr"]) and not any(
            ip in ipaddress.ip_network(each) for each in block.get("except") or ()
        )
    if pod is None:
        return False
    namespace = pod["metadata"]["namespace"]
    if "namespaceSelector" in peer:
        if namespace not in world.namespaces or not _matches(peer["namespaceSelector"], world.namespaces[namespace]):
            return False
    elif namespace != policy["metadata"]["namespace"]:
        return False
    return _matches(peer.get("podSelector") or {}, pod["metadata"].get("labels") or {})


def _port(port: Json, target: Json | None, connection: Connection) -> bool:
    if port.get("protocol", "TCP") != connection.protocol:
        return False
    number = port.get("port")
    if number is None:
        return True
    if isinstance(number, int):
        return bool(number <= connection.port <= port.get("endPort", number))
    named = [
        each
        for container in (target or {"spec": {"containers": []}})["spec"]["containers"]
        for each in container.get("ports") or ()
    ]
    return any(
        each.get("name") == number
        and each.get("protocol", "TCP") == connection.protocol
        and each["containerPort"] == connection.port
        for each in named
    )


def _matches(selector: Json, labels: Mapping[str, str]) -> bool:
    if any(labels.get(key) != value for key, value in (selector.get("matchLabels") or {}).items()):
        return False
    return all(_expression(each, labels) for each in selector.get("matchExpressions") or ())


def _expression(expression: Json, labels: Mapping[str, str]) -> bool:
    value, values = labels.get(expression["key"]), expression.get("values") or ()
    match expression["operator"]:
        case "In":
            return value in values
        case "NotIn":
            return value not in values
        case "Exists":
            return value is not None
        case _:
            return value is None


def _pod_at(world: World, address: str) -> Json | None:
    for pod in world.pods:
        addresses = [each["ip"] for each in pod["status"].get("podIPs") or ()]
        is_ended = pod["status"].get("phase") in ("Succeeded", "Failed")
        if address in addresses and not is_ended and not pod["spec"].get("hostNetwork"):
            return pod
    return None
