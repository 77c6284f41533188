"""Configuration of plug-ins: checks of kinds, versions and types of values.

Source: kubernetes plugin/pkg/admission/{eventratelimit,podtolerationrestriction,podnodeselector,imagepolicy}; apiserver
pkg/admission/plugin/{resourcequota,webhook/config}; k8s.io/pod-security-admission admission/api (1.36).
"""

from collections.abc import Mapping, Sequence
from typing import Final

from sampan.core.field import quote
from sampan.core.object import Object
from sampan.registry.webhook.review_body import BOOLEAN, RAW, STRING, STRINGS, struct
from sampan.schema.compile import DecodeError, unknown_paths
from sampan.schema.decoding.decode import Decoder, DecoderCompiler, Lost
from sampan.schema.structural import Schema, ValueValidations
from sampan.wire import json as wire_json

_INT32: Final = Schema(type="integer", validations=ValueValidations(format="int32"))
_INT64: Final = Schema(type="integer")
_DURATION: Final = Schema(type="integer", name="time.Duration")


def _list(name: str, properties: Mapping[str, Schema]) -> Schema:
    return Schema(type="array", items=struct(name, properties))


class ConfigurationReader:
    """Reads the configuration of one plug-in. `kinds` has its schemas by apiVersion and kind; `strict` refuses unknown
    fields.
    """

    def __init__(self, kinds: Mapping[tuple[str, str], Schema], *, strict: bool = False) -> None:
        head = {"apiVersion": STRING, "kind": STRING}
        self._strict = strict
        self._decoders: dict[tuple[str, str], Decoder] = {
            key: DecoderCompiler().compile(struct(schema.name, {**head, **schema.properties}))
            for key, schema in kinds.items()
        }

    def read(self, given: Object, duplicates: Sequence[str] = ()) -> Object:
        """Return the decoded configuration. `duplicates` describes repeated fields. **Raises** `ValueError`; if strict,
        also for `duplicates`.
        """
        api_version, kind = given.get("apiVersion"), given.get("kind")
        for name, value in (("Kind", kind), ("apiVersion", api_version)):
            if not value:
                raise ValueError(f"Object '{name}' is missing in '{wire_json.encode(given).decode()}'")
        decode = self._decoders.get((str(api_version), str(kind)))
        if decode is None:
            raise ValueError(f"no kind {quote(str(kind))} is registered for version {quote(str(api_version))}")
        return _decoded(decode, given, strict=self._strict, duplicates=duplicates)


class PlainReader:
    """Reads a configuration that has no `apiVersion` and `kind`."""

    def __init__(self, schema: Schema) -> None:
        self._decode = DecoderCompiler().compile(schema)

    def read(self, given: Object) -> Object:
        """Return the decoded configuration. **Raises** `ValueError`."""
        return _decoded(self._decode, given, strict=False)


def _decoded(decode: Decoder, given: Object, *, strict: bool, duplicates: Sequence[str] = ()) -> Object:
    lost: Lost = []
    try:
        decoded: Object = decode(given, lost)
    except DecodeError as error:
        raise ValueError(str(error)) from None
    faults = [*duplicates, *(f"unknown field {quote(path)}" for path in unknown_paths(given, lost))]
    if strict and faults:
        raise ValueError(f"strict decoding error: {', '.join(faults)}")
    return decoded


_EVENT_LIMITS: Final = struct(
    "Configuration",
    {"limits": _list("v1alpha1.Limit", {"type": STRING, **dict.fromkeys(("qps", "burst", "cacheSize"), _INT32)})},
)
TOLERATION: Final = struct(
    "v1.Toleration", {**dict.fromkeys(("key", "operator", "value", "effect"), STRING), "tolerationSeconds": _INT64}
)
_TOLERATIONS: Final = Schema(type="array", items=TOLERATION)
_LIMITED: Final = struct(
    "Configuration",
    {
        "limitedResources": _list(
            "v1.LimitedResource",
            {
                **dict.fromkeys(("apiGroup", "resource"), STRING),
                "matchContains": STRINGS,
                "matchScopes": _list(
                    "v1.ScopedResourceSelectorRequirement", {"scopeName": STRING, "operator": STRING, "values": STRINGS}
                ),
            },
        )
    },
)
_MODES: Final = ("enforce", "enforce-version", "audit", "audit-version", "warn", "warn-version")
_POD_SECURITY: Final = struct(
    "PodSecurityConfiguration",
    {
        "defaults": struct("v1.PodSecurityDefaults", dict.fromkeys(_MODES, STRING)),
        "exemptions": struct(
            "v1.PodSecurityExemptions", dict.fromkeys(("usernames", "namespaces", "runtimeClasses"), STRINGS)
        ),
    },
)
_WEBHOOKS: Final = ConfigurationReader(
    {
        ("apiserver.config.k8s.io/v1", "WebhookAdmissionConfiguration"): struct(
            "WebhookAdmission", dict.fromkeys(("kubeConfigFile", "staticManifestsDir"), STRING)
        )
    },
    strict=True,
)
_PLUGIN: Final = {"name": STRING, "path": STRING, "configuration": RAW}
ADMISSION: Final = ConfigurationReader(
    {
        ("apiserver.config.k8s.io/v1", "AdmissionConfiguration"): struct(
            "AdmissionConfiguration", {"plugins": _list("v1.AdmissionPluginConfiguration", _PLUGIN)}
        )
    },
    strict=True,
)
"""Reader of the AdmissionConfiguration file."""

READERS: Final[Mapping[str, ConfigurationReader | PlainReader]] = {
    "EventRateLimit": ConfigurationReader(
        {("eventratelimit.admission.k8s.io/v1alpha1", "Configuration"): _EVENT_LIMITS}
    ),
    "PodTolerationRestriction": ConfigurationReader(
        {
            ("podtolerationrestriction.admission.k8s.io/v1alpha1", "Configuration"): struct(
                "Configuration", dict.fromkeys(("default", "whitelist"), _TOLERATIONS)
            )
        }
    ),
    "ResourceQuota": ConfigurationReader(
        {
            ("apiserver.config.k8s.io/v1", "ResourceQuotaConfiguration"): _LIMITED,
            **{
                (f"resourcequota.admission.k8s.io/{version}", "Configuration"): _LIMITED
                for version in ("v1beta1", "v1alpha1")
            },
        },
        strict=True,
    ),
    "PodSecurity": ConfigurationReader(
        {
            (f"pod-security.admission.config.k8s.io/{version}", "PodSecurityConfiguration"): _POD_SECURITY
            for version in ("v1", "v1beta1", "v1alpha1")
        },
        strict=True,
    ),
    "MutatingAdmissionWebhook": _WEBHOOKS,
    "ValidatingAdmissionWebhook": _WEBHOOKS,
    "PodNodeSelector": PlainReader(
        struct(
            "v1.pluginConfig",
            {"podNodeSelectorPluginConfig": Schema(type="object", additional_properties=STRING)},
        )
    ),
    "ImagePolicyWebhook": PlainReader(
        struct(
            "imagepolicy.AdmissionConfig",
            {
                "imagePolicy": struct(
                    "imagepolicy.imagePolicyWebhookConfig",
                    {
                        "kubeConfigFile": STRING,
                        **dict.fromkeys(("allowTTL", "denyTTL", "retryBackoff"), _DURATION),
                        "defaultAllow": BOOLEAN,
                    },
                )
            },
        )
    ),
}
"""Readers by plug-in name."""
