"""Objects of bootstrap tokens: the Secret of a token, and the permissions of all machines that join.

Names and permissions are kubeadm's, so both tools can manage a cluster.
Source: kubeadm app/phases/bootstraptoken/{node,clusterinfo} (1.36).
"""

from __future__ import annotations

import base64
import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import yaml

from sampan.component_base import pod_networks
from sampan.core.gvk import GroupVersionResource
from sampan.core.time import format_time
from sampan.core.tokens.bootstrap import (
    CLUSTER_INFO,
    CLUSTER_INFO_NAMESPACE,
    KUBECONFIG_KEY,
    NODE_GROUP,
    SECRET_NAMESPACE,
    SECRET_TYPE,
    USAGES,
    BootstrapToken,
)
from sampan.kinds import core_v1, meta_v1
from sampan.resource import Object, ResourceInfo

_RBAC: Final = "rbac.authorization.k8s.io"
_GET_NODES: Final = "kubeadm:get-nodes"
_READ_ENDPOINTS: Final = "sampan:node-service-proxy"
_READ_POLICIES: Final = "sampan:node-network-policy"
"""Role for the service proxy of a node. That of kube-proxy may read all Nodes, which a node must not."""
_APPROVE_SERVING: Final = "sampan:node-autoapprove-serving"
"""Role with which `kubelet-serving-approving-controller` approves the certificate of a node's server."""
_READ_NETWORKS: Final = "sampan:node-pod-networks"
"""Role for the ConfigMap from which a node learns the routes to other nodes' Pods."""
_WATCH: Final = ("get", "list", "watch")
_FOLLOW: Final = ("list", "watch")
_CSR: Final = "system:certificates.k8s.io:certificatesigningrequests"
_CLUSTER_INFO_ROLE: Final = "kubeadm:bootstrap-signer-clusterinfo"


@dataclass(frozen=True, slots=True)
class TokenOptions:
    """Properties of a token."""

    expiration: dt.datetime | None
    usages: Sequence[str] = USAGES
    groups: Sequence[str] = (NODE_GROUP,)
    description: str = ""


def token_secret(token: BootstrapToken, options: TokenOptions) -> core_v1.Secret:
    """Return the Secret in kube-system that makes a bootstrap token valid."""
    data = {"token-id": token.id, "token-secret": token.secret}
    if options.expiration is not None:
        data["expiration"] = format_time(options.expiration)
    data |= {f"usage-bootstrap-{usage}": "true" for usage in options.usages}
    if "authentication" in options.usages:
        data["auth-extra-groups"] = ",".join(options.groups)
    if options.description:
        data["description"] = options.description
    metadata: meta_v1.ObjectMeta = {"name": token.secret_name, "namespace": SECRET_NAMESPACE}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "type": SECRET_TYPE, "stringData": data}


def cluster_info(server: str, ca_pem: str) -> core_v1.ConfigMap:
    """Return the public information of a cluster. A controller adds the signatures."""
    cluster = {"server": server, "certificate-authority-data": base64.b64encode(ca_pem.encode()).decode()}
    kubeconfig = {"apiVersion": "v1", "kind": "Config", "clusters": [{"name": "", "cluster": cluster}]}
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": CLUSTER_INFO, "namespace": CLUSTER_INFO_NAMESPACE},
        "data": {KUBECONFIG_KEY: yaml.safe_dump(kubeconfig)},
    }


def permissions() -> list[tuple[ResourceInfo, Object]]:
    """Return the roles and bindings of machines that join, and of nodes that have joined."""
    return [*_of_tokens(), *_of_nodes()]


def _of_tokens() -> list[tuple[ResourceInfo, Object]]:
    """Return the permissions of machines that join."""
    bootstrappers = _subject("Group", NODE_GROUP)
    anyone = _subject("User", "system:anonymous")
    return [
        (_CLUSTER_ROLES, _role("ClusterRole", _GET_NODES, _rule("", "nodes"))),
        (_CLUSTER_BINDINGS, _cluster_binding(_GET_NODES, _GET_NODES, bootstrappers)),
        (_CLUSTER_BINDINGS, _cluster_binding("kubeadm:kubelet-bootstrap", "system:node-bootstrapper", bootstrappers)),
        (
            _CLUSTER_BINDINGS,
            _cluster_binding("kubeadm:node-autoapprove-bootstrap", f"{_CSR}:nodeclient", bootstrappers),
        ),
        (_ROLES, _in_public(_role("Role", _CLUSTER_INFO_ROLE, _rule("", "configmaps", CLUSTER_INFO)))),
        (_BINDINGS, _in_public(_binding("RoleBinding", "Role", _CLUSTER_INFO_ROLE, anyone))),
    ]


