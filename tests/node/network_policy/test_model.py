"""Rules of any sequence of changes permit exactly the connections that the policies permit."""

import copy
import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sampan.component_base.nftables.table import Table
from sampan.node.network_policy.model import PolicyModel
from sampan.node.network_policy.pods import canonical, facts_of
from sampan.node.network_policy.policy import RULES_MAX, compiled
from sampan.node.network_policy.rules import TABLE
from sampan.node.network_policy.views import (
    POLICY_POD_VIEW,
    POLICY_VIEW,
    IPBlock,
    NetworkPolicy,
    NetworkPolicyPeer,
    NetworkPolicyRule,
    PolicySpec,
    without_the_rest,
)
from sampan.resource import ObjectMeta
from tests.node.network_policy.interpreter import PolicyTable
from tests.node.network_policy.oracle import Connection, World, permitted
from tests.properties import examples

Json = dict[str, Any]
NAMESPACES = ("red", "blue")
PODS = tuple(f"{name}{number}" for name in "abc" for number in range(2))
VALUES = st.sampled_from(("x", "y"))
LABELS = st.dictionaries(st.sampled_from(("app", "tier")), VALUES, max_size=2)
EXPRESSIONS = st.builds(
    lambda key, operator, values: {"key": key, "operator": operator} | ({"values": values} if "n" in operator else {}),
    st.sampled_from(("app", "tier")),
    st.sampled_from(("In", "NotIn", "Exists", "DoesNotExist")),
    st.lists(VALUES, min_size=1, max_size=2, unique=True),
).map(lambda each: each if each["operator"] in ("In", "NotIn") else {k: v for k, v in each.items() if k != "values"})
SELECTORS: st.SearchStrategy[Json] = st.one_of(
    st.just({}),
    LABELS.map(lambda labels: {"matchLabels": labels}),
    st.lists(EXPRESSIONS, max_size=2).map(lambda found: {"matchExpressions": found}),
)
BLOCKS = st.sampled_from(
    (
        {"cidr": "0.0.0.0/0"},
        {"cidr": "10.1.0.0/24", "except": ["10.1.0.2/32", "10.1.0.0/30"]},
        {"cidr": "10.1.0.3/32"},
        {"cidr": "192.0.2.0/24", "except": ["192.0.2.128/25"]},
        {"cidr": "fd00:1::/64", "except": ["fd00:1::2/128"]},
        {"cidr": "::/0"},
    )
)
PEERS = st.one_of(
    BLOCKS.map(lambda block: {"ipBlock": block}),
    SELECTORS.map(lambda pods: {"podSelector": pods}),
    SELECTORS.map(lambda namespaces: {"namespaceSelector": namespaces}),
    st.builds(lambda pods, spaces: {"podSelector": pods, "namespaceSelector": spaces}, SELECTORS, SELECTORS),
)
PROTOCOLS = st.sampled_from(("TCP", "UDP", "SCTP"))
PORTS = st.one_of(
    st.builds(lambda protocol: {"protocol": protocol}, PROTOCOLS),
    st.builds(lambda protocol, port: {"protocol": protocol, "port": port}, PROTOCOLS, st.sampled_from((80, 81, "web"))),
    st.sampled_from(({"port": 80, "endPort": 81}, {"port": 79, "endPort": 80}, {"port": 1, "endPort": 65535})),
)


def rules(peers: str) -> st.SearchStrategy[list[Json]]:
    """Return rules of one direction."""
    rule = st.fixed_dictionaries(
        {}, optional={peers: st.lists(PEERS, max_size=3), "ports": st.lists(PORTS, max_size=3)}
    )
    return st.lists(rule, max_size=2)


