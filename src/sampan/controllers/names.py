"""Names of the built-in control loops, for programs that do not import the loops themselves.

Source: kube-controller-manager cmd/kube-controller-manager/names/controller_names.go (1.36).
"""

from typing import Final

NAMES: Final = (
    "bootstrap-signer-controller",
    "certificatesigningrequest-approving-controller",
    "certificatesigningrequest-cleaner-controller",
    "certificatesigningrequest-signing-controller",
    "clusterrole-aggregation-controller",
    "cronjob-controller",
    "daemonset-controller",
    "deployment-controller",
    "disruption-controller",
    "endpoints-controller",
    "endpointslice-controller",
    "endpointslice-mirroring-controller",
    "ephemeral-volume-controller",
    "garbage-collector-controller",
    "horizontal-pod-autoscaler-controller",
    "ingress-hint-controller",
    "job-controller",
    "kubelet-serving-approving-controller",
    "legacy-serviceaccount-token-cleaner-controller",
    "local-path-controller",
    "namespace-controller",
    "node-ipam-controller",
    "node-lifecycle-controller",
    "persistentvolume-attach-detach-controller",
    "persistentvolume-binder-controller",
    "persistentvolume-expander-controller",
    "persistentvolume-protection-controller",
    "persistentvolumeclaim-protection-controller",
    "pod-garbage-collector-controller",
    "pod-network-publisher-controller",
    "replicaset-controller",
    "replicationcontroller-controller",
    "resourcequota-controller",
    "root-ca-certificate-publisher-controller",
    "service-cidr-controller",
    "service-lb-controller",
    "serviceaccount-controller",
    "serviceaccount-token-controller",
    "statefulset-controller",
    "taint-eviction-controller",
    "token-cleaner-controller",
    "ttl-after-finished-controller",
    "ttl-controller",
    "volumeattributesclass-protection-controller",
)
"""Names in the order of the catalogue, which maps them to the loops."""
