"""The built-in control loops by their names for `--controllers`.

Source of the names: kube-controller-manager cmd/kube-controller-manager/names/controller_names.go (1.36).
"""

from collections.abc import Callable, Mapping
from typing import Final

from sampan.component_base.context import ControllerContext
from sampan.controllers import (
    attach_detach,
    certificate_signing,
    cluster_role_aggregation,
    cron_job,
    daemon_set,
    deployment,
    disruption,
    endpoint_slice_mirroring,
    endpoint_slices,
    endpoints,
    garbage_collector,
    horizontal_pod_autoscaler,
    ingress_hints,
    job,
    local_path,
    node_ipam,
    node_lifecycle,
    persistent_volumes,
    pod_garbage_collector,
    pod_network_publisher,
    replica_set,
    resource_quota,
    root_ca_publisher,
    service_account,
    service_cidrs,
    service_load_balancer,
    stateful_set,
    taint_eviction,
    ttl,
    ttl_after_finished,
)
from sampan.controllers.namespace import controller as namespace
from sampan.controllers.tokens import bootstrap_tokens, legacy_token_cleaner, service_account_tokens
from sampan.controllers.volumes import (
    attributes_class_protection,
    ephemeral_volumes,
    volume_expander,
    volume_protection,
)

SetUp = Callable[[ControllerContext], None]

CONTROLLERS: Final[Mapping[str, SetUp]] = {
    "bootstrap-signer-controller": bootstrap_tokens.set_up_signer,
    "certificatesigningrequest-approving-controller": certificate_signing.set_up_approving,
    "certificatesigningrequest-cleaner-controller": certificate_signing.set_up_cleaner,
    "certificatesigningrequest-signing-controller": certificate_signing.set_up_signing,
    "clusterrole-aggregation-controller": cluster_role_aggregation.set_up,
    "cronjob-controller": cron_job.set_up,
    "daemonset-controller": daemon_set.set_up,
    "deployment-controller": deployment.set_up,
    "disruption-controller": disruption.set_up,
    "endpoints-controller": endpoints.set_up,
    "endpointslice-controller": endpoint_slices.set_up,
    "endpointslice-mirroring-controller": endpoint_slice_mirroring.set_up,
    "ephemeral-volume-controller": ephemeral_volumes.set_up,
    "garbage-collector-controller": garbage_collector.set_up,
    "horizontal-pod-autoscaler-controller": horizontal_pod_autoscaler.set_up,
    "ingress-hint-controller": ingress_hints.set_up,
    "job-controller": job.set_up,
    "kubelet-serving-approving-controller": certificate_signing.set_up_serving,
    "legacy-serviceaccount-token-cleaner-controller": legacy_token_cleaner.set_up,
    "local-path-controller": local_path.set_up,
    "namespace-controller": namespace.set_up,
    "node-ipam-controller": node_ipam.set_up,
    "node-lifecycle-controller": node_lifecycle.set_up,
    "persistentvolume-attach-detach-controller": attach_detach.set_up,
    "persistentvolume-binder-controller": persistent_volumes.set_up,
    "persistentvolume-expander-controller": volume_expander.set_up,
    "persistentvolume-protection-controller": volume_protection.set_up_volumes,
    "persistentvolumeclaim-protection-controller": volume_protection.set_up_claims,
    "pod-garbage-collector-controller": pod_garbage_collector.set_up,
    "pod-network-publisher-controller": pod_network_publisher.set_up,
    "replicaset-controller": replica_set.set_up,
    "replicationcontroller-controller": replica_set.set_up_replication,
    "resourcequota-controller": resource_quota.set_up,
    "root-ca-certificate-publisher-controller": root_ca_publisher.set_up,
    "service-cidr-controller": service_cidrs.set_up,
    "service-lb-controller": service_load_balancer.set_up,
    "serviceaccount-controller": service_account.set_up,
    "serviceaccount-token-controller": service_account_tokens.set_up,
    "statefulset-controller": stateful_set.set_up,
    "taint-eviction-controller": taint_eviction.set_up,
    "token-cleaner-controller": bootstrap_tokens.set_up_cleaner,
    "ttl-after-finished-controller": ttl_after_finished.set_up,
    "ttl-controller": ttl.set_up,
    "volumeattributesclass-protection-controller": attributes_class_protection.set_up,
}