POLICIES = st.fixed_dictionaries(
    {"podSelector": SELECTORS},
    optional={
        "policyTypes": st.sampled_from((["Ingress"], ["Egress"], ["Ingress", "Egress"])),
        "ingress": rules("from"),
        "egress": rules("to"),
    },
)
POD_STATES = st.builds(
    lambda labels, node, ports, phase, host: {
        "labels": labels,
        "node": node,
        "ports": ports,
        "phase": phase,
        "host": host,
    },
    LABELS,
    st.sampled_from(("here", "here", "there")),
    st.lists(
        st.sampled_from(
            (
                {"name": "web", "containerPort": 80, "protocol": "TCP"},
                {"name": "web", "containerPort": 81},
                {"name": "web", "containerPort": 80, "protocol": "UDP"},
                {"containerPort": 80},
            )
        ),
        max_size=2,
    ),
    st.sampled_from(("Running", "Running", "Running", "Succeeded")),
    st.sampled_from((False, False, False, True)),
)
CHANGES = st.lists(
    st.one_of(
        st.tuples(st.just("policy"), st.sampled_from(("red/p", "red/q", "blue/p")), st.none() | POLICIES),
        st.tuples(st.just("pod"), st.sampled_from(PODS), st.none() | POD_STATES),
        st.tuples(st.just("namespace"), st.sampled_from(NAMESPACES), st.none() | LABELS),
        st.tuples(st.just("write"), st.just(""), st.none()),
    ),
    max_size=14,
)


class Node:
    """A model, its table, the kernel that runs the transactions, and the objects of the cluster."""

    def __init__(self) -> None:
        self.model = PolicyModel()
        self.table = Table(TABLE)
        self.kernel = PolicyTable()
        self.pods: dict[str, Json] = {}
        self.namespaces: dict[str, Mapping[str, str]] = {}
        self.policies: dict[str, Json] = {}

    def change(self, kind: str, name: str, value: Any) -> None:
        getattr(self, kind)(name, value)

    def write(self, name: str = "", value: Any = None) -> None:
        for _ in self.model.apply():
            pass
        for owner, fragment in self.model.take():
            self.table.put(owner, fragment)
        self.kernel.run(self.table.transaction())
        self.table.written()

    def policy(self, key: str, spec: Json | None) -> None:
        namespace, _, name = key.partition("/")
        self.policies.pop(key, None)
        if spec is not None:
            self.policies[key] = {"metadata": {"name": name, "namespace": namespace}, "spec": spec}
            view = POLICY_VIEW.decode(json.dumps(self.policies[key]).encode())
            self.model.changed_policies[key] = compiled(view)
        else:
            self.model.changed_policies[key] = None

    def pod(self, name: str, state: Json | None) -> None:
        self.pods.pop(name, None)
        if state is None:
            self.model.changed_pods[name] = None
            return
        self.pods[name] = pod_object(name, state)
        body = without_the_rest(json.dumps(self.pods[name]).encode())
        view = POLICY_POD_VIEW.decode(body)
        self.model.changed_pods[name] = facts_of(view, "here", view.metadata.labels)

    def namespace(self, name: str, labels: Mapping[str, str] | None) -> None:
        self.namespaces.pop(name, None)
        if labels is not None:
            self.namespaces[name] = labels
        self.model.changed_namespaces[name] = labels

    def world(self) -> World:
        return World(list(self.pods.values()), self.namespaces, list(self.policies.values()))


def pod_object(name: str, state: Json) -> Json:
    number = PODS.index(name) + 1
    return {
        "metadata": {"name": name, "uid": name, "namespace": NAMESPACES[number % 2], "labels": state["labels"]},
        "spec": {
            "nodeName": state["node"],
            "hostNetwork": state["host"],
            "containers": [{"name": "main", "image": "none", "ports": state["ports"]}],
        },
        "status": {"phase": state["phase"], "podIPs": [{"ip": each} for each in addresses_of(name)]},
    }


def addresses_of(name: str) -> tuple[str, str]:
    number = PODS.index(name) + 1
    return f"10.1.0.{number}", f"fd00:1::{number}"


EXTERNAL = (("192.0.2.7", "2001:db8::7"), ("192.0.2.200", "2001:db8::8"))
CONNECTIONS = [
    Connection(source[family], destination[family], protocol, port)
    for source in (*map(addresses_of, PODS), *EXTERNAL)
    for destination in (*map(addresses_of, PODS), EXTERNAL[0])
    for family in (0, 1)
    for protocol, port in (("TCP", 80), ("TCP", 81), ("TCP", 443), ("UDP", 80), ("SCTP", 80))
]


