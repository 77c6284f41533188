"""Rules of one port of a Service."""

import pytest

from sampan.component_base.nftables.fragment import Fragment
from sampan.service_proxy.endpoints import ServiceEndpoint
from sampan.service_proxy.family import IPV4
from sampan.service_proxy.rules.base import (
    DROP,
    FIREWALL_IPS,
    HAIRPINS,
    NODE_PORTS,
    REJECT,
    SERVICE_IPS,
    UNSERVED_IPS,
    UNSERVED_NODE_PORTS,
    base_fragment,
)
from sampan.service_proxy.rules.options import RuleOptions
from sampan.service_proxy.rules.port import FEW, port_fragment
from sampan.service_proxy.selection import select
from sampan.service_proxy.service_ports import ProxiedPort, proxied_ports
from sampan.service_proxy.views import Ingress, LoadBalancer, Service, ServiceStatus
from tests.service_proxy.objects import NODE, endpoint, port, service

PODS = ("10.244.0.0/16",)
VIP = "10.96.0.10 . tcp . 80"


def rules(of: ProxiedPort, *endpoints: ServiceEndpoint) -> Fragment:
    return port_fragment(of, select(of, endpoints, NODE), IPV4, pods=PODS, node=NODE)


def value(fragment: Fragment, container: str, key: str) -> str | None:
    return {str(each.key): found for each, found in fragment.elements.items() if each.container == container}.get(key)


def test_a_connection_goes_to_one_of_the_endpoints_at_random() -> None:
    found = rules(port(), endpoint(2), endpoint(3, local=False))
    assert value(found, SERVICE_IPS, VIP) == "goto cluster-default/web/tcp/80"
    assert found.chains["cluster-default/web/tcp/80"] == (
        "numgen random mod 2 0 meta l4proto tcp dnat to 10.244.1.2:8080",
        "meta l4proto tcp dnat to 10.244.1.3:8080",
    )


def test_many_endpoints_are_a_map_in_one_rule() -> None:
    found = rules(port(), *(endpoint(number) for number in range(2, 2 + FEW + 1)))
    (rule,) = found.chains["cluster-default/web/tcp/80"]
    assert rule.startswith("meta l4proto tcp dnat ip addr . port to numgen random mod 11 map { 0 : 10.244.1.2 . 8080, ")


def test_only_local_endpoints_are_in_the_hairpin_set() -> None:
    found = rules(port(), endpoint(2), endpoint(3, local=False))
    assert [key.key for key in found.elements if key.container == HAIRPINS] == ["10.244.1.2 . 10.244.1.2 . tcp . 8080"]


@pytest.mark.parametrize(
    ("endpoints", "refusal"),
    [
        pytest.param([], REJECT, id="no endpoint anywhere"),
        pytest.param([endpoint(2, local=False)], DROP, id="an endpoint elsewhere"),
    ],
)
def test_the_policy_local_drops_only_if_another_node_could_serve(
    endpoints: list[ServiceEndpoint], refusal: str
) -> None:
    found = rules(port(node_port=30080, internal_local=True, external_local=True), *endpoints)
    assert value(found, UNSERVED_IPS, VIP) == refusal
    assert value(found, UNSERVED_NODE_PORTS, "tcp . 30080") == refusal
    assert value(found, SERVICE_IPS, VIP) is None


def test_the_external_policy_local_lets_pods_and_the_node_use_all_endpoints() -> None:
    found = rules(port(node_port=30080, external_local=True), endpoint(2), endpoint(3, local=False))
    assert value(found, NODE_PORTS, "tcp . 30080") == "goto external-default/web/tcp/80"
    assert found.chains["external-default/web/tcp/80"] == (
        "ip saddr { 10.244.0.0/16 } goto cluster-default/web/tcp/80",
        "fib saddr type local jump mark-for-masquerade",
        "fib saddr type local goto cluster-default/web/tcp/80",
        "goto local-default/web/tcp/80",
    )


def test_a_client_with_affinity_requests_the_sets_of_all_endpoints_first() -> None:
    found = rules(port(affinity_s=60), endpoint(2), endpoint(3))
    again, _, choice, _ = found.chains["cluster-default/web/tcp/80"]
    assert again == (
        "ip saddr @affinity-60s-default/web/tcp/80__10.244.1.2/8080 goto endpoint-default/web/tcp/80__10.244.1.2/8080"
    )
    assert choice == "numgen random mod 2 0 goto endpoint-default/web/tcp/80__10.244.1.2/8080"
    assert len(found.sets) == 2


def test_source_ranges_that_overlap_become_one() -> None:
    ranges = ("10.0.0.0/8", "10.1.0.0/16", "192.0.2.0/24")
    found = rules(port(load_balancer_ips=("198.51.100.1",), source_ranges=ranges), endpoint(2))
    assert value(found, FIREWALL_IPS, "198.51.100.1 . tcp . 80") == "goto firewall-default/web/tcp/80"
    assert found.chains["firewall-default/web/tcp/80"] == ("ip saddr != { 10.0.0.0/8, 192.0.2.0/24 } drop",)


def test_a_node_within_the_source_ranges_may_use_the_load_balancer() -> None:
    found = rules(port(load_balancer_ips=("198.51.100.1",), source_ranges=("172.30.0.0/24",)), endpoint(2))
    assert "198.51.100.1/32" in found.chains["firewall-default/web/tcp/80"][0]


def test_a_load_balancer_that_is_its_own_proxy_is_not_captured() -> None:
    ingress = (Ingress("198.51.100.1", "Proxy"), Ingress("198.51.100.2"))
    plain = service("web", "10.96.0.10", type="LoadBalancer")
    found = Service(plain.metadata, plain.spec, ServiceStatus(LoadBalancer(ingress)))
    assert [each.load_balancer_ips for each in proxied_ports(found, IPV4)] == [("198.51.100.2",)]


@pytest.mark.parametrize("address", ["None", ""])
def test_a_service_without_an_address_has_no_ports(address: str) -> None:
    assert list(proxied_ports(service("web", address), IPV4)) == []


@pytest.mark.parametrize(
    ("addresses", "rule"),
    [
        ((), "ip daddr != 127.0.0.0/8 fib daddr type local "),
        (("primary",), "ip daddr { 172.30.0.11/32 } fib daddr type local "),
        (("172.30.0.0/16", "fd00::/8"), "ip daddr { 172.30.0.0/16 } fib daddr type local "),
    ],
    ids=["all", "primary", "ranges"],
)
def test_node_ports_are_open_at_the_chosen_addresses(addresses: tuple[str, ...], rule: str) -> None:
    base = base_fragment(IPV4, RuleOptions(node_port_addresses=addresses), NODE, ())
    assert base.chains["services"][-1].startswith(rule)
