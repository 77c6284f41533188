"""Configuration of plug-ins, and faults in it that prevent the start: the texts of kube-apiserver 1.36."""

from pathlib import Path

import pytest

from sampan.core.object import Object
from sampan.registry.cluster import Cluster
from sampan.server.admission.settings import AdmissionSettings, BadConfiguration
from sampan.server.apiserver import ApiServer, ApiServerSettings
from sampan.storage.memory import MemoryStore

_HEADS = {
    "EventRateLimit": ("eventratelimit.admission.k8s.io/v1alpha1", "Configuration"),
    "PodTolerationRestriction": ("podtolerationrestriction.admission.k8s.io/v1alpha1", "Configuration"),
    "PodSecurity": ("pod-security.admission.config.k8s.io/v1", "PodSecurityConfiguration"),
    "ResourceQuota": ("apiserver.config.k8s.io/v1", "ResourceQuotaConfiguration"),
    "ValidatingAdmissionWebhook": ("apiserver.config.k8s.io/v1", "WebhookAdmissionConfiguration"),
}


def _of(name: str, **configuration: object) -> Object:
    head = _HEADS.get(name)
    return configuration if head is None else {"apiVersion": head[0], "kind": head[1], **configuration}


def _start(name: str, configuration: Object | None) -> ApiServer:
    configurations = {} if configuration is None else {name: configuration}
    settings = AdmissionSettings(enabled=frozenset({name}), configurations=configurations)
    return ApiServer(Cluster(MemoryStore()), [], settings=ApiServerSettings(admission=settings))


def _limit(**configuration: object) -> Object:
    return _of("EventRateLimit", limits=[{"type": "User", "qps": 1, "burst": 2, **configuration}])


def _toleration(**configuration: object) -> Object:
    return _of("PodTolerationRestriction", whitelist=[{"key": "a", "operator": "Exists", **configuration}])


