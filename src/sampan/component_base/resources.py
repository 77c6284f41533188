"""The built-in resources that control loops work on, as the client needs them, with the types of their objects."""

from __future__ import annotations

from typing import Any, cast

from sampan.core.gvk import GroupVersionResource
from sampan.kinds import (
    apps_v1,
    authorization_v1,
    autoscaling_v2,
    batch_v1,
    certificates_v1,
    coordination_v1,
    core_v1,
    discovery_v1,
    networking_v1,
    node_v1,
    policy_v1,
    rbac_v1,
    scheduling_v1,
    storage_v1,
)
from sampan.resource import ResourceInfo, TypedResource


def _resource(group: str, version: str, resource: str, kind: str, *, namespaced: bool = True) -> TypedResource[Any]:
    info = ResourceInfo(GroupVersionResource(group, version, resource), kind, namespaced)
    # Clients return the objects of these resources as the server has validated them, so the types below are true.
    return cast("TypedResource[Any]", info)


CONFIG_MAPS: TypedResource[core_v1.ConfigMap] = _resource("", "v1", "configmaps", "ConfigMap")
ENDPOINTS: TypedResource[core_v1.Endpoints] = _resource("", "v1", "endpoints", "Endpoints")
EVENTS: TypedResource[core_v1.Event] = _resource("", "v1", "events", "Event")
LIMIT_RANGES: TypedResource[core_v1.LimitRange] = _resource("", "v1", "limitranges", "LimitRange")
NAMESPACES: TypedResource[core_v1.Namespace] = _resource("", "v1", "namespaces", "Namespace", namespaced=False)
NODES: TypedResource[core_v1.Node] = _resource("", "v1", "nodes", "Node", namespaced=False)
PERSISTENT_VOLUME_CLAIMS: TypedResource[core_v1.PersistentVolumeClaim] = _resource(
    "", "v1", "persistentvolumeclaims", "PersistentVolumeClaim"
)
PERSISTENT_VOLUMES: TypedResource[core_v1.PersistentVolume] = _resource(
    "", "v1", "persistentvolumes", "PersistentVolume", namespaced=False
)
PODS: TypedResource[core_v1.Pod] = _resource("", "v1", "pods", "Pod")
REPLICATION_CONTROLLERS: TypedResource[core_v1.ReplicationController] = _resource(
    "", "v1", "replicationcontrollers", "ReplicationController"
)
RESOURCE_QUOTAS: TypedResource[core_v1.ResourceQuota] = _resource("", "v1", "resourcequotas", "ResourceQuota")
SECRETS: TypedResource[core_v1.Secret] = _resource("", "v1", "secrets", "Secret")
SERVICE_ACCOUNTS: TypedResource[core_v1.ServiceAccount] = _resource("", "v1", "serviceaccounts", "ServiceAccount")
SERVICES: TypedResource[core_v1.Service] = _resource("", "v1", "services", "Service")
CONTROLLER_REVISIONS: TypedResource[apps_v1.ControllerRevision] = _resource(
    "apps", "v1", "controllerrevisions", "ControllerRevision"
)
DAEMON_SETS: TypedResource[apps_v1.DaemonSet] = _resource("apps", "v1", "daemonsets", "DaemonSet")
DEPLOYMENTS: TypedResource[apps_v1.Deployment] = _resource("apps", "v1", "deployments", "Deployment")
REPLICA_SETS: TypedResource[apps_v1.ReplicaSet] = _resource("apps", "v1", "replicasets", "ReplicaSet")
STATEFUL_SETS: TypedResource[apps_v1.StatefulSet] = _resource("apps", "v1", "statefulsets", "StatefulSet")
HORIZONTAL_POD_AUTOSCALERS: TypedResource[autoscaling_v2.HorizontalPodAutoscaler] = _resource(
    "autoscaling", "v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler"
)
SUBJECT_ACCESS_REVIEWS: TypedResource[authorization_v1.SubjectAccessReview] = _resource(
    "authorization.k8s.io", "v1", "subjectaccessreviews", "SubjectAccessReview", namespaced=False
)
CRON_JOBS: TypedResource[batch_v1.CronJob] = _resource("batch", "v1", "cronjobs", "CronJob")
JOBS: TypedResource[batch_v1.Job] = _resource("batch", "v1", "jobs", "Job")
CERTIFICATE_SIGNING_REQUESTS: TypedResource[certificates_v1.CertificateSigningRequest] = _resource(
    "certificates.k8s.io", "v1", "certificatesigningrequests", "CertificateSigningRequest", namespaced=False
)
LEASES: TypedResource[coordination_v1.Lease] = _resource("coordination.k8s.io", "v1", "leases", "Lease")
ENDPOINT_SLICES: TypedResource[discovery_v1.EndpointSlice] = _resource(
    "discovery.k8s.io", "v1", "endpointslices", "EndpointSlice"
)
INGRESSES: TypedResource[networking_v1.Ingress] = _resource("networking.k8s.io", "v1", "ingresses", "Ingress")
INGRESS_CLASSES: TypedResource[networking_v1.IngressClass] = _resource(
    "networking.k8s.io", "v1", "ingressclasses", "IngressClass", namespaced=False
)
IP_ADDRESSES: TypedResource[networking_v1.IPAddress] = _resource(
    "networking.k8s.io", "v1", "ipaddresses", "IPAddress", namespaced=False
)
SERVICE_CIDRS: TypedResource[networking_v1.ServiceCIDR] = _resource(
    "networking.k8s.io", "v1", "servicecidrs", "ServiceCIDR", namespaced=False
)
NETWORK_POLICIES: TypedResource[networking_v1.NetworkPolicy] = _resource(
    "networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy"
)
POD_DISRUPTION_BUDGETS: TypedResource[policy_v1.PodDisruptionBudget] = _resource(
    "policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget"
)
CLUSTER_ROLES: TypedResource[rbac_v1.ClusterRole] = _resource(
    "rbac.authorization.k8s.io", "v1", "clusterroles", "ClusterRole", namespaced=False
)
CSI_DRIVERS: TypedResource[storage_v1.CSIDriver] = _resource(
    "storage.k8s.io", "v1", "csidrivers", "CSIDriver", namespaced=False
)
CSI_NODES: TypedResource[storage_v1.CSINode] = _resource(
    "storage.k8s.io", "v1", "csinodes", "CSINode", namespaced=False
)
RUNTIME_CLASSES: TypedResource[node_v1.RuntimeClass] = _resource(
    "node.k8s.io", "v1", "runtimeclasses", "RuntimeClass", namespaced=False
)
CSI_STORAGE_CAPACITIES: TypedResource[storage_v1.CSIStorageCapacity] = _resource(
    "storage.k8s.io", "v1", "csistoragecapacities", "CSIStorageCapacity"
)
STORAGE_CLASSES: TypedResource[storage_v1.StorageClass] = _resource(
    "storage.k8s.io", "v1", "storageclasses", "StorageClass", namespaced=False
)
VOLUME_ATTACHMENTS: TypedResource[storage_v1.VolumeAttachment] = _resource(
    "storage.k8s.io", "v1", "volumeattachments", "VolumeAttachment", namespaced=False
)
VOLUME_ATTRIBUTES_CLASSES: TypedResource[storage_v1.VolumeAttributesClass] = _resource(
    "storage.k8s.io", "v1", "volumeattributesclasses", "VolumeAttributesClass", namespaced=False
)
PRIORITY_CLASSES: TypedResource[scheduling_v1.PriorityClass] = _resource(
    "scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", namespaced=False
)
