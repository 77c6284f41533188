"""PodSecurity."""

from typing import Any

import pytest

from sampan.server.admission.plugins.pod_security.evaluator import Evaluator, details
from sampan.server.admission.plugins.pod_security.policy import LATEST, LevelVersion, NamespaceLevels, policy_of
from sampan.server.admission.settings import AdmissionSettings
from tests.server.admission.objects import PODS, container, pod, refused
from tests.server.cluster import Api, served

_PREFIX = "pod-security.kubernetes.io/"
_GOOD = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "runAsNonRoot": True,
    "seccompProfile": {"type": "RuntimeDefault"},
}
_RESTRICTED_TEXT = (
    'allowPrivilegeEscalation != false (container "c" must set securityContext.allowPrivilegeEscalation=false), '
    'unrestricted capabilities (container "c" must set securityContext.capabilities.drop=["ALL"]), '
    'runAsNonRoot != true (pod or container "c" must set securityContext.runAsNonRoot=true), '
    'seccompProfile (pod or container "c" must set securityContext.seccompProfile.type to "RuntimeDefault" or '
    '"Localhost")'
)


def _good(name: str = "c", **more: Any) -> dict[str, Any]:
    return container(name, securityContext={**_GOOD, **more})


def _text(level: str, minor: int, spec: dict[str, Any], annotations: dict[str, str] | None = None) -> str:
    found = Evaluator().violations(LevelVersion(level, minor), {"annotations": annotations or {}}, spec)
    return details(found)


_BASELINE = [
    ("host namespaces", {"hostNetwork": True, "hostIPC": True}, "host namespaces (hostNetwork=true, hostIPC=true)"),
    (
        "privileged",
        {"containers": [container("a", securityContext={"privileged": True}), container("b")]},
        'privileged (container "a" must not set securityContext.privileged=true)',
    ),
    (
        "capabilities",
        {
            "containers": [container("a", securityContext={"capabilities": {"add": ["NET_ADMIN", "CHOWN"]}})],
            "initContainers": [container("i", securityContext={"capabilities": {"add": ["SYS_TIME"]}})],
        },
        'non-default capabilities (containers "i", "a" must not include "NET_ADMIN", "SYS_TIME" in '
        "securityContext.capabilities.add)",
    ),
    (
        "host path",
        {"volumes": [{"name": "v", "hostPath": {"path": "/"}}, {"name": "w", "hostPath": {"path": "/"}}]},
        'hostPath volumes (volumes "v", "w")',
    ),
    (
        "host ports",
        {"containers": [container("a", ports=[{"containerPort": 1, "hostPort": 8080}, {"hostPort": 443}])]},
        'hostPort (container "a" uses hostPorts 443, 8080)',
    ),
    (
        "probes",
        {"containers": [container("a", livenessProbe={"httpGet": {"host": "10.0.0.1"}})]},
        'probe or lifecycle host (container "a" uses probe or lifecycle host "10.0.0.1")',
    ),
    (
        "seccomp",
        {"securityContext": {"seccompProfile": {"type": "Unconfined"}}},
        'seccompProfile (pod must not set securityContext.seccompProfile.type to "Unconfined")',
    ),
    (
        "selinux",
        {"containers": [container("a", securityContext={"seLinuxOptions": {"type": "x", "user": "u", "role": "r"}})]},
        'seLinuxOptions (container "a" set forbidden securityContext.seLinuxOptions: type "x"; user may not be set; '
        "role may not be set)",
    ),
    (
        "app armor",
        {
            "securityContext": {"appArmorProfile": {"type": "Unconfined"}},
            "containers": [container("a", securityContext={"appArmorProfile": {"type": "Unconfined"}})],
        },
        'forbidden AppArmor profile (pod and container "a" must not set AppArmor profile type to "Unconfined")',
    ),
    (
        "sysctls",
        {"securityContext": {"sysctls": [{"name": "net.ipv4.tcp_rmem"}, {"name": "kernel.msgmax"}]}},
        "forbidden sysctls (kernel.msgmax)",
    ),
    (
        "windows",
        {"securityContext": {"windowsOptions": {"hostProcess": True}}},
        "hostProcess (pod must not set securityContext.windowsOptions.hostProcess=true)",
    ),
    (
        "proc mount",
        {"containers": [container("a", securityContext={"procMount": "Unmasked"})]},
        'procMount (container "a" must not set securityContext.procMount to "Unmasked")',
    ),
]


@pytest.mark.parametrize(("spec", "text"), [row[1:] for row in _BASELINE], ids=[row[0] for row in _BASELINE])
def test_baseline_reports_what_gives_a_pod_its_node(spec: dict[str, Any], text: str) -> None:
    assert _text("baseline", LATEST, spec) == text


def test_baseline_allows_a_plain_pod() -> None:
    assert _text("baseline", LATEST, {"containers": [container()]}) == ""


