"""Defaults of pods."""

import copy
from typing import Any

import pytest

from sampan.registry.kinds.pod_spec.defaults import pull_policy
from sampan.registry.kinds.pod_spec.spec import default_pod_spec, default_pod_template
from tests.registry.kinds.core.objects import container, created, pod, strategy


def defaulted(obj: Any) -> Any:
    strategy("pods").default(obj)
    return obj


def test_a_spec_gets_its_defaults() -> None:
    spec: Any = {"containers": [container()]}
    default_pod_spec(spec)
    assert spec == {
        "containers": [
            {
                "name": "app",
                "image": "nginx:1.25",
                "imagePullPolicy": "IfNotPresent",
                "resources": {},
                "terminationMessagePath": "/dev/termination-log",
                "terminationMessagePolicy": "File",
            }
        ],
        "dnsPolicy": "ClusterFirst",
        "restartPolicy": "Always",
        "schedulerName": "default-scheduler",
        "securityContext": {},
        "terminationGracePeriodSeconds": 30,
    }


def test_a_pod_has_more_defaults_than_a_template() -> None:
    template: Any = {"spec": pod()["spec"]}
    default_pod_template(template)
    assert "enableServiceLinks" not in template["spec"]
    assert defaulted(pod())["spec"]["enableServiceLinks"] is True


def test_defaulting_twice_changes_nothing() -> None:
    volumes = [{"name": "a"}, {"name": "b", "projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}}]
    probe = {"httpGet": {"port": 80}}
    once = defaulted(pod(volumes=volumes, hostNetwork=True, containers=[container(livenessProbe=probe)]))
    assert defaulted(copy.deepcopy(once)) == once


@pytest.mark.parametrize(
    ("image", "policy"),
    [
        ("nginx", "Always"),
        ("nginx:latest", "Always"),
        ("nginx:1.25", "IfNotPresent"),
        ("localhost:5000/nginx", "Always"),
        ("localhost:5000/nginx:1", "IfNotPresent"),
        ("nginx@sha256:" + "0" * 64, "IfNotPresent"),
        ("nginx:latest@sha256:" + "0" * 64, "Always"),
        ("Nginx", "IfNotPresent"),
        ("a" * 247, "Always"),
        ("a" * 248, "IfNotPresent"),
        ("nginx:" + "a" * 129, "IfNotPresent"),
        ("a b", "IfNotPresent"),
        ("f" * 64, "IfNotPresent"),
        ("", "IfNotPresent"),
    ],
)
def test_the_pull_policy_follows_the_tag(image: str, policy: str) -> None:
    assert pull_policy(image) == policy


def test_a_probe_gets_its_defaults() -> None:
    probe: Any = {"httpGet": {"port": 80}}
    defaulted(pod(containers=[container(livenessProbe=probe)]))
    assert probe == {
        "httpGet": {"port": 80, "path": "/", "scheme": "HTTP"},
        "timeoutSeconds": 1,
        "periodSeconds": 10,
        "successThreshold": 1,
        "failureThreshold": 3,
    }


@pytest.mark.parametrize(
    ("volume", "expected"),
    [
        ({}, {"emptyDir": {}}),
        ({"configMap": {"name": "c"}}, {"configMap": {"name": "c", "defaultMode": 420}}),
        ({"hostPath": {"path": "/x"}}, {"hostPath": {"path": "/x", "type": ""}}),
        (
            {"projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}},
            {
                "projected": {
                    "defaultMode": 420,
                    "sources": [{"serviceAccountToken": {"path": "t", "expirationSeconds": 3600}}],
                }
            },
        ),
        ({"image": {"reference": "a:1"}}, {"image": {"reference": "a:1", "pullPolicy": "IfNotPresent"}}),
    ],
    ids=["nothing", "config map", "host path", "token", "image"],
)
def test_a_volume_gets_its_defaults(volume: Any, expected: Any) -> None:
    obj = defaulted(pod(volumes=[{"name": "v", **volume}]))
    assert obj["spec"]["volumes"] == [{"name": "v", **expected}]


def test_limits_become_requests_where_there_are_none() -> None:
    resources: Any = {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "500m"}}
    defaulted(pod(containers=[container(resources=resources)]))
    assert resources["requests"] == {"cpu": "500m", "memory": "1Gi"}


def test_amounts_are_rounded_up_to_thousandths() -> None:
    resources: Any = {"requests": {"cpu": "1500u"}}
    defaulted(pod(containers=[container(resources=resources)]))
    assert resources["requests"] == {"cpu": "2m"}


def test_pod_level_requests_come_from_containers_then_from_limits() -> None:
    resources: Any = {"limits": {"cpu": "2", "memory": "1Gi"}}
    of_container = {"requests": {"cpu": "500m"}}
    containers = [container(resources=of_container), container(name="b", resources=copy.deepcopy(of_container))]
    defaulted(pod(resources=resources, containers=containers))
    assert resources["requests"] == {"cpu": "1", "memory": "1Gi"}


def test_host_network_opens_container_ports_on_the_host() -> None:
    port: Any = {"containerPort": 80}
    defaulted(pod(hostNetwork=True, containers=[container(ports=[port])]))
    assert port == {"containerPort": 80, "hostPort": 80, "protocol": "TCP"}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"serviceAccountName": "a"}, ("a", "a")),
        ({"serviceAccount": "b"}, ("b", "b")),
        ({"serviceAccountName": "a", "serviceAccount": "b"}, ("a", "a")),
    ],
)
def test_both_names_of_the_service_account_are_equal(given: dict[str, Any], expected: tuple[str, str]) -> None:
    spec: Any = {"containers": [container()], **given}
    default_pod_spec(spec)
    assert (spec["serviceAccountName"], spec["serviceAccount"]) == expected


