"""Strategies of networking.k8s.io."""

from sampan.registry.strategies.networking.addresses import IPAddressStrategy, ServiceCIDRStrategy
from sampan.registry.strategies.networking.ingress import IngressStrategy
from sampan.registry.strategies.networking.ingressclass import IngressClassStrategy
from sampan.registry.strategies.networking.networkpolicy import NetworkPolicyStrategy
from sampan.registry.strategy import Strategy

_GROUP = "networking.k8s.io"

STRATEGIES: dict[tuple[str, str], Strategy] = {
    (_GROUP, "ingresses"): IngressStrategy(),
    (_GROUP, "ingressclasses"): IngressClassStrategy(),
    (_GROUP, "networkpolicies"): NetworkPolicyStrategy(),
    (_GROUP, "ipaddresses"): IPAddressStrategy(),
    (_GROUP, "servicecidrs"): ServiceCIDRStrategy(),
}