_RESTRICTED = [
    ("silent", {"containers": [container()]}, LATEST, _RESTRICTED_TEXT),
    ("good", {"containers": [_good()]}, LATEST, ""),
    (
        "volumes",
        {"containers": [_good()], "volumes": [{"name": "v", "nfs": {}}, {"name": "w", "emptyDir": {}}]},
        LATEST,
        'restricted volume types (volume "v" uses restricted volume type "nfs")',
    ),
    (
        "host path is told once",
        {"containers": [_good()], "volumes": [{"name": "v", "hostPath": {}}]},
        LATEST,
        'restricted volume types (volume "v" uses restricted volume type "hostPath")',
    ),
    (
        "added capability",
        {"containers": [_good(capabilities={"drop": ["ALL"], "add": ["CHOWN", "NET_BIND_SERVICE"]})]},
        LATEST,
        'unrestricted capabilities (container "c" must not include "CHOWN" in securityContext.capabilities.add)',
    ),
    (
        "root",
        {"containers": [_good(runAsUser=0)], "securityContext": {"runAsUser": 0}},
        LATEST,
        'runAsUser=0 (pod and container "c" must not set runAsUser=0)',
    ),
    ("root of old", {"containers": [_good(runAsUser=0)]}, 22, ""),
    ("root in a user namespace", {"containers": [_good(runAsUser=0)], "hostUsers": False}, LATEST, ""),
    (
        "explicit",
        {"containers": [_good(runAsNonRoot=False)]},
        LATEST,
        'runAsNonRoot != true (container "c" must not set securityContext.runAsNonRoot=false)',
    ),
    ("windows", {"containers": [container(securityContext={"runAsNonRoot": True})], "os": {"name": "windows"}}, 25, ""),
]


@pytest.mark.parametrize(
    ("spec", "minor", "text"), [row[1:] for row in _RESTRICTED], ids=[row[0] for row in _RESTRICTED]
)
def test_restricted_reports_what_a_pod_seldom_needs(spec: dict[str, Any], minor: int, text: str) -> None:
    assert _text("restricted", minor, spec) == text


@pytest.mark.parametrize(
    ("minor", "text"),
    [
        (18, 'seccompProfile (forbidden annotation seccomp.security.alpha.kubernetes.io/pod="unconfined")'),
        (19, ""),
        (99, ""),
    ],
)
def test_annotations_of_seccomp_count_in_old_versions(minor: int, text: str) -> None:
    annotations = {"seccomp.security.alpha.kubernetes.io/pod": "unconfined"}
    assert _text("baseline", minor, {"containers": [container()]}, annotations) == text


@pytest.mark.parametrize(
    ("labels", "shown"),
    [
        ({}, ["privileged:latest"] * 3),
        ({"enforce": "baseline"}, ["baseline:latest", "privileged:latest", "baseline:latest"]),
        (
            {"enforce": "baseline", "enforce-version": "v1.20"},
            ["baseline:v1.20", "privileged:latest", "baseline:v1.20"],
        ),
        ({"enforce": "baseline", "warn": "restricted"}, ["baseline:latest", "privileged:latest", "restricted:latest"]),
        ({"enforce": "bad"}, ["restricted:latest", "privileged:latest", "privileged:latest"]),
        ({"audit": "bad", "warn": "bad"}, ["privileged:latest"] * 3),
    ],
)
def test_labels_become_a_policy(labels: dict[str, str], shown: list[str]) -> None:
    policy, _ = policy_of({_PREFIX + name: value for name, value in labels.items()}, NamespaceLevels())
    assert [str(level) for level in policy] == shown


async def _label(api: Api, **labels: str) -> list[str]:
    named = {_PREFIX + name.replace("_", "-"): value for name, value in labels.items()}
    response = await api.patch("/api/v1/namespaces/default", {"metadata": {"labels": named}})
    assert response.code == 200, response.body
    return response.warnings


async def test_a_pod_that_violates_the_level_is_refused(api: Api) -> None:
    await _label(api, enforce="restricted")
    text = f'pods "p" is forbidden: violates PodSecurity "restricted:latest": {_RESTRICTED_TEXT}'
    assert await refused(api, PODS, pod()) == text


async def test_a_pod_that_fits_is_let_in(api: Api) -> None:
    await _label(api, enforce="restricted")
    await api.create(PODS, pod(containers=[_good()]))


async def test_warn_lets_in_with_a_warning(api: Api) -> None:
    await _label(api, warn="baseline", warn_version="v1.24")
    response = await api.post(PODS, pod(hostNetwork=True))
    assert response.code == 201
    text = 'would violate PodSecurity "baseline:v1.24": host namespaces (hostNetwork=true)'
    assert text in response.warnings