def test_a_new_pod_is_pending() -> None:
    assert created("pods", pod())["status"] == {"phase": "Pending", "qosClass": "BestEffort"}


def test_a_gated_pod_has_a_condition() -> None:
    status = created("pods", pod(schedulingGates=[{"name": "wait"}]))["status"]
    assert status["conditions"] == [
        {
            "type": "PodScheduled",
            "status": "False",
            "reason": "SchedulingGated",
            "message": "Scheduling is blocked due to non-empty scheduling gates",
            "lastProbeTime": None,
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        }
    ]


@pytest.mark.parametrize(
    ("resources", "qos"),
    [
        ({}, "BestEffort"),
        ({"requests": {"cpu": "1"}}, "Burstable"),
        ({"limits": {"cpu": "1"}}, "Burstable"),
        ({"limits": {"cpu": "1", "memory": "1Gi"}}, "Guaranteed"),
        ({"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "1000m"}}, "Guaranteed"),
        ({"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "500m"}}, "Burstable"),
        ({"limits": {"ephemeral-storage": "1Gi"}}, "BestEffort"),
    ],
)
def test_the_quality_of_service_follows_the_resources(resources: Any, qos: str) -> None:
    assert created("pods", pod(containers=[container(resources=resources)]))["status"]["qosClass"] == qos


def test_match_label_keys_become_expressions() -> None:
    constraint = {
        "maxSkew": 1,
        "topologyKey": "zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {},
        "matchLabelKeys": ["app", "absent"],
    }
    obj = pod(topologySpreadConstraints=[constraint])
    obj["metadata"]["labels"] = {"app": "web"}
    selector = created("pods", obj)["spec"]["topologySpreadConstraints"][0]["labelSelector"]
    assert selector == {"matchExpressions": [{"key": "app", "operator": "In", "values": ["web"]}]}


def test_an_apparmor_annotation_becomes_a_field() -> None:
    obj = pod()
    obj["metadata"]["annotations"] = {"container.apparmor.security.beta.kubernetes.io/app": "unconfined"}
    context = created("pods", obj)["spec"]["containers"][0]["securityContext"]
    assert context == {"appArmorProfile": {"type": "Unconfined"}}


def test_stop_signals_are_dropped_while_their_feature_is_off() -> None:
    obj = created("pods", pod(os={"name": "linux"}, containers=[container(lifecycle={"stopSignal": "SIGTERM"})]))
    assert "lifecycle" not in obj["spec"]["containers"][0]