def _of_nodes() -> list[tuple[ResourceInfo, Object]]:
    """Return the permissions of nodes: to renew certificates, for their service proxies, policies and routes."""
    nodes = _subject("Group", "system:nodes")
    serving = _rule("certificates.k8s.io", "certificatesigningrequests/selfnodeserver", verbs=["create"])
    services = [
        _rule("discovery.k8s.io", "endpointslices", verbs=_WATCH),
        _rule("networking.k8s.io", "servicecidrs", verbs=_WATCH),
    ]
    policies = [
        _rule("networking.k8s.io", "networkpolicies", verbs=_FOLLOW),
        _rule("", "namespaces", verbs=_FOLLOW),
        _rule("", "pods", verbs=_FOLLOW),
    ]
    networks = _role("Role", _READ_NETWORKS, _rule("", "configmaps", pod_networks.CONFIG_MAP, verbs=_WATCH))
    read_networks = _binding("RoleBinding", "Role", _READ_NETWORKS, nodes)
    return [
        (
            _CLUSTER_BINDINGS,
            _cluster_binding("kubeadm:node-autoapprove-certificate-rotation", f"{_CSR}:selfnodeclient", nodes),
        ),
        (_CLUSTER_ROLES, _role("ClusterRole", _APPROVE_SERVING, serving)),
        (_CLUSTER_BINDINGS, _cluster_binding(_APPROVE_SERVING, _APPROVE_SERVING, nodes)),
        (_CLUSTER_ROLES, _role("ClusterRole", _READ_ENDPOINTS, *services)),
        (_CLUSTER_BINDINGS, _cluster_binding(_READ_ENDPOINTS, _READ_ENDPOINTS, nodes)),
        (_CLUSTER_ROLES, _role("ClusterRole", _READ_POLICIES, *policies)),
        (_CLUSTER_BINDINGS, _cluster_binding(_READ_POLICIES, _READ_POLICIES, nodes)),
        (_ROLES, _in(pod_networks.NAMESPACE, networks)),
        (_BINDINGS, _in(pod_networks.NAMESPACE, read_networks)),
    ]


def _rbac(resource: str, kind: str, *, namespaced: bool) -> ResourceInfo:
    return ResourceInfo(GroupVersionResource(_RBAC, "v1", resource), kind, namespaced)


_CLUSTER_ROLES: Final = _rbac("clusterroles", "ClusterRole", namespaced=False)
_CLUSTER_BINDINGS: Final = _rbac("clusterrolebindings", "ClusterRoleBinding", namespaced=False)
_ROLES: Final = _rbac("roles", "Role", namespaced=True)
_BINDINGS: Final = _rbac("rolebindings", "RoleBinding", namespaced=True)


def _rule(group: str, resource: str, name: str = "", *, verbs: Sequence[str] = ("get",)) -> Object:
    rule: Object = {"apiGroups": [group], "resources": [resource], "verbs": list(verbs)}
    return {**rule, "resourceNames": [name]} if name else rule


def _role(kind: str, name: str, *rules: Object) -> Object:
    return {"apiVersion": f"{_RBAC}/v1", "kind": kind, "metadata": {"name": name}, "rules": list(rules)}


def _subject(kind: str, name: str) -> Object:
    return {"apiGroup": _RBAC, "kind": kind, "name": name}


def _cluster_binding(name: str, role: str, subject: Object) -> Object:
    found = _binding("ClusterRoleBinding", "ClusterRole", role, subject)
    return {**found, "metadata": {"name": name}}


def _binding(kind: str, role_kind: str, role: str, subject: Object) -> Object:
    return {
        "apiVersion": f"{_RBAC}/v1",
        "kind": kind,
        "metadata": {"name": role},
        "roleRef": {"apiGroup": _RBAC, "kind": role_kind, "name": role},
        "subjects": [subject],
    }


def _in_public(obj: Object) -> Object:
    return _in(CLUSTER_INFO_NAMESPACE, obj)


def _in(namespace: str, obj: Object) -> Object:
    return {**obj, "metadata": {**obj["metadata"], "namespace": namespace}}