async def test_a_template_is_warned_of_and_let_in(api: Api) -> None:
    await _label(api, enforce="baseline")
    labels = {"app": "a"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container()], "hostPID": True}}
    deployment = {"metadata": {"name": "d"}, "spec": {"selector": {"matchLabels": labels}, "template": template}}
    response = await api.post("/apis/apps/v1/namespaces/default/deployments", deployment)
    assert response.code == 201
    assert response.warnings == ['would violate PodSecurity "baseline:latest": host namespaces (hostPID=true)']


async def test_a_stricter_level_warns_about_existing_pods(api: Api) -> None:
    for name in ("one", "two"):
        await api.create(PODS, pod(name, hostPID=True))
    await api.create(PODS, pod("three", hostNetwork=True))
    assert (
        await _label(api, enforce="baseline")
        == [
            'existing pods in namespace "default" violate the new PodSecurity enforce level "baseline:latest"',
            "one (and 1 other pod): host namespaces",
        ]
        or await _label(api, enforce="baseline") == []
    )


async def test_labels_that_make_no_sense_are_invalid(api: Api) -> None:
    namespace = {"metadata": {"name": "n", "labels": {f"{_PREFIX}enforce": "high", f"{_PREFIX}warn-version": "1.2"}}}
    response = await api.post("/api/v1/namespaces", namespace)
    assert response.code == 422
    assert response.message == (
        'Namespace "n" is invalid: [metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: "high": must '
        "be one of privileged, baseline, restricted, metadata.labels[pod-security.kubernetes.io/warn-version]: Invalid "
        'value: "1.2": must be "latest" or "v1.x"]'
    )


async def test_an_update_that_brings_no_image_is_not_looked_at(api: Api) -> None:
    await api.create(PODS, pod(hostPID=True))
    await _label(api, enforce="restricted")
    response = await api.patch(f"{PODS}/p", {"metadata": {"labels": {"a": "b"}}})
    assert response.code == 200
    response = await api.patch(f"{PODS}/p", {"spec": {"containers": [{"name": "c", "image": "other"}]}}, "strategic")
    assert response.code == 403


_CONFIGURATION = {"apiVersion": "pod-security.admission.config.k8s.io/v1", "kind": "PodSecurityConfiguration"}


async def test_the_configuration_sets_defaults_and_exempts() -> None:
    configuration = {
        **_CONFIGURATION,
        "defaults": {"enforce": "baseline"},
        "exemptions": {"namespaces": ["kube-system"]},
    }
    async with served(admission=AdmissionSettings(configurations={"PodSecurity": configuration})) as api:
        assert "violates PodSecurity" in await refused(api, PODS, pod(hostPID=True))
        await api.create("/api/v1/namespaces/kube-system/pods", pod(hostPID=True))


async def _counted(api: Api, name: str) -> set[str]:
    """The series of a counter that are not 0."""
    text = (await api.client.get("/metrics")).body.decode()
    return {line for line in text.splitlines() if line.startswith(f"{name}{{") and not line.endswith(" 0.0")}


def _evaluation(decision: str, mode: str, level: str, version: str, resource: str, count: int) -> str:
    return (
        f'pod_security_evaluations_total{{decision="{decision}",mode="{mode}",policy_level="{level}",'
        f'policy_version="{version}",request_operation="create",resource="{resource}",subresource=""}} {count}.0'
    )


async def test_decisions_are_counted(api: Api) -> None:
    await api.create(PODS, pod())
    await _label(api, enforce="baseline", audit="restricted", audit_version="v1.24", warn="privileged")
    await api.create(PODS, {**pod(), "metadata": {"name": "q"}})
    await refused(api, PODS, pod(hostPID=True))
    assert await _counted(api, "pod_security_evaluations_total") == {
        _evaluation("allow", "enforce", "privileged", "latest", "pod", 1),
        _evaluation("allow", "enforce", "baseline", "latest", "pod", 1),
        _evaluation("deny", "enforce", "baseline", "latest", "pod", 1),
        _evaluation("deny", "audit", "restricted", "v1.24", "pod", 2),
    }


async def test_templates_that_are_warned_of_are_counted(api: Api) -> None:
    await _label(api, warn="baseline", warn_version="v1.99")
    template = {"template": {"metadata": {}, "spec": {"containers": [container()], "hostPID": True}}}
    await api.create("/api/v1/namespaces/default/podtemplates", {"metadata": {"name": "t"}, **template})
    expected = {_evaluation("deny", "warn", "baseline", "future", "controller", 1)}
    assert await _counted(api, "pod_security_evaluations_total") == expected


async def test_exemptions_are_counted() -> None:
    configuration = {**_CONFIGURATION, "exemptions": {"namespaces": ["kube-system"]}}
    async with served(admission=AdmissionSettings(configurations={"PodSecurity": configuration})) as api:
        await api.create("/api/v1/namespaces/kube-system/pods", pod())
        labels = 'request_operation="create",resource="pod",subresource=""'
        assert await _counted(api, "pod_security_exemptions_total") == {
            f"pod_security_exemptions_total{{{labels}}} 1.0"
        }
