"""Types of networking/v1. `make kinds` writes this module."""

from __future__ import annotations

from typing import Final, Literal, Required, TypedDict

from sampan.core.gvk import GroupVersion
from sampan.kinds import core_v1, meta_v1


class HTTPIngressPath(TypedDict, total=False):
    """Type of `HTTPIngressRuleValue.paths`."""

    backend: Required[IngressBackend]
    path: str
    pathType: Required[str]


class HTTPIngressRuleValue(TypedDict, total=False):
    """Type of `IngressRule.http`."""

    paths: Required[list[HTTPIngressPath]]


class IPAddress(TypedDict, total=False):
    """Object of the resource `ipaddresses`."""

    apiVersion: Required[Literal["networking.k8s.io/v1"]]
    kind: Required[Literal["IPAddress"]]
    metadata: Required[meta_v1.ObjectMeta]
    spec: Required[IPAddressSpec]


class IPAddressList(TypedDict, total=False):
    """Response with a list of `IPAddress`."""

    apiVersion: Required[Literal["networking.k8s.io/v1"]]
    items: Required[list[IPAddress]]
    kind: Required[Literal["IPAddressList"]]
    metadata: Required[meta_v1.ListMeta]


class IPAddressSpec(TypedDict, total=False):
    """Type of `IPAddress.spec`."""

    parentRef: Required[ParentReference]


IPBlock = TypedDict(
    "IPBlock",
    {
        "cidr": "Required[str]",
        "except": "list[str]",
    },
    total=False,
)
"""Type of `NetworkPolicyPeer.ipBlock`."""


class Ingress(TypedDict, total=False):
    """Object of the resource `ingresses` in a namespace."""

    apiVersion: Required[Literal["networking.k8s.io/v1"]]
    kind: Required[Literal["Ingress"]]
    metadata: Required[meta_v1.ObjectMeta]
    spec: IngressSpec
    status: IngressStatus


class IngressBackend(TypedDict, total=False):
    """Type of `HTTPIngressPath.backend`, `IngressSpec.defaultBackend`."""

    resource: core_v1.TypedLocalObjectReference
    service: IngressServiceBackend


class IngressClass(TypedDict, total=False):
    """Object of the resource `ingressclasses`."""

    apiVersion: Required[Literal["networking.k8s.io/v1"]]
    kind: Required[Literal["IngressClass"]]
    metadata: Required[meta_v1.ObjectMeta]
    spec: IngressClassSpec


class IngressClassList(TypedDict, total=False):
    """Response with a list of `IngressClass`."""

    apiVersion: Required[Literal["networking.k8s.io/v1"]]
    items: Required[list[IngressClass]]
    kind: Required[Literal["IngressClassList"]]
    metadata: Required[meta_v1.ListMeta]


class IngressClassParametersReference(TypedDict, total=False):
    """Type of `IngressClassSpec.parameters`."""

    apiGroup: str
    kind: Required[str]
    name: Required[str]
    namespace: str
    scope: str


class IngressClassSpec(TypedDict, total=False):
    """Type of `IngressClass.spec`."""

    controller: str
    parameters: IngressClassParametersReference


class IngressList(TypedDict, total=False):
    """Response with a list of `Ingress`."""

    apiVersion: Required[Literal["networking.k8s.io/v1"]]
    items: Required[list[Ingress]]
    kind: Required[Literal["IngressList"]]
    metadata: Required[meta_v1.ListMeta]


class IngressLoadBalancerIngress(TypedDict, total=False):
    """Type of `IngressLoadBalancerStatus.ingress`."""

    hostname: str
    ip: str
    ports: list[IngressPortStatus]


class IngressLoadBalancerStatus(TypedDict, total=False):
    """Type of `IngressStatus.loadBalancer`."""

    ingress: list[IngressLoadBalancerIngress]


class IngressPortStatus(TypedDict, total=False):
    """Type of `IngressLoadBalancerIngress.ports`."""

    error: str
    port: Required[int]
    protocol: Required[str]


class IngressRule(TypedDict, total=False):
    """Type of `IngressSpec.rules`."""

    host: str
    http: HTTPIngressRuleValue


class IngressServiceBackend(TypedDict, total=False):
    """Type of `IngressBackend.service`."""

    name: Required[str]
    port: ServiceBackendPort


