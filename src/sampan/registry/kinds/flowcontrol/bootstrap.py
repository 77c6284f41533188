"""Flow schemas and priority levels of every cluster: the mandatory ones and the suggested ones.

Source: apiserver pkg/apis/flowcontrol/bootstrap/default.go (1.36).
"""

from collections.abc import Sequence
from typing import Any, Final

from sampan.core.object import Object

FLOW_CONTROL_GROUP: Final = "flowcontrol.apiserver.k8s.io"
AUTO_UPDATE: Final = "apf.kubernetes.io/autoupdate-spec"
"""Annotation that controls whether the spec of a bootstrap object follows this table."""

MANDATORY: Final = frozenset({"exempt", "catch-all"})
"""Names of the flow schemas and priority levels whose specs cannot be changed."""

_AUTHENTICATED, _UNAUTHENTICATED = "system:authenticated", "system:unauthenticated"
_LEVELS: Final = (
    # Name, shares, lendable percent, queues, hand size.
    ("system", 30, 33, 64, 6),
    ("node-high", 40, 25, 64, 6),
    ("leader-election", 10, 0, 16, 4),
    ("workload-high", 40, 50, 128, 6),
    ("workload-low", 100, 90, 128, 6),
    ("global-default", 20, 50, 128, 6),
)
_QUEUE_LENGTH_LIMIT: Final = 50


def priority_levels() -> dict[str, Object]:
    """Return copies of the specs by name, mandatory ones first."""
    specs: dict[str, Object] = {
        "exempt": {"type": "Exempt", "exempt": {"nominalConcurrencyShares": 0, "lendablePercent": 0}},
        "catch-all": _limited(5, 0, {"type": "Reject"}),
    }
    for name, shares, lendable, queues, hand in _LEVELS:
        queuing = {"queues": queues, "handSize": hand, "queueLengthLimit": _QUEUE_LENGTH_LIMIT}
        specs[name] = _limited(shares, lendable, {"type": "Queue", "queuing": queuing})
    return specs


def flow_schemas() -> dict[str, Object]:
    """Return copies of the specs by name, in order of precedence."""
    everybody = _groups(_UNAUTHENTICATED, _AUTHENTICATED)
    nodes = _groups("system:nodes")
    controllers, scheduler = _users("system:kube-controller-manager"), _users("system:kube-scheduler")
    accounts = _kube_system_accounts()
    lease_holders = [*controllers, *scheduler, *accounts]
    probes = {"verbs": ["get"], "nonResourceURLs": ["/healthz", "/readyz", "/livez"]}
    leases = _resources(["get", "create", "update"], "coordination.k8s.io", ["leases"], cluster=False)
    node_rules = [
        _resources(["*"], "", ["nodes", "nodes/status"]),
        _resources(["*"], "coordination.k8s.io", ["leases"], cluster=False),
    ]
    return {
        "exempt": _schema("exempt", 1, "", _all(_groups("system:masters"))),
        "probes": _schema("exempt", 2, "", {"subjects": everybody, "nonResourceRules": [probes]}),
        "system-leader-election": _schema(
            "leader-election", 100, "ByUser", {"subjects": lease_holders, "resourceRules": [leases]}
        ),
        "system-node-high": _schema("node-high", 400, "ByUser", {"subjects": nodes, "resourceRules": node_rules}),
        "system-nodes": _schema("system", 500, "ByUser", _all(nodes)),
        "kube-controller-manager": _schema("workload-high", 800, "ByNamespace", _all(controllers)),
        "kube-scheduler": _schema("workload-high", 800, "ByNamespace", _all(scheduler)),
        "kube-system-service-accounts": _schema("workload-high", 900, "ByNamespace", _all(accounts)),
        "service-accounts": _schema("workload-low", 9000, "ByUser", _all(_groups("system:serviceaccounts"))),
        "global-default": _schema("global-default", 9900, "ByUser", _all(everybody)),
        "catch-all": _schema("catch-all", 10000, "ByUser", _all(everybody)),
    }


def _limited(shares: int, lendable: int, response: Object) -> Object:
    limited = {"nominalConcurrencyShares": shares, "lendablePercent": lendable, "limitResponse": response}
    return {"type": "Limited", "limited": limited}


def _schema(level: str, precedence: int, distinguisher: str, rule: Object) -> Object:
    spec: Object = {"priorityLevelConfiguration": {"name": level}, "matchingPrecedence": precedence, "rules": [rule]}
    if distinguisher:
        spec["distinguisherMethod"] = {"type": distinguisher}
    return spec


def _all(subjects: list[Any]) -> Object:
    """Return a rule that matches all requests of these subjects."""
    others = {"verbs": ["*"], "nonResourceURLs": ["*"]}
    return {"subjects": subjects, "resourceRules": [_resources(["*"], "*", ["*"])], "nonResourceRules": [others]}


def _resources(verbs: Sequence[str], group: str, resources: Sequence[str], *, cluster: bool = True) -> Object:
    rule: Object = {"verbs": [*verbs], "apiGroups": [group], "resources": [*resources], "namespaces": ["*"]}
    if cluster:
        rule["clusterScope"] = True
    return rule


def _groups(*names: str) -> list[Any]:
    return [{"kind": "Group", "group": {"name": name}} for name in names]


def _users(*names: str) -> list[Any]:
    return [{"kind": "User", "user": {"name": name}} for name in names]


def _kube_system_accounts() -> list[Any]:
    return [{"kind": "ServiceAccount", "serviceAccount": {"name": "*", "namespace": "kube-system"}}]
