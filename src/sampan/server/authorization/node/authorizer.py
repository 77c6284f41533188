"""`NodeAuthorizer`: rights of kubelets (users `system:node:NAME` of the group system:nodes).

The admission plug-in NodeRestriction limits writes further, because it has the objects.
Source: kubernetes plugin/pkg/auth/authorizer/node/node_authorizer.go (1.36).
"""

from collections.abc import Collection
from functools import cache
from typing import Final

from sampan.core.selectors.fields import parse_fields
from sampan.server.authorization.authorizer import ALLOWED, NO_OPINION, Decision, RulesFound, Verdict
from sampan.server.authorization.bootstrap_policy.component_roles import COMPONENT_ROLES
from sampan.server.authorization.bootstrap_policy.grammar import rules
from sampan.server.authorization.node.graph import NodeGraph
from sampan.server.authorization.node.references import Referent
from sampan.server.authorization.rbac.rule_table import RuleTable, resource_keys
from sampan.server.request import RequestInfo, UserInfo
from sampan.streams.tunnels import PATH as TUNNELS

_PREFIX: Final = "system:node:"
_GROUP: Final = "system:nodes"
_LEASE_NAMESPACE: Final = "kube-node-lease"
_OWN_VERBS: Final = ("get", "create", "update", "patch", "delete")
_READ_RELATED: Final = frozenset({("", "secrets"), ("", "configmaps")})
_GET_RELATED: Final = frozenset(
    {
        ("", "persistentvolumeclaims"),
        ("", "persistentvolumes"),
        ("resource.k8s.io", "resourceclaims"),
        ("storage.k8s.io", "volumeattachments"),
    }
)


@cache
def _node_rules() -> RuleTable:
    """Return the rules of the role of kubelets. They are constant, and take a millisecond to index."""
    return RuleTable(rules(COMPONENT_ROLES["system:node"]))


