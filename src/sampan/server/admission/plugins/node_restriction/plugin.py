"""The plug-in: for each resource, the writes that kubelets may make.

Source: kubernetes plugin/pkg/admission/noderestriction/admission.go, pkg/auth/nodeidentifier/default.go;
k8s.io/kubelet pkg/apis/well_known_labels.go (1.36).
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import ClassVar, Final

from sampan.core.field import quote
from sampan.core.object import Object
from sampan.core.tls.certificates import requested_subject
from sampan.registry.reader import CacheReader
from sampan.server.admission.chain import Attributes
from sampan.server.admission.plugins.node_restriction.pods import check_pod
from sampan.server.admission.plugins.node_restriction.tokens import TokenCheck
from sampan.server.admission.refusal import refusal
from sampan.server.authorization.authorizer import Authorizer
from sampan.server.request import UserInfo

_LEASES_NAMESPACE: Final = "kube-node-lease"
_NODE_SIGNERS: Final = ("kubernetes.io/kubelet-serving", "kubernetes.io/kube-apiserver-client-kubelet")
_UNCOMPARED_STATUS: Final = ("capacity", "conditions", "allocatedResourceStatuses", "allocatedResources")
_UNCOMPARED_METADATA: Final = ("resourceVersion", "managedFields")
_GROUP: Final = "system:nodes"
_PREFIX: Final = "system:node:"
_RESTRICTED: Final = "node-restriction.kubernetes.io"
_OWN_DOMAINS: Final = ("kubelet.kubernetes.io", "node.kubernetes.io")
_OWN: Final = frozenset(
    {
        "kubernetes.io/hostname",
        "topology.kubernetes.io/zone",
        "topology.kubernetes.io/region",
        "failure-domain.beta.kubernetes.io/zone",
        "failure-domain.beta.kubernetes.io/region",
        "beta.kubernetes.io/instance-type",
        "node.kubernetes.io/instance-type",
        "kubernetes.io/os",
        "kubernetes.io/arch",
        "beta.kubernetes.io/os",
        "beta.kubernetes.io/arch",
    }
)


class NodeRestriction:
    """Restricts users that are Nodes."""

    name: ClassVar[str] = "NodeRestriction"
    operations: ClassVar[frozenset[str]] = frozenset({"CREATE", "UPDATE", "DELETE"})

    def __init__(self, reader: CacheReader, authorizer: Authorizer) -> None:
        self._reader = reader
        tokens = TokenCheck(reader, authorizer)
        self._checks: dict[tuple[str, str], Callable[[str, Attributes], Awaitable[None]]] = {
            ("", "pods"): self._check_pod,
            ("", "nodes"): _check_node,
            ("", "persistentvolumeclaims"): _check_claim,
            ("", "serviceaccounts"): tokens.check,
            ("coordination.k8s.io", "leases"): _check_lease,
            ("storage.k8s.io", "csinodes"): _check_csi_node,
            ("resource.k8s.io", "resourceslices"): _check_resource_slice,
            ("certificates.k8s.io", "certificatesigningrequests"): _check_request,
            ("certificates.k8s.io", "podcertificaterequests"): _check_pod_certificate_request,
        }
        self.resources = frozenset(self._checks)

    async def admit(self, attributes: Attributes) -> None:
        """Check a write. **Raises** 403, and 404 for a missing Pod or Node."""
        node = _node_name_of(attributes.user)
        if node is None:
            return
        if not node:
            assert attributes.user is not None
            raise refusal(attributes, f"could not determine node from user {quote(attributes.user.name)}")
        await self._checks[attributes.gvr.group, attributes.gvr.resource](node, attributes)

    async def _check_pod(self, node: str, attributes: Attributes) -> None:
        check_pod(self._reader, node, attributes)


async def _check_node(node: str, attributes: Attributes) -> None:
    me = f"node {quote(node)}"
    if attributes.name != node:
        raise refusal(attributes, f"{me} is not allowed to modify node {quote(attributes.name)}")
    obj, old = attributes.obj, attributes.old
    if obj is None:
        return
    spec, labels = obj.get("spec") or {}, obj["metadata"].get("labels") or {}
    if old is None:
        if spec.get("configSource") is not None:
            raise refusal(attributes, f"{me} is not allowed to create pods with a non-nil configSource")
        forbidden = forbidden_changes(labels, {})
        if forbidden:
            raise refusal(attributes, f"{me} is not allowed to set the following labels: {', '.join(forbidden)}")
        return
    before = old.get("spec") or {}
    if spec.get("configSource") is not None and spec["configSource"] != before.get("configSource"):
        raise refusal(attributes, f"{me} is not allowed to update configSource to a new non-nil configSource")
    if (spec.get("taints") or []) != (before.get("taints") or []):
        raise refusal(attributes, f"{me} is not allowed to modify taints")
    if (obj["metadata"].get("ownerReferences") or []) != (old["metadata"].get("ownerReferences") or []):
        raise refusal(attributes, f"{me} is not allowed to modify ownerReferences")
    forbidden = forbidden_changes(labels, old["metadata"].get("labels") or {})
    if forbidden:
        raise refusal(attributes, f"is not allowed to modify labels: {', '.join(forbidden)}")


async def _check_claim(node: str, attributes: Attributes) -> None:
    if attributes.subresource != "status":
        raise refusal(attributes, "may only update PVC status")
    obj, old = attributes.obj, attributes.old
    if attributes.operation != "UPDATE" or obj is None or old is None:
        raise refusal(attributes, f"unexpected operation {quote(attributes.operation)}")
    if _compared(obj) != _compared(old):
        text = f"node {quote(node)} is not allowed to update fields other than status.quantity and status.conditions"
        raise refusal(attributes, text)


def _compared(claim: Object) -> Object:
    status = {name: value for name, value in (claim.get("status") or {}).items() if name not in _UNCOMPARED_STATUS}
    metadata = {name: value for name, value in claim["metadata"].items() if name not in _UNCOMPARED_METADATA}
    return {**claim, "metadata": metadata, "status": status}


async def _check_lease(node: str, attributes: Attributes) -> None:
    if attributes.namespace != _LEASES_NAMESPACE:
        raise refusal(attributes, f"can only access leases in the {quote(_LEASES_NAMESPACE)} system namespace")
    if attributes.name != node:
        raise refusal(attributes, "can only access node lease with the same name as the requesting node")


async def _check_csi_node(node: str, attributes: Attributes) -> None:
    if attributes.name != node:
        raise refusal(attributes, "can only access CSINode with the same name as the requesting node")


async def _check_resource_slice(node: str, attributes: Attributes) -> None:
    if attributes.operation == "UPDATE":
        return
    resource_slice = (attributes.old if attributes.operation == "DELETE" else attributes.obj) or {}
    if (resource_slice.get("spec") or {}).get("nodeName") != node:
        verb = attributes.operation.lower()
        raise refusal(attributes, f"can only {verb} ResourceSlice with the same NodeName as the requesting node")


async def _check_request(node: str, attributes: Attributes) -> None:
    if attributes.operation != "CREATE" or attributes.obj is None:
        return
    spec = attributes.obj.get("spec") or {}
    if spec.get("signerName") not in _NODE_SIGNERS:
        return
    try:
        subject = requested_subject(spec.get("request", ""))
    except ValueError as error:
        raise refusal(attributes, f"unable to parse csr: {error}") from None
    if subject.common_name != _PREFIX + node:
        raise refusal(attributes, f"can only create a node CSR with CN={_PREFIX}{node}")


async def _check_pod_certificate_request(node: str, attributes: Attributes) -> None:
    raise refusal(attributes, "PodCertificateRequest feature gate is disabled")


def _node_name_of(user: UserInfo | None) -> str | None:
    """Return the name of the user's Node; None if the user is not a Node."""
    if user is None or not user.name.startswith(_PREFIX) or _GROUP not in user.groups:
        return None
    return user.name.removeprefix(_PREFIX)


def forbidden_changes(labels: Mapping[str, str], before: Mapping[str, str]) -> list[str]:
    """Return the labels of its Node that a kubelet has changed without permission, sorted."""
    changed = {name for name, value in labels.items() if before.get(name) != value} | (before.keys() - labels.keys())
    return sorted(name for name in changed if _is_forbidden(name))


def _is_forbidden(name: str) -> bool:
    domain, slash, _ = name.partition("/")
    if not slash:
        return False
    if _is_in(domain, _RESTRICTED):
        return True
    is_kubernetes = _is_in(domain, "kubernetes.io") or _is_in(domain, "k8s.io")
    return is_kubernetes and name not in _OWN and not any(_is_in(domain, own) for own in _OWN_DOMAINS)


def _is_in(domain: str, parent: str) -> bool:
    return domain == parent or domain.endswith(f".{parent}")
