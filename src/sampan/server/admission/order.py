"""The admission plug-ins of a server, in the order of their calls.

Source: kubernetes pkg/kubeapiserver/options/plugins.go `AllOrderedPlugins` (1.36).
"""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Final

from sampan.core.clock import monotonic
from sampan.core.field import quote
from sampan.core.object import Object
from sampan.registry.cluster import Cluster
from sampan.registry.reader import CacheReader
from sampan.server.admission.chain import AdmissionPlugin
from sampan.server.admission.configuration import READERS
from sampan.server.admission.dynamic_admission import (
    MUTATING,
    VALIDATING,
    DynamicAdmission,
    mutating_policies,
    mutating_webhooks,
    validating_policies,
    validating_webhooks,
)
from sampan.server.admission.matching.subject import Surroundings
from sampan.server.admission.metrics.metrics import AdmissionMetrics
from sampan.server.admission.plugins.always import AlwaysAdmit, AlwaysDeny
from sampan.server.admission.plugins.always_pull_images import AlwaysPullImages
from sampan.server.admission.plugins.certificates import (
    CertificateApproval,
    CertificateSigning,
    CertificateSubjectRestriction,
    ClusterTrustBundleAttest,
)
from sampan.server.admission.plugins.default_class import DefaultIngressClass, DefaultStorageClass
from sampan.server.admission.plugins.default_toleration_seconds import DefaultTolerationSeconds
from sampan.server.admission.plugins.deny_service_external_ips import DenyServiceExternalIPs
from sampan.server.admission.plugins.event_rate_limit import EventRateLimit
from sampan.server.admission.plugins.extended_resource_toleration import ExtendedResourceToleration
from sampan.server.admission.plugins.image_policy_webhook import ImagePolicyWebhook
from sampan.server.admission.plugins.limit_pod_hard_anti_affinity_topology import LimitPodHardAntiAffinityTopology
from sampan.server.admission.plugins.limit_ranger import LimitRanger
from sampan.server.admission.plugins.namespace_lifecycle import NamespaceLifecycle
from sampan.server.admission.plugins.namespaces import NamespaceAutoProvision, NamespaceExists
from sampan.server.admission.plugins.node_restriction import NodeRestriction
from sampan.server.admission.plugins.owner_references_permission_enforcement import OwnerReferencesPermissionEnforcement
from sampan.server.admission.plugins.persistent_volume_claim_resize import PersistentVolumeClaimResize
from sampan.server.admission.plugins.pod_node_selector import PodNodeSelector
from sampan.server.admission.plugins.pod_resize_validator import PodResizeValidator
from sampan.server.admission.plugins.pod_security import PodSecurity
from sampan.server.admission.plugins.pod_toleration_restriction import PodTolerationRestriction
from sampan.server.admission.plugins.pod_topology_labels import PodTopologyLabels
from sampan.server.admission.plugins.priority import Priority
from sampan.server.admission.plugins.resource_quota import ResourceQuota
from sampan.server.admission.plugins.runtime_class import RuntimeClass
from sampan.server.admission.plugins.service_account import ServiceAccount
from sampan.server.admission.plugins.storage_object_in_use_protection import StorageObjectInUseProtection
from sampan.server.admission.plugins.taint_nodes_by_condition import TaintNodesByCondition
from sampan.server.admission.settings import AdmissionSettings, BadConfiguration
from sampan.server.authorization.authorizer import Authorizer


@dataclass(frozen=True, slots=True)
class PluginDependencies:
    """Dependencies of the plug-ins."""

    cluster: Cluster
    authorizer: Authorizer
    settings: AdmissionSettings
    dynamic: DynamicAdmission

    @property
    def reader(self) -> CacheReader:
        """Reader of the cluster's caches."""
        return self.cluster.reader

    def configuration(self, name: str) -> Object:
        """Return the configuration of a plug-in; empty if it has none. **Raises** `ValueError`."""
        given = self.settings.configurations.get(name)
        return {} if given is None else READERS[name].read(given)


Make = Callable[[PluginDependencies], AdmissionPlugin]