def node_with_pods() -> Node:
    """Return a node with namespaces and Pods that have different labels and ports."""
    node = Node()
    for name in NAMESPACES:
        node.namespace(name, {"team": name})
    for number, name in enumerate(PODS):
        labels = {"app": "xy"[number % 2]} | ({"tier": "x"} if number < 3 else {})
        ports = [
            {"name": "web", "containerPort": 80 + number % 2},
            {"name": "dns", "containerPort": 80, "protocol": "UDP"},
        ]
        place = "there" if number % 3 == 2 else "here"
        node.pod(name, {"labels": labels, "node": place, "ports": ports, "phase": "Running", "host": number == 4})
    return node


X: Json = {"matchLabels": {"app": "x"}}
NOT_X: Json = {"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["x"]}]}
BLUE: Json = {"matchLabels": {"team": "blue"}}
SPECS: dict[str, Json] = {
    "deny ingress": {"podSelector": {}},
    "deny egress": {"podSelector": {}, "policyTypes": ["Egress"]},
    "default types with egress rules": {"podSelector": {}, "ingress": [{}], "egress": [{"ports": [{"port": 80}]}]},
    "pods of the namespace": {"podSelector": {}, "ingress": [{"from": [{"podSelector": X}]}]},
    "pods by expression": {"podSelector": {}, "ingress": [{"from": [{"podSelector": NOT_X}]}]},
    "namespace": {"podSelector": {}, "ingress": [{"from": [{"namespaceSelector": BLUE}]}]},
    "all namespaces": {"podSelector": {}, "ingress": [{"from": [{"namespaceSelector": {}}]}]},
    "pods of all namespaces": {"podSelector": {}, "ingress": [{"from": [{"namespaceSelector": {}, "podSelector": X}]}]},
    "pods of a namespace": {
        "podSelector": {},
        "policyTypes": ["Egress"],
        "egress": [{"to": [{"namespaceSelector": BLUE, "podSelector": X}], "ports": [{"port": 80}]}],
    },
    "block": {"podSelector": {}, "ingress": [{"from": [{"ipBlock": {"cidr": "192.0.2.0/25"}}]}]},
    "block with exceptions": {
        "podSelector": {},
        "ingress": [{"from": [{"ipBlock": {"cidr": "10.1.0.0/24", "except": ["10.1.0.2/32", "10.1.0.4/30"]}}]}],
    },
    "block of IPv6": {
        "podSelector": {},
        "egress": [{"to": [{"ipBlock": {"cidr": "fd00:1::/64", "except": ["fd00:1::3/128"]}}]}],
    },
    "exception that another rule permits": {
        "podSelector": {},
        "ingress": [
            {"from": [{"ipBlock": {"cidr": "10.1.0.0/24", "except": ["10.1.0.2/32"]}}]},
            {"from": [{"ipBlock": {"cidr": "10.1.0.2/32"}}]},
        ],
    },
    "port": {"podSelector": {}, "ingress": [{"ports": [{"port": 80}]}]},
    "range": {"podSelector": {}, "ingress": [{"ports": [{"port": 81, "endPort": 443}]}]},
    "ranges that overlap": {"podSelector": {}, "ingress": [{"ports": [{"port": 79, "endPort": 81}, {"port": 80}]}]},
    "protocol": {"podSelector": {}, "ingress": [{"ports": [{"protocol": "UDP"}]}]},
    "SCTP": {"podSelector": {}, "ingress": [{"ports": [{"protocol": "SCTP", "port": 80}]}]},
    "name": {"podSelector": {}, "ingress": [{"ports": [{"port": "web"}]}]},
    "name of another protocol": {"podSelector": {}, "ingress": [{"ports": [{"port": "web", "protocol": "UDP"}]}]},
    "name in the peer": {"podSelector": {}, "egress": [{"to": [{"podSelector": X}], "ports": [{"port": "web"}]}]},
    "names and peers": {
        "podSelector": {},
        "ingress": [
            {
                "from": [{"podSelector": X}, {"namespaceSelector": BLUE}, {"ipBlock": {"cidr": "::/0"}}],
                "ports": [{"port": "web"}, {"port": 443}, {"port": "dns", "protocol": "UDP"}],
            }
        ],
    },
}


@pytest.mark.parametrize("namespace", NAMESPACES)
@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
def test_a_policy_permits_what_is_documented(spec: Json, namespace: str) -> None:
    node = node_with_pods()
    node.policy(f"{namespace}/p", spec)
    node.write()
    world = node.world()
    expected = {each: permitted(world, each) for each in CONNECTIONS}
    assert [each for each in CONNECTIONS if node.kernel.passes(each) != expected[each]] == []
    assert False in expected.values()


@settings(max_examples=examples(60), deadline=None)
@given(CHANGES)
@example([("policy", "red/p", {"podSelector": {}}), ("pod", "a1", None)])
def test_rules_permit_exactly_what_the_policies_permit(changes: list[tuple[str, str, Any]]) -> None:
    node = node_with_pods()
    node.write()
    for kind, name, value in copy.deepcopy(changes):
        node.change(kind, name, value)
    node.write()
    world = node.world()
    wrong = [each for each in CONNECTIONS if node.kernel.passes(each) != permitted(world, each)]
    assert wrong == []


@settings(max_examples=examples(30), deadline=None)
@given(CHANGES)
def test_small_transactions_lead_to_the_table_of_a_rebuild(changes: list[tuple[str, str, Any]]) -> None:
    node = Node()
    node.write()
    for kind, name, value in changes:
        node.change(kind, name, value)
        node.write()
    chains, sets = copy.deepcopy(node.kernel.chains), copy.deepcopy(node.kernel.sets)
    node.table.failed()
    node.write()
    assert (node.kernel.chains, node.kernel.sets) == (chains, sets)


@settings(max_examples=examples(30), deadline=None)
@given(CHANGES)
def test_no_objects_leave_nothing_behind(changes: list[tuple[str, str, Any]]) -> None:
    node = Node()
    node.write()
    empty = copy.deepcopy((node.kernel.chains, node.kernel.sets))
    for kind, name, value in changes:
        node.change(kind, name, value)
    node.write()
    for key in ("red/p", "red/q", "blue/p"):
        node.policy(key, None)
    for name in PODS:
        node.pod(name, None)
    node.write()
    assert (node.kernel.chains, node.kernel.sets) == empty


def test_peers_that_no_rule_can_have_cost_nothing() -> None:
    peers = [{"podSelector": {"matchLabels": {"app": str(number)}}} for number in range(RULES_MAX)]
    rule = {"from": [{"ipBlock": {"cidr": "192.0.2.0/24"}}, *peers]}
    spec = {"podSelector": {}, "ingress": [rule, rule], "egress": [{"to": peers, "ports": [{"port": 70000}]}]}
    raw = json.dumps({"metadata": {"name": "p", "namespace": "red"}, "spec": spec}).encode()
    assert len(compiled(POLICY_VIEW.decode(raw)).peers()) == RULES_MAX // 2 - 1


ZONE = "fe80::1%x } ; flush ruleset ; #"


def test_no_text_of_a_zone_becomes_part_of_a_rule() -> None:
    block = IPBlock(f"{ZONE}/128")
    policy = NetworkPolicy(
        ObjectMeta(name="p"), PolicySpec(ingress=[NetworkPolicyRule(sources=[NetworkPolicyPeer(ip_block=block)])])
    )
    assert compiled(policy).permissions["ingress"][0].peers == ()
    inside = IPBlock("fe80::/10", [f"{ZONE}/128"])
    policy = NetworkPolicy(
        ObjectMeta(name="p"), PolicySpec(ingress=[NetworkPolicyRule(sources=[NetworkPolicyPeer(ip_block=inside)])])
    )
    assert compiled(policy).permissions["ingress"][0].peers == ()
    assert canonical([ZONE, "fe80::1"]) == ("fe80::1",)