class NodeAuthorizer:
    """Authorizes requests of kubelets. Has no opinion on other users."""

    def __init__(self, graph: NodeGraph, name: str = "node") -> None:
        """`name` is the authorizer's name in the configuration and in metrics."""
        self.title = ("Node", name)
        self._graph = graph
        self._rules = _node_rules()
        self._special = {
            ("", "serviceaccounts"): self._service_account,
            ("coordination.k8s.io", "leases"): self._lease,
            ("storage.k8s.io", "csinodes"): self._csi_node,
            ("resource.k8s.io", "resourceslices"): self._resource_slice,
            ("", "nodes"): self._node,
            ("", "pods"): self._pod,
        }

    async def authorize(self, user: UserInfo, info: RequestInfo) -> Verdict:
        if not is_node(user):
            return NO_OPINION
        node = user.name.removeprefix(_PREFIX)
        if not node:
            return _no_opinion(f'unknown node for user "{user.name}"')
        if not info.is_resource:
            return ALLOWED if info.path == TUNNELS + node and info.verb == "get" else NO_OPINION
        resource = (info.group, info.resource)
        if resource in _READ_RELATED:
            return self._read_related(node, info)
        if resource in _GET_RELATED:
            return self._get_related(node, info)
        special = self._special.get(resource)
        if special is not None:
            return special(node, info)
        names = self._rules.names(info.verb, info.group, resource_keys(info.resource, info.subresource))
        return ALLOWED if names is None or info.name in names else NO_OPINION

    def rules_for(self, user: UserInfo, namespace: str) -> RulesFound:
        """Return no rules of kubelets. Their rights depend on the Pods and cannot be listed."""
        if is_node(user):
            return RulesFound(incomplete=True, errors=("node authorizer does not support user rule resolution",))
        return RulesFound()

    def namespaces_of(self, user: UserInfo) -> Collection[str] | None:
        """Return no namespaces for users that are not kubelets; None for kubelets."""
        return None if is_node(user) else ()

    def _related(self, node: str, info: RequestInfo) -> Verdict:
        if not info.name:
            return _no_opinion("No Object name found")
        if self._graph.related(node, Referent(info.resource, info.namespace, info.name)):
            return ALLOWED
        return _no_opinion(f"no relationship found between node '{node}' and this object")

    def _read_related(self, node: str, info: RequestInfo) -> Verdict:
        if info.verb not in ("get", "list", "watch"):
            return _no_opinion("can only read resources of this type")
        if info.subresource:
            return _no_opinion("cannot read subresource")
        if not info.namespace:
            return _no_opinion("can only read namespaced object of this type")
        return self._related(node, info)

    def _get_related(self, node: str, info: RequestInfo) -> Verdict:
        if info.resource == "persistentvolumeclaims" and info.subresource == "status":
            if info.verb not in ("update", "patch"):
                return _no_opinion("can only get/update/patch this type")
            return self._related(node, info)
        if info.verb != "get":
            return _no_opinion("can only get individual resources of this type")
        if info.subresource:
            return _no_opinion("cannot get subresource")
        return self._related(node, info)

    def _service_account(self, node: str, info: RequestInfo) -> Verdict:
        if info.verb == "get" and not info.subresource:
            return self._read_related(node, info)
        if info.verb != "create" or not info.name:
            return _no_opinion("can only create tokens for individual service accounts")
        if info.subresource != "token":
            return _no_opinion("can only create token subresource of serviceaccount")
        return self._related(node, info)

    def _lease(self, node: str, info: RequestInfo) -> Verdict:
        if info.verb not in _OWN_VERBS:
            return _no_opinion("can only get, create, update, patch, or delete a node lease")
        if info.namespace != _LEASE_NAMESPACE:
            return _no_opinion(f'can only access leases in the "{_LEASE_NAMESPACE}" system namespace')
        if info.verb != "create" and info.name != node:
            return _no_opinion("can only access node lease with the same name as the requesting node")
        return ALLOWED

    def _csi_node(self, node: str, info: RequestInfo) -> Verdict:
        if info.verb not in _OWN_VERBS:
            return _no_opinion("can only get, create, update, patch, or delete a CSINode")
        if info.subresource:
            return _no_opinion("cannot authorize CSINode subresources")
        if info.verb != "create" and info.name != node:
            return _no_opinion("can only access CSINode with the same name as the requesting node")
        return ALLOWED

    def _resource_slice(self, node: str, info: RequestInfo) -> Verdict:
        if info.subresource:
            return _no_opinion("cannot authorize ResourceSlice subresources")
        if info.verb == "create":
            return ALLOWED
        if info.verb in ("get", "update", "patch", "delete"):
            return self._related(node, info)
        if info.verb in ("watch", "list", "deletecollection"):
            if _selects(info, node):
                return ALLOWED
            return _no_opinion("can only list/watch/deletecollection resourceslices with nodeName field selector")
        return _no_opinion(
            "only the following verbs are allowed for a ResourceSlice: "
            "get, watch, list, create, update, patch, delete, deletecollection"
        )

    def _node(self, node: str, info: RequestInfo) -> Verdict:
        verb = info.verb
        if info.subresource == "status":
            return ALLOWED if verb in ("update", "patch") else NO_OPINION
        if info.subresource:
            return NO_OPINION
        if verb in ("create", "update", "patch"):
            return ALLOWED
        if verb not in ("get", "list", "watch"):
            return NO_OPINION
        if info.name == node:
            return ALLOWED
        what = f"'{info.name}'" if info.name else "all nodes"
        return _no_opinion(f"node '{node}' cannot read {what}, only its own Node object")

    def _pod(self, node: str, info: RequestInfo) -> Verdict:
        verb, subresource = info.verb, info.subresource
        if subresource == "status":
            return ALLOWED if verb in ("update", "patch") else NO_OPINION
        if subresource == "eviction":
            return ALLOWED if verb == "create" else NO_OPINION
        if subresource:
            return NO_OPINION
        if verb in ("create", "delete"):
            return ALLOWED
        if verb == "get":
            return self._related(node, info)
        if verb not in ("list", "watch"):
            return NO_OPINION
        if _selects(info, node):
            return ALLOWED
        if info.name:
            return self._related(node, info)
        return _no_opinion("can only list/watch pods with spec.nodeName field selector")


def node_of(user: UserInfo) -> str:
    """Return the name of the node if the user is a kubelet, or an empty string."""
    return user.name.removeprefix(_PREFIX) if is_node(user) else ""


def is_node(user: UserInfo) -> bool:
    """Return True if the user is a kubelet. Source: kubernetes pkg/auth/nodeidentifier/default.go (1.36)."""
    return user.name.startswith(_PREFIX) and _GROUP in user.groups


def _selects(info: RequestInfo, node: str) -> bool:
    """Return True if the request has a field selector for the node's name."""
    try:
        return parse_fields(info.field_selector).requires_exact("spec.nodeName") == node
    except ValueError:
        return False


def _no_opinion(reason: str) -> Verdict:
    return Verdict(Decision.NO_OPINION, reason)
