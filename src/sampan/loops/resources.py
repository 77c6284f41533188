"""The built-in resources that control loops work on, as the client needs them."""

from typing import Final

from sampan.core.gvk import GroupVersionResource
from sampan.resource import ResourceInfo


def _resource(group: str, version: str, resource: str, kind: str, *, namespaced: bool = True) -> ResourceInfo:
    return ResourceInfo(GroupVersionResource(group, version, resource), kind, namespaced)


CONFIG_MAPS: Final = _resource("", "v1", "configmaps", "ConfigMap")
ENDPOINTS: Final = _resource("", "v1", "endpoints", "Endpoints")
EVENTS: Final = _resource("", "v1", "events", "Event")
LIMIT_RANGES: Final = _resource("", "v1", "limitranges", "LimitRange")
NAMESPACES: Final = _resource("", "v1", "namespaces", "Namespace", namespaced=False)
NODES: Final = _resource("", "v1", "nodes", "Node", namespaced=False)
PERSISTENT_VOLUME_CLAIMS: Final = _resource("", "v1", "persistentvolumeclaims", "PersistentVolumeClaim")
PERSISTENT_VOLUMES: Final = _resource("", "v1", "persistentvolumes", "PersistentVolume", namespaced=False)
PODS: Final = _resource("", "v1", "pods", "Pod")
REPLICATION_CONTROLLERS: Final = _resource("", "v1", "replicationcontrollers", "ReplicationController")
RESOURCE_QUOTAS: Final = _resource("", "v1", "resourcequotas", "ResourceQuota")
SECRETS: Final = _resource("", "v1", "secrets", "Secret")
SERVICE_ACCOUNTS: Final = _resource("", "v1", "serviceaccounts", "ServiceAccount")
SERVICES: Final = _resource("", "v1", "services", "Service")
CONTROLLER_REVISIONS: Final = _resource("apps", "v1", "controllerrevisions", "ControllerRevision")
DAEMON_SETS: Final = _resource("apps", "v1", "daemonsets", "DaemonSet")
DEPLOYMENTS: Final = _resource("apps", "v1", "deployments", "Deployment")
REPLICA_SETS: Final = _resource("apps", "v1", "replicasets", "ReplicaSet")
STATEFUL_SETS: Final = _resource("apps", "v1", "statefulsets", "StatefulSet")
HORIZONTAL_POD_AUTOSCALERS: Final = _resource(
    "autoscaling", "v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler"
)
SUBJECT_ACCESS_REVIEWS: Final = _resource(
    "authorization.k8s.io", "v1", "subjectaccessreviews", "SubjectAccessReview", namespaced=False
)
CRON_JOBS: Final = _resource("batch", "v1", "cronjobs", "CronJob")
JOBS: Final = _resource("batch", "v1", "jobs", "Job")
CERTIFICATE_SIGNING_REQUESTS: Final = _resource(
    "certificates.k8s.io", "v1", "certificatesigningrequests", "CertificateSigningRequest", namespaced=False
)
LEASES: Final = _resource("coordination.k8s.io", "v1", "leases", "Lease")
ENDPOINT_SLICES: Final = _resource("discovery.k8s.io", "v1", "endpointslices", "EndpointSlice")
INGRESSES: Final = _resource("networking.k8s.io", "v1", "ingresses", "Ingress")
INGRESS_CLASSES: Final = _resource("networking.k8s.io", "v1", "ingressclasses", "IngressClass", namespaced=False)
IP_ADDRESSES: Final = _resource("networking.k8s.io", "v1", "ipaddresses", "IPAddress", namespaced=False)
SERVICE_CIDRS: Final = _resource("networking.k8s.io", "v1", "servicecidrs", "ServiceCIDR", namespaced=False)
NETWORK_POLICIES: Final = _resource("networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy")
POD_DISRUPTION_BUDGETS: Final = _resource("policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget")
CLUSTER_ROLES: Final = _resource("rbac.authorization.k8s.io", "v1", "clusterroles", "ClusterRole", namespaced=False)
CSI_DRIVERS: Final = _resource("storage.k8s.io", "v1", "csidrivers", "CSIDriver", namespaced=False)
CSI_NODES: Final = _resource("storage.k8s.io", "v1", "csinodes", "CSINode", namespaced=False)
RUNTIME_CLASSES: Final = _resource("node.k8s.io", "v1", "runtimeclasses", "RuntimeClass", namespaced=False)
CSI_STORAGE_CAPACITIES: Final = _resource("storage.k8s.io", "v1", "csistoragecapacities", "CSIStorageCapacity")
STORAGE_CLASSES: Final = _resource("storage.k8s.io", "v1", "storageclasses", "StorageClass", namespaced=False)
VOLUME_ATTACHMENTS: Final = _resource("storage.k8s.io", "v1", "volumeattachments", "VolumeAttachment", namespaced=False)
VOLUME_ATTRIBUTES_CLASSES: Final = _resource(
    "storage.k8s.io", "v1", "volumeattributesclasses", "VolumeAttributesClass", namespaced=False
)
PRIORITY_CLASSES: Final = _resource("scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", namespaced=False)