ORDER: Final[tuple[tuple[str, Make | None], ...]] = (
    ("AlwaysAdmit", lambda parts: AlwaysAdmit()),
    ("NamespaceAutoProvision", lambda parts: NamespaceAutoProvision(parts.cluster)),
    ("NamespaceLifecycle", lambda parts: NamespaceLifecycle(parts.reader)),
    ("NamespaceExists", lambda parts: NamespaceExists(parts.reader)),
    ("LimitPodHardAntiAffinityTopology", lambda parts: LimitPodHardAntiAffinityTopology()),
    ("LimitRanger", lambda parts: LimitRanger(parts.reader)),
    ("ServiceAccount", lambda parts: ServiceAccount(parts.reader, random=Random())),
    ("NodeRestriction", lambda parts: NodeRestriction(parts.reader, parts.authorizer)),
    ("TaintNodesByCondition", lambda parts: TaintNodesByCondition()),
    ("AlwaysPullImages", lambda parts: AlwaysPullImages()),
    (
        "ImagePolicyWebhook",
        lambda parts: ImagePolicyWebhook(parts.configuration("ImagePolicyWebhook"), parts.cluster.webhooks.connect),
    ),
    (
        "PodSecurity",
        lambda parts: PodSecurity(parts.reader, parts.configuration("PodSecurity"), parts.dynamic.metrics.pod_security),
    ),
    ("PodNodeSelector", lambda parts: PodNodeSelector(parts.reader, parts.configuration("PodNodeSelector"))),
    ("Priority", lambda parts: Priority(parts.reader)),
    ("DefaultTolerationSeconds", lambda parts: DefaultTolerationSeconds()),
    (
        "PodTolerationRestriction",
        lambda parts: PodTolerationRestriction(parts.reader, parts.configuration("PodTolerationRestriction")),
    ),
    ("EventRateLimit", lambda parts: EventRateLimit(parts.configuration("EventRateLimit"), monotonic)),
    ("ExtendedResourceToleration", lambda parts: ExtendedResourceToleration()),
    ("DefaultStorageClass", lambda parts: DefaultStorageClass(parts.reader)),
    ("StorageObjectInUseProtection", lambda parts: StorageObjectInUseProtection()),
    ("PodGroupProtection", None),
    (
        "OwnerReferencesPermissionEnforcement",
        lambda parts: OwnerReferencesPermissionEnforcement(parts.cluster.registry, parts.authorizer),
    ),
    ("PersistentVolumeClaimResize", lambda parts: PersistentVolumeClaimResize(parts.reader)),
    ("RuntimeClass", lambda parts: RuntimeClass(parts.reader)),
    ("CertificateApproval", lambda parts: CertificateApproval(parts.authorizer)),
    ("CertificateSigning", lambda parts: CertificateSigning(parts.authorizer)),
    ("ClusterTrustBundleAttest", lambda parts: ClusterTrustBundleAttest(parts.authorizer)),
    ("CertificateSubjectRestriction", lambda parts: CertificateSubjectRestriction()),
    ("DefaultIngressClass", lambda parts: DefaultIngressClass(parts.reader)),
    ("DenyServiceExternalIPs", lambda parts: DenyServiceExternalIPs()),
    ("PodTopologyLabels", lambda parts: PodTopologyLabels(parts.reader)),
    ("PodGroupWorkloadExists", None),
    ("NodeDeclaredFeatureValidator", None),
    ("JobValidation", None),
    ("PodResizeValidator", lambda parts: PodResizeValidator(parts.reader)),
    ("MutatingAdmissionPolicy", lambda parts: mutating_policies(parts.dynamic)),
    ("MutatingAdmissionWebhook", lambda parts: mutating_webhooks(parts.dynamic, parts.configuration(MUTATING))),
    ("ValidatingAdmissionPolicy", lambda parts: validating_policies(parts.dynamic)),
    ("ValidatingAdmissionWebhook", lambda parts: validating_webhooks(parts.dynamic, parts.configuration(VALIDATING))),
    ("ResourceQuota", lambda parts: ResourceQuota(parts.cluster, parts.configuration("ResourceQuota"))),
    ("AlwaysDeny", lambda parts: AlwaysDeny()),
)
"""Plug-ins in order. None: the name is known, but the feature is off in Kubernetes and the plug-in does nothing."""

NAMES: Final = frozenset(name for name, _ in ORDER)


def default_plugins(
    cluster: Cluster, authorizer: Authorizer, settings: AdmissionSettings, metrics: AdmissionMetrics
) -> list[AdmissionPlugin]:
    """Return the enabled plug-ins. **Raises** `BadConfiguration`."""
    parts = PluginDependencies(
        cluster, authorizer, settings, DynamicAdmission(Surroundings(cluster), authorizer, metrics)
    )
    return [_made(name, make, parts) for name, make in ORDER if make is not None and settings.is_on(name)]


def _made(name: str, make: Make, parts: PluginDependencies) -> AdmissionPlugin:
    try:
        return make(parts)
    except (ValueError, TypeError, AttributeError) as error:
        raise BadConfiguration(f"couldn't init admission plugin {quote(name)}: {error}") from error
