"""Table of the kinds whose old versions have other fields. All other old versions differ only in their name."""

from collections.abc import Callable
from typing import Final

from sampan.core.object import Object
from sampan.registry.old_versions import core, devices, workloads
from sampan.registry.old_versions.disruption_budget import disruption_budget
from sampan.registry.old_versions.endpoint_slice import endpoint_slice
from sampan.registry.old_versions.flow_control import assured_shares, nominal_shares
from sampan.registry.old_versions.ingress import ingress
from sampan.registry.old_versions.role_binding import role_binding
from sampan.registry.old_versions.runtime_class import runtime_class
from sampan.registry.old_versions.signing_request import signing_request
from sampan.registry.old_versions.webhooks import webhook_configuration

Change = Callable[[Object], None]
"""Converts an object in place from an old version to the newest one, except its `apiVersion`."""

_MOVED: Final = {
    "Deployment": "apps",
    "DaemonSet": "apps",
    "ReplicaSet": "apps",
    "Ingress": "networking.k8s.io",
    "NetworkPolicy": "networking.k8s.io",
}
"""Today's group of kinds in extensions/v1beta1."""

CHANGES: Final[dict[tuple[str, str], Change]] = {
    ("v1", "PersistentVolumeClaim"): core.persistent_volume_claim,
    ("admissionregistration.k8s.io/v1beta1", "MutatingWebhookConfiguration"): webhook_configuration,
    ("admissionregistration.k8s.io/v1beta1", "ValidatingWebhookConfiguration"): webhook_configuration,
    ("apps/v1beta1", "Deployment"): workloads.deployment,
    ("apps/v1beta1", "StatefulSet"): workloads.stateful_set,
    ("certificates.k8s.io/v1beta1", "CertificateSigningRequest"): signing_request,
    ("discovery.k8s.io/v1beta1", "EndpointSlice"): endpoint_slice,
    ("extensions/v1beta1", "DaemonSet"): workloads.daemon_set,
    ("extensions/v1beta1", "Deployment"): workloads.deployment_of_extensions,
    ("extensions/v1beta1", "Ingress"): ingress,
    ("extensions/v1beta1", "ReplicaSet"): workloads.replica_set,
    ("flowcontrol.apiserver.k8s.io/v1beta1", "PriorityLevelConfiguration"): assured_shares,
    ("flowcontrol.apiserver.k8s.io/v1beta2", "PriorityLevelConfiguration"): assured_shares,
    ("flowcontrol.apiserver.k8s.io/v1beta3", "PriorityLevelConfiguration"): nominal_shares,
    ("networking.k8s.io/v1beta1", "Ingress"): ingress,
    ("node.k8s.io/v1alpha1", "RuntimeClass"): runtime_class,
    ("policy/v1beta1", "PodDisruptionBudget"): disruption_budget,
    ("rbac.authorization.k8s.io/v1alpha1", "ClusterRoleBinding"): role_binding,
    ("rbac.authorization.k8s.io/v1alpha1", "RoleBinding"): role_binding,
    ("resource.k8s.io/v1beta1", "ResourceClaim"): devices.resource_claim,
    ("resource.k8s.io/v1beta1", "ResourceClaimTemplate"): devices.resource_claim_template,
    ("resource.k8s.io/v1beta1", "ResourceSlice"): devices.resource_slice,
}


def group_now(api_version: str, kind: str) -> str:
    """Return the group that serves a kind today."""
    group = api_version.rpartition("/")[0]
    return _MOVED.get(kind, group) if group == "extensions" else group


def in_served_version(obj: Object) -> None:
    """Convert an object in place to the newest version of its kind.

    The caller sets `apiVersion`, except for extensions/v1beta1 and events.k8s.io/v1beta1.
    """
    api_version, kind = obj["apiVersion"], obj["kind"]
    change = CHANGES.get((api_version, kind))
    if change is not None:
        change(obj)
    if api_version in ("extensions/v1beta1", "events.k8s.io/v1beta1"):
        obj["apiVersion"] = f"{group_now(api_version, kind)}/v1"
