"""Validation of new pods, with the error texts of Kubernetes."""

from typing import Any

import pytest

from tests.registry.kinds.core.objects import container, faults, pod

LABEL = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    "an alphanumeric character (e.g. 'my-name',  or '123-abc', "
    "regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
PORTS = "must be between 1 and 65535, inclusive"


def of(**fields: Any) -> dict[str, Any]:
    """Return a pod whose only container has these fields."""
    return pod(containers=[container(**fields)])


TABLE: list[tuple[str, dict[str, Any], list[str]]] = [
    ("sound", pod(), []),
    ("no containers", pod(containers=[]), ["spec.containers: Required value"]),
    ("container without name", of(name=""), ["spec.containers[0].name: Required value"]),
    ("container name", of(name="A"), [f'spec.containers[0].name: Invalid value: "A": {LABEL}']),
    ("no image", of(image=""), ["spec.containers[0].image: Required value"]),
    (
        "image with spaces",
        of(image=" nginx"),
        ['spec.containers[0].image: Invalid value: " nginx": must not have leading or trailing whitespace'],
    ),
    (
        "two of a name",
        pod(containers=[container(), container()]),
        ['spec.containers[1].name: Duplicate value: "app"'],
    ),
    (
        "restart policy",
        pod(restartPolicy="Sometimes"),
        ['spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"'],
    ),
    (
        "dns policy",
        pod(dnsPolicy="Magic"),
        [
            'spec.dnsPolicy: Unsupported value: "Magic": supported values: '
            '"ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"'
        ],
    ),
    (
        "dns policy None without servers",
        pod(dnsPolicy="None", dnsConfig={}),
        [
            "spec.dnsConfig.nameservers: Required value: "
            "must provide at least one DNS nameserver when `dnsPolicy` is None"
        ],
    ),
    ("port", of(ports=[{"containerPort": 0}]), ["spec.containers[0].ports[0].containerPort: Required value"]),
    (
        "port too high",
        of(ports=[{"containerPort": 70000}]),
        [f"spec.containers[0].ports[0].containerPort: Invalid value: 70000: {PORTS}"],
    ),
    (
        "port protocol",
        of(ports=[{"containerPort": 80, "protocol": "ICMP"}]),
        ['spec.containers[0].ports[0].protocol: Unsupported value: "ICMP": supported values: "SCTP", "TCP", "UDP"'],
    ),
    (
        "port name twice",
        of(ports=[{"name": "http", "containerPort": 80}, {"name": "http", "containerPort": 81}]),
        ['spec.containers[0].ports[1].name: Duplicate value: "http"'],
    ),
    (
        "host port twice",
        of(ports=[{"containerPort": 80, "hostPort": 80}, {"containerPort": 81, "hostPort": 80}]),
        ['spec.containers[0].ports[1].hostPort: Duplicate value: "TCP//80"'],
    ),
    ("env without name", of(env=[{"value": "x"}]), ["spec.containers[0].env[0].name: Required value"]),
    (
        "env with equals",
        of(env=[{"name": "a=b"}]),
        [
            'spec.containers[0].env[0].name: Invalid value: "a=b": a valid environment variable name must consist only '
            "of printable ASCII characters other than '='"
        ],
    ),
    (
        "env without source",
        of(env=[{"name": "A", "valueFrom": {}}]),
        [
            'spec.containers[0].env[0].valueFrom: Invalid value: "": must specify one of: `fieldRef`, '
            "`resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"
        ],
    ),
    (
        "env with value and source",
        of(env=[{"name": "A", "value": "x", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]),
        ['spec.containers[0].env[0].valueFrom: Invalid value: "": may not be specified when `value` is not empty'],
    ),
    (
        "env field that is no field",
        of(env=[{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "spec.x"}}}]),
        [
            'spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: Invalid value: "spec.x": '
            "error converting fieldPath: field label not supported: spec.x"
        ],
    ),
    (
        "env field for volumes only",
        of(env=[{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels"}}}]),
        [
            'spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: Unsupported value: "metadata.labels": supported '
            'values: "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", '
            '"spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"'
        ],
    ),
    (
        "unknown mount",
        of(volumeMounts=[{"name": "data", "mountPath": "/data"}]),
        ['spec.containers[0].volumeMounts[0].name: Not found: "data"'],
    ),
    (
        "requests beyond limits",
        of(resources={"requests": {"cpu": "2"}, "limits": {"cpu": "1500m"}}),
        ['spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1500m'],
    ),
    (
        "negative amount",
        of(resources={"limits": {"cpu": "-1"}}),
        [
            'spec.containers[0].resources.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0',
            'spec.containers[0].resources.requests[cpu]: Invalid value: "-1": must be greater than or equal to 0',
        ],
    ),
    (
        "unknown resource",
        of(resources={"requests": {"storage": "1"}}),
        [
            'spec.containers[0].resources.requests[storage]: Invalid value: "storage": '
            "must be a standard resource for containers"
        ],
    ),
    (
        "extended resource without limit",
        of(resources={"requests": {"example.com/gpu": "1"}}),
        ["spec.containers[0].resources.limits: Required value: Limit must be set for non overcommitable resources"],
    ),
    (
        "half a gpu",
        of(resources={"limits": {"example.com/gpu": "500m"}}),
        [
            'spec.containers[0].resources.limits[example.com/gpu]: Invalid value: "500m": must be an integer',
            'spec.containers[0].resources.requests[example.com/gpu]: Invalid value: "500m": must be an integer',
        ],
    ),
    (
        "huge pages alone",
        of(resources={"limits": {"hugepages-2Mi": "2Mi"}}),
        ["spec.containers[0].resources: Forbidden: HugePages require cpu or memory"],
    ),
    (
        "unknown claim",
        of(resources={"claims": [{"name": "gpu"}]}),
        [
            'spec.containers[0].resources.claims[0]: Not found: "gpu": '
            "must be one of the names in pod.spec.resourceClaims which is empty"
        ],
    ),
    (
        "probe without handler",
        of(livenessProbe={}),
        ["spec.containers[0].livenessProbe: Required value: must specify a handler type"],
    ),
    (
        "probe with two handlers",
        of(readinessProbe={"exec": {"command": ["a"]}, "tcpSocket": {"port": 80}}),
        ["spec.containers[0].readinessProbe.tcpSocket: Forbidden: may not specify more than 1 handler type"],
    ),
    (
        "liveness success threshold",
        of(livenessProbe={"tcpSocket": {"port": 80}, "successThreshold": 2}),
        ["spec.containers[0].livenessProbe.successThreshold: Invalid value: 2: must be 1"],
    ),
    (
        "probe scheme",
        of(startupProbe={"httpGet": {"port": 80, "scheme": "FTP"}}),
        ['spec.containers[0].startupProbe.httpGet.scheme: Unsupported value: "FTP": supported values: "HTTP", "HTTPS"'],
    ),
    (
        "init container with probe",
        pod(initContainers=[container(name="init", livenessProbe={"tcpSocket": {"port": 80}})]),
        [
            "spec.initContainers[0].livenessProbe: Forbidden: "
            "may not be set for init containers without restartPolicy=Always"
        ],
    ),
    (
        "ephemeral containers",
        pod(ephemeralContainers=[container(name="debug")]),
        ["spec.ephemeralContainers: Forbidden: cannot be set on create"],
    ),
    (
        "volume without name",
        pod(volumes=[{"name": "", "emptyDir": {}}]),
        ["spec.volumes[0].name: Required value"],
    ),
    (
        "two volume types",
        pod(volumes=[{"name": "a", "emptyDir": {}, "hostPath": {"path": "/x"}}]),
        ["spec.volumes[0].hostPath: Forbidden: may not specify more than 1 volume type"],
    ),
    (
        "host path with backsteps",
        pod(volumes=[{"name": "a", "hostPath": {"path": "/x/../y"}}]),
        ["spec.volumes[0].hostPath.path: Invalid value: \"/x/../y\": must not contain '..'"],
    ),
    (
        "config map volume",
        pod(volumes=[{"name": "a", "configMap": {"defaultMode": 0o1000}}]),
        [
            "spec.volumes[0].configMap.name: Required value",
            "spec.volumes[0].configMap.defaultMode: Invalid value: 512: "
            "must be a number between 0 and 0777 (octal), both inclusive",
        ],
    ),
    (
        "token without account",
        pod(
            serviceAccountName="",
            volumes=[{"name": "a", "projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}}],
        ),
        [
            "spec.volumes[0].projected.sources[0].serviceAccountToken: Forbidden: "
            "must not be specified when serviceAccountName is not set"
        ],
    ),
    (
        "host network port",
        pod(hostNetwork=True, containers=[container(ports=[{"containerPort": 80, "hostPort": 81}])]),
        [
            "spec.containers[0].ports[0].hostPort: Invalid value: 81: "
            "must match `containerPort` when `hostNetwork` is true"
        ],
    ),
    (
        "toleration seconds",
        pod(tolerations=[{"key": "a", "operator": "Exists", "tolerationSeconds": 3, "effect": "NoSchedule"}]),
        [
            'spec.tolerations[0].effect: Invalid value: "NoSchedule": '
            "effect must be 'NoExecute' when `tolerationSeconds` is set"
        ],
    ),
    (
        "toleration operator",
        pod(tolerations=[{"key": "a", "operator": "Like"}]),
        ['spec.tolerations[0].operator: Unsupported value: "Like": supported values: "Equal", "Exists"'],
    ),
    (
        "no node selector terms",
        pod(affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []}}}),
        [
            "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms: "
            "Required value: must have at least one node selector term"
        ],
    ),
    (
        "topology spread",
        pod(topologySpreadConstraints=[{"maxSkew": 0, "topologyKey": "zone", "whenUnsatisfiable": "Maybe"}]),
        [
            "spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero",
            'spec.topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: "Maybe": '
            'supported values: "DoNotSchedule", "ScheduleAnyway"',
        ],
    ),
    (
        "user id",
        pod(securityContext={"runAsUser": -1}),
        ["spec.securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive"],
    ),
    (
        "seccomp profile",
        of(securityContext={"seccompProfile": {"type": "Localhost"}}),
        [
            "spec.containers[0].securityContext.seccompProfile.localhostProfile: Required value: "
            "must be set when seccomp type is Localhost"
        ],
    ),
    (
        "privileged without escalation",
        of(securityContext={"privileged": True, "allowPrivilegeEscalation": False}),
        [
            "spec.containers[0].securityContext: Invalid value: "
            '{"allowPrivilegeEscalation":false,"privileged":true}: '
            "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"
        ],
    ),
    (
        "windows pod with linux fields",
        pod(os={"name": "windows"}, hostPID=True),
        ["spec.hostPID: Forbidden: cannot be set for a windows pod"],
    ),
    (
        "deadline",
        pod(activeDeadlineSeconds=0),
        ["spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive"],
    ),
    (
        "gate on an assigned pod",
        pod(nodeName="n1", schedulingGates=[{"name": "wait"}]),
        ["spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared"],
    ),
    (
        "host alias with leading zeros",
        pod(hostAliases=[{"ip": "10.0.0.01", "hostnames": ["a"]}]),
        ['spec.hostAliases[0].ip: Invalid value: "10.0.0.01": must not have leading 0s'],
    ),
]


@pytest.mark.parametrize(("obj", "texts"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_faults_of_a_new_pod_are_reported(obj: dict[str, Any], texts: list[str]) -> None:
    assert faults("pods", obj) == texts