_WRONG: list[tuple[str, Object | None, str]] = [
    ("EventRateLimit", None, "limits: Invalid value: null: must not be empty"),
    ("EventRateLimit", _of("EventRateLimit"), "limits: Invalid value: null: must not be empty"),
    ("EventRateLimit", _of("EventRateLimit", limits=[]), "limits: Invalid value: []: must not be empty"),
    ("EventRateLimit", {"limits": []}, "Object 'Kind' is missing in '{\"limits\":[]}'"),
    (
        "EventRateLimit",
        {**_limit(), "kind": "Other"},
        'no kind "Other" is registered for version "eventratelimit.admission.k8s.io/v1alpha1"',
    ),
    (
        "EventRateLimit",
        _limit(qps="a"),
        "json: cannot unmarshal string into Go struct field Limit.limits.qps of type int32",
    ),
    (
        "EventRateLimit",
        _limit(qps=1.5),
        "json: cannot unmarshal number 1.5 into Go struct field Limit.limits.qps of type int32",
    ),
    (
        "EventRateLimit",
        _limit(qps=3 * 10**9),
        "json: cannot unmarshal number 3000000000 into Go struct field Limit.limits.qps of type int32",
    ),
    (
        "EventRateLimit",
        _of("EventRateLimit", limits={}),
        "json: cannot unmarshal object into Go struct field Configuration.limits of type []v1alpha1.Limit",
    ),
    (
        "EventRateLimit",
        _limit(qps=-1, burst=0, cacheSize=-3),
        "[limits[0].burst: Invalid value: 0: must be positive, limits[0].qps: Invalid value: -1: must be positive, "
        "limits[0].cacheSize: Invalid value: -3: must not be negative]",
    ),
    (
        "PodTolerationRestriction",
        _toleration(operator="Bad"),
        'invalid config: [podtolerationrestriction.whitelist[0].operator: Unsupported value: "Bad": supported values: '
        '"Equal", "Exists"]',
    ),
    (
        "PodTolerationRestriction",
        _toleration(value="x", effect="Bad"),
        'invalid config: [podtolerationrestriction.whitelist[0].operator: Invalid value: "x": value must be empty when '
        "`operator` is 'Exists' podtolerationrestriction.whitelist[0].effect: Unsupported value: \"Bad\": supported "
        'values: "NoSchedule", "PreferNoSchedule", "NoExecute"]',
    ),
    ("PodSecurity", _of("PodSecurity", foo=1), 'strict decoding error: unknown field "foo"'),
    (
        "PodSecurity",
        _of("PodSecurity", defaults={"enforce": "high"}),
        'defaults.enforce: Invalid value: "high": must be one of privileged, baseline, restricted',
    ),
    (
        "PodSecurity",
        _of("PodSecurity", exemptions={"namespaces": ["a", "a"], "usernames": [""]}),
        'PodSecurity invalid: [exemptions.namespaces[1]: Duplicate value: "a", exemptions.usernames[0]: Invalid value: '
        '"": username must not be empty]',
    ),
    ("ResourceQuota", _of("ResourceQuota", limitedResources=[{}]), "limitedResources[0].resource: Required value"),
    (
        "ResourceQuota",
        _of("ResourceQuota", limitedResources="x"),
        "json: cannot unmarshal string into Go struct field Configuration.limitedResources of type "
        "[]v1.LimitedResource",
    ),
    (
        "ValidatingAdmissionWebhook",
        _of("ValidatingAdmissionWebhook", kubeConfigFile="kc"),
        'kubeConfigFile: Invalid value: "kc": must be an absolute file path',
    ),
    ("PodNodeSelector", {"podNodeSelectorPluginConfig": {"a": "!!"}}, "invalid selector: [!!]"),
    ("PodNodeSelector", {"podNodeSelectorPluginConfig": {"a": 1}}, "json: cannot unmarshal number into Go"),
    ("ImagePolicyWebhook", None, "no config specified"),
    ("ImagePolicyWebhook", {"imagePolicy": {"allowTTL": 50}}, "imagePolicy.kubeConfigFile is not given"),
    (
        "ImagePolicyWebhook",
        {"imagePolicy": {"allowTTL": "x"}},
        "json: cannot unmarshal string into Go struct field imagePolicyWebhookConfig.imagePolicy.allowTTL of type "
        "time.Duration",
    ),
    ("ImagePolicyWebhook", {"imagePolicy": {"kubeConfigFile": "/absent"}}, "/absent: No such file or directory"),
]


@pytest.mark.parametrize(("name", "configuration", "text"), _WRONG)
async def test_a_configuration_that_makes_no_sense_is_reported(
    name: str, configuration: Object | None, text: str
) -> None:
    with pytest.raises(BadConfiguration) as caught:
        _start(name, configuration)
    assert str(caught.value).startswith(f'couldn\'t init admission plugin "{name}": {text}')


@pytest.mark.parametrize(
    ("name", "configuration"),
    [
        ("EventRateLimit", _limit(foo=1)),
        ("PodTolerationRestriction", None),
        ("PodTolerationRestriction", _toleration()),
        ("PodSecurity", {**_of("PodSecurity"), "apiVersion": "pod-security.admission.config.k8s.io/v1beta1"}),
        (
            "ResourceQuota",
            {"apiVersion": "resourcequota.admission.k8s.io/v1alpha1", "kind": "Configuration", "limitedResources": []},
        ),
        ("ValidatingAdmissionWebhook", _of("ValidatingAdmissionWebhook")),
        ("PodNodeSelector", {"foo": 1}),
    ],
)
async def test_a_configuration_that_makes_sense_is_taken(name: str, configuration: Object | None) -> None:
    assert name in {plugin.name for plugin in _start(name, configuration).admission.plugins}


async def test_credentials_for_webhooks_are_in_a_file_with_an_absolute_path(tmp_path: Path) -> None:
    file = tmp_path / "kubeconfig"
    file.write_text("apiVersion: v1\nkind: Config\n")
    name = "ValidatingAdmissionWebhook"
    assert _start(name, _of(name, kubeConfigFile=str(file)))
