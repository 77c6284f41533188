"""Permissions of a kubelet on Pods: create and delete mirror Pods, write the status of Pods on its Node, evict them.

Source: kubernetes plugin/pkg/admission/noderestriction/admission.go, pkg/api/pod/util.go `HasAPIObjectReference`
(1.36).
"""

from typing import Final

from sampan.core.errors import not_found
from sampan.core.field import quote
from sampan.core.gvk import GroupResource
from sampan.core.object import Object
from sampan.registry.reader import CacheReader
from sampan.server.admission.chain import Attributes
from sampan.server.admission.pods import MIRROR_ANNOTATION, containers, is_mirror, references_secret
from sampan.server.admission.refusal import refusal

_PROJECTED: Final = {
    "serviceAccountToken": "serviceaccounts (via projected volumes)",
    "clusterTrustBundle": "clustertrustbundles",
    "podCertificate": "podcertificates",
}
_VOLUMES: Final = {
    "csi": "csidrivers (via CSI volumes)",
    "glusterfs": "endpoints (via glusterFS volumes)",
    "persistentVolumeClaim": "persistentvolumeclaims",
    "ephemeral": "persistentvolumeclaims (via ephemeral volumes)",
    "azureFile": "secrets (via azureFile volumes)",
}


def check_pod(reader: CacheReader, node: str, attributes: Attributes) -> None:
    """Check a write to a Pod. **Raises** 403 and 404."""
    match attributes.subresource:
        case "":
            _check_itself(reader, node, attributes)
        case "status":
            _check_status(node, attributes)
        case "eviction":
            if attributes.operation != "CREATE":
                raise refusal(attributes, f"unexpected operation {attributes.operation}")
            if _node_of(_present(reader, attributes)) != node:
                raise refusal(attributes, f"node {node} can only evict pods with spec.nodeName set to itself")
        case other:
            text = f"unexpected pod subresource {quote(other)}, only 'status' and 'eviction' are allowed"
            raise refusal(attributes, text)


def _check_itself(reader: CacheReader, node: str, attributes: Attributes) -> None:
    if attributes.operation == "CREATE":
        _check_creation(reader, node, attributes)
    elif attributes.operation == "DELETE":
        if _node_of(_present(reader, attributes)) != node:
            raise refusal(attributes, f"node {quote(node)} can only delete pods with spec.nodeName set to itself")
    else:
        text = f"unexpected operation {quote(attributes.operation)}"
        raise refusal(attributes, f"{text}, node {quote(node)} can only create and delete mirror pods")


def _check_creation(reader: CacheReader, node: str, attributes: Attributes) -> None:
    pod = attributes.obj
    assert pod is not None
    me = f"node {quote(node)}"
    if not is_mirror(pod):
        text = f"pod does not have {quote(MIRROR_ANNOTATION)} annotation, {me} can only create mirror pods"
        raise refusal(attributes, text)
    if _node_of(pod) != node:
        raise refusal(attributes, f"{me} can only create pods with spec.nodeName set to itself")
    owners = pod["metadata"].get("ownerReferences") or []
    if len(owners) > 1:
        raise refusal(attributes, f"{me} can only create pods with a single owner reference set to itself")
    owner = owners[0] if owners else {}
    if (owner.get("apiVersion"), owner.get("kind"), owner.get("name")) != ("v1", "Node", node):
        raise refusal(attributes, f"{me} can only create pods with an owner reference set to itself")
    if not owner.get("controller"):
        raise refusal(attributes, f"{me} can only create pods with a controller owner reference set to itself")
    if owner.get("blockOwnerDeletion"):
        raise refusal(attributes, f"{me} must not set blockOwnerDeletion on an owner reference")
    record = reader.record("", "nodes", "", node)
    if record is None:
        raise not_found(GroupResource("", "nodes"), node)
    if record.uid != owner.get("uid"):
        raise refusal(attributes, f"node {node} UID mismatch: expected {owner.get('uid', '')} got {record.uid}")
    referenced = referenced_objects(pod)
    if referenced:
        raise refusal(attributes, f"{me} can not create pods that reference {referenced}")


def _check_status(node: str, attributes: Attributes) -> None:
    pod, old = attributes.obj, attributes.old
    me = f"node {quote(node)}"
    if attributes.operation != "UPDATE" or pod is None or old is None:
        raise refusal(attributes, f"unexpected operation {quote(attributes.operation)}")
    if _node_of(old) != node:
        raise refusal(attributes, f"{me} can only update pod status for pods with spec.nodeName set to itself")
    if (pod["metadata"].get("labels") or {}) != (old["metadata"].get("labels") or {}):
        raise refusal(attributes, f"{me} cannot update labels through pod status")
    status, before = pod.get("status") or {}, old.get("status") or {}
    if (status.get("resourceClaimStatuses") or []) != (before.get("resourceClaimStatuses") or []):
        raise refusal(attributes, f"{me} cannot update resource claim statues")
    if status.get("extendedResourceClaimStatus") != before.get("extendedResourceClaimStatus"):
        raise refusal(attributes, f"{me} cannot update extended resource claim status")


def _present(reader: CacheReader, attributes: Attributes) -> Object:
    pod = reader.get("", "pods", attributes.namespace, attributes.name)
    if pod is None:
        raise not_found(GroupResource("", "pod"), attributes.name)
    return pod


def _node_of(pod: Object) -> str:
    return (pod.get("spec") or {}).get("nodeName") or ""


def referenced_objects(pod: Object) -> str:
    """Return the first kind of API object that the Pod refers to, or "" if it refers to none."""
    spec = pod.get("spec") or {}
    if spec.get("serviceAccountName"):
        return "serviceaccounts"
    if references_secret(pod):
        return "secrets"
    volumes = spec.get("volumes") or ()
    if any(map(_reads_config_map, containers(spec))) or any(map(_holds_config_map, volumes)):
        return "configmaps"
    if spec.get("resourceClaims"):
        return "resourceclaims"
    for volume in volumes:
        found = next((text for kind, text in _VOLUMES.items() if volume.get(kind) is not None), "")
        for source in (volume.get("projected") or {}).get("sources") or ():
            found = found or next((text for kind, text in _PROJECTED.items() if source.get(kind) is not None), "")
        if found:
            return found
    return ""


def _reads_config_map(container: Object) -> bool:
    return any((each.get("valueFrom") or {}).get("configMapKeyRef") for each in container.get("env") or ()) or any(
        each.get("configMapRef") for each in container.get("envFrom") or ()
    )


def _holds_config_map(volume: Object) -> bool:
    sources = (volume.get("projected") or {}).get("sources") or ()
    return any(each.get("configMap") is not None for each in (volume, *sources))
