"""Conformance tests that CI runs: together at most three minutes, and one or more for each area of a node.

All of them have passed in a stored run of the whole suite; `test_sample.py` compares the names.
"""

from typing import Final

_NETWORK: Final = (
    "[sig-network] Networking Granular Checks: Pods should function for intra-pod communication: http"
    " [NodeConformance] [Conformance]",
    "[sig-network] Services should have session affinity work for NodePort service [LinuxOnly] [Conformance]",
    "[sig-network] Services should have session affinity work for service with type clusterIP"
    " [LinuxOnly] [Conformance]",
    "[sig-network] DNS should provide DNS for services [Conformance]",
    "[sig-network] DNS should provide DNS for pods for Subdomain [Conformance]",
)
_CONTAINERS: Final = (
    "[sig-node] Probing container should be restarted with a /healthz http liveness probe"
    " [NodeConformance] [Conformance]",
    "[sig-node] Probing container with readiness probe should not be ready before initial delay and never restart"
    " [NodeConformance] [Conformance]",
    "[sig-node] InitContainer [NodeConformance] should invoke init containers on a RestartAlways pod [Conformance]",
    "[sig-node] Pods should support remote command execution over websockets [NodeConformance] [Conformance]",
    "[sig-node] Pods should support retrieving logs from the container over websockets [NodeConformance] [Conformance]",
    "[sig-node] Pod InPlace Resize Container resize pod via the replace endpoint"
    " [MinimumKubeletVersion:1.34] [Conformance]",
    "[sig-node] Sysctls [LinuxOnly] [NodeConformance] should support sysctls [Environment:NotInUserNS] [Conformance]",
    "[sig-node] Security Context should support pod.Spec.SecurityContext.RunAsUser And"
    " pod.Spec.SecurityContext.RunAsGroup [LinuxOnly] [Conformance]",
    "[sig-node] Security Context when creating containers with AllowPrivilegeEscalation should not allow privilege"
    " escalation when false [LinuxOnly] [NodeConformance] [Conformance]",
)
_VOLUMES: Final = (
    "[sig-storage] EmptyDir volumes should support (non-root,0777,tmpfs) [LinuxOnly] [NodeConformance] [Conformance]",
    "[sig-storage] Projected secret should be consumable from pods in volume as non-root with defaultMode and fsGroup"
    " set [LinuxOnly] [NodeConformance] [Conformance]",
    "[sig-storage] ConfigMap updates should be reflected in volume [NodeConformance] [Conformance]",
    "[sig-auth] ServiceAccounts should mount projected service account token [Conformance]",
)
_WORKLOADS: Final = (
    "[sig-apps] StatefulSet Basic StatefulSet functionality [StatefulSetBasic] Should recreate evicted statefulset"
    " [Conformance]",
    "[sig-apps] Deployment RollingUpdateDeployment should delete old pods and create new ones [Conformance]",
)
TESTS: Final = (*_NETWORK, *_CONTAINERS, *_VOLUMES, *_WORKLOADS)
"""Names as `e2e.test -list-conformance-tests` prints them."""