class IngressSpec(TypedDict, total=False):
    """Type of `Ingress.spec`."""

    defaultBackend: IngressBackend
    ingressClassName: str
    rules: list[IngressRule]
    tls: list[IngressTLS]


class IngressStatus(TypedDict, total=False):
    """Type of `Ingress.status`."""

    loadBalancer: IngressLoadBalancerStatus


class IngressTLS(TypedDict, total=False):
    """Type of `IngressSpec.tls`."""

    hosts: list[str]
    secretName: str


class NetworkPolicy(TypedDict, total=False):
    """Object of the resource `networkpolicies` in a namespace."""

    apiVersion: Required[Literal["networking.k8s.io/v1"]]
    kind: Required[Literal["NetworkPolicy"]]
    metadata: Required[meta_v1.ObjectMeta]
    spec: NetworkPolicySpec


class NetworkPolicyEgressRule(TypedDict, total=False):
    """Type of `NetworkPolicySpec.egress`."""

    ports: list[NetworkPolicyPort]
    to: list[NetworkPolicyPeer]


NetworkPolicyIngressRule = TypedDict(
    "NetworkPolicyIngressRule",
    {
        "from": "list[NetworkPolicyPeer]",
        "ports": "list[NetworkPolicyPort]",
    },
    total=False,
)
"""Type of `NetworkPolicySpec.ingress`."""


class NetworkPolicyList(TypedDict, total=False):
    """Response with a list of `NetworkPolicy`."""

    apiVersion: Required[Literal["networking.k8s.io/v1"]]
    items: Required[list[NetworkPolicy]]
    kind: Required[Literal["NetworkPolicyList"]]
    metadata: Required[meta_v1.ListMeta]


class NetworkPolicyPeer(TypedDict, total=False):
    """Type of `NetworkPolicyEgressRule.to`, `NetworkPolicyIngressRule.from`."""

    ipBlock: IPBlock
    namespaceSelector: meta_v1.LabelSelector
    podSelector: meta_v1.LabelSelector


class NetworkPolicyPort(TypedDict, total=False):
    """Type of `NetworkPolicyEgressRule.ports`, `NetworkPolicyIngressRule.ports`."""

    endPort: int
    port: meta_v1.IntOrString
    protocol: str


class NetworkPolicySpec(TypedDict, total=False):
    """Type of `NetworkPolicy.spec`."""

    egress: list[NetworkPolicyEgressRule]
    ingress: list[NetworkPolicyIngressRule]
    podSelector: meta_v1.LabelSelector
    policyTypes: list[str]


class ParentReference(TypedDict, total=False):
    """Type of `IPAddressSpec.parentRef`."""

    group: str
    name: Required[str]
    namespace: str
    resource: Required[str]


class ServiceBackendPort(TypedDict, total=False):
    """Type of `IngressServiceBackend.port`."""

    name: str
    number: int


class ServiceCIDR(TypedDict, total=False):
    """Object of the resource `servicecidrs`."""

    apiVersion: Required[Literal["networking.k8s.io/v1"]]
    kind: Required[Literal["ServiceCIDR"]]
    metadata: Required[meta_v1.ObjectMeta]
    spec: ServiceCIDRSpec
    status: ServiceCIDRStatus


class ServiceCIDRList(TypedDict, total=False):
    """Response with a list of `ServiceCIDR`."""

    apiVersion: Required[Literal["networking.k8s.io/v1"]]
    items: Required[list[ServiceCIDR]]
    kind: Required[Literal["ServiceCIDRList"]]
    metadata: Required[meta_v1.ListMeta]


class ServiceCIDRSpec(TypedDict, total=False):
    """Type of `ServiceCIDR.spec`."""

    cidrs: list[str]


class ServiceCIDRStatus(TypedDict, total=False):
    """Type of `ServiceCIDR.status`."""

    conditions: list[meta_v1.Condition]


GROUP_VERSION: Final = GroupVersion("networking.k8s.io", "v1")

RESOURCES: Final = {
    "IPAddress": ("ipaddresses", False),
    "Ingress": ("ingresses", True),
    "IngressClass": ("ingressclasses", False),
    "NetworkPolicy": ("networkpolicies", True),
    "ServiceCIDR": ("servicecidrs", False),
}
"""Resources by their kinds, and True if they are in namespaces."""
