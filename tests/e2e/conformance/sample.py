"""Conformance tests that CI runs: at most three minutes together, and one for each area of a node.

All of them have passed in a stored run of the whole suite; `test_sample.py` compares the names.
"""

from collections.abc import Mapping
from typing import Final

SAMPLE: Final[Mapping[str, str]] = {
    "liveness probes": "[sig-node] Probing container should be restarted with a /healthz http liveness probe"
    " [NodeConformance] [Conformance]",
    "readiness probes": "[sig-node] Probing container with readiness probe should not be ready before initial delay and"
    " never restart [NodeConformance] [Conformance]",
    "packets between Pods of all nodes": "[sig-network] Networking Granular Checks: Pods should function for intra-pod"
    " communication: http [NodeConformance] [Conformance]",
    "StatefulSets, host ports": "[sig-apps] StatefulSet Basic StatefulSet functionality [StatefulSetBasic] Should"
    " recreate evicted statefulset [Conformance]",
    "lifecycle hooks": "[sig-node] PreStop should call prestop when killing a pod [Conformance]",
    "Deployments": "[sig-apps] Deployment RollingUpdateDeployment should delete old pods and create new ones"
    " [Conformance]",
    "node ports, session affinity": "[sig-network] Services should have session affinity work for NodePort service"
    " [LinuxOnly] [Conformance]",
    "resizing in place": "[sig-node] Pod InPlace Resize Container resize pod via the replace endpoint"
    " [MinimumKubeletVersion:1.34] [Conformance]",
    "ephemeral containers": "[sig-node] Ephemeral Containers [NodeConformance] will start an ephemeral container in an"
    " existing pod [Conformance]",
    "updates of volumes": "[sig-storage] ConfigMap updates should be reflected in volume [NodeConformance]"
    " [Conformance]",
    "names of Services": "[sig-network] DNS should provide DNS for services [Conformance]",
    "init containers": "[sig-node] InitContainer [NodeConformance] should invoke init containers on a RestartAlways pod"
    " [Conformance]",
    "exec": "[sig-node] Pods should support remote command execution over websockets [NodeConformance] [Conformance]",
    "logs": "[sig-node] Pods should support retrieving logs from the container over websockets [NodeConformance]"
    " [Conformance]",
    "sysctls": "[sig-node] Sysctls [LinuxOnly] [NodeConformance] should support sysctls [Environment:NotInUserNS]"
    " [Conformance]",
    "users and groups": "[sig-node] Security Context should support pod.Spec.SecurityContext.RunAsUser And"
    " pod.Spec.SecurityContext.RunAsGroup [LinuxOnly] [Conformance]",
    "privileges": "[sig-node] Security Context when creating containers with AllowPrivilegeEscalation should not allow"
    " privilege escalation when false [LinuxOnly] [NodeConformance] [Conformance]",
    "volumes in memory": "[sig-storage] EmptyDir volumes should support (non-root,0777,tmpfs) [LinuxOnly]"
    " [NodeConformance] [Conformance]",
    "groups of files": "[sig-storage] Projected secret should be consumable from pods in volume as non-root with"
    " defaultMode and fsGroup set [LinuxOnly] [NodeConformance] [Conformance]",
    "projected tokens": "[sig-auth] ServiceAccounts should mount projected service account token [Conformance]",
}
"""Test of each area, slow ones first. Names are those of `e2e.test -list-conformance-tests`."""
