"""Webhooks of an operator as a ClusterServiceVersion describes them. OLM makes their Services, certificates and
configurations itself.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from sampan.resource import Object

CERTIFICATES: Final = "/tmp/k8s-webhook-server/serving-certs"
"""Folder in which OLM mounts tls.crt and tls.key.

Source: operator-lifecycle-manager pkg/controller/install/certresources.go.
"""
_SERVICE_PORT: Final = 443
_TYPES: Final = {
    "MutatingWebhookConfiguration": "MutatingAdmissionWebhook",
    "ValidatingWebhookConfiguration": "ValidatingAdmissionWebhook",
}
_COPIED: Final = (
    "admissionReviewVersions", "failurePolicy", "matchPolicy", "objectSelector", "reinvocationPolicy", "rules",
    "sideEffects", "timeoutSeconds",
)  # fmt: skip
_LOST: Final = ("matchConditions", "namespaceSelector")
"""Fields of a webhook that a ClusterServiceVersion cannot have."""


def webhook_definitions(objects: Sequence[Object], deployment: str, port: int) -> list[Object]:
    """Return the definitions. `port`: that of the container."""
    head = {"deploymentName": deployment, "containerPort": _SERVICE_PORT, "targetPort": port}
    found = [
        {
            **head,
            "type": _TYPES[kind],
            "generateName": hook["name"],
            "webhookPath": hook["clientConfig"]["service"].get("path", "/"),
            **{key: hook[key] for key in _COPIED if key in hook},
        }
        for kind, hook in _hooks(objects)
    ]
    converted = [each for each in objects if each["kind"] == "CustomResourceDefinition" and converts(each)]
    if converted:
        webhook = converted[0]["spec"]["conversion"]["webhook"]
        found.append(
            {
                **head,
                "type": "ConversionWebhook",
                "generateName": "convert",
                "webhookPath": webhook["clientConfig"]["service"].get("path", "/convert"),
                "admissionReviewVersions": list(webhook["conversionReviewVersions"]),
                "sideEffects": "None",
                "conversionCRDs": [each["metadata"]["name"] for each in converted],
            }
        )
    return found


def converts(crd: Mapping[str, Any]) -> bool:
    """Return True if a webhook converts the versions of a CRD."""
    return bool(crd["spec"].get("conversion", {}).get("strategy") == "Webhook")


def webhook_warnings(objects: Sequence[Object]) -> list[str]:
    """Return what OLM does not do as the operator's code requires it."""
    found = [
        f"the webhook {hook['name']} has {field}, which OLM does not support: it is called for more requests"
        for _, hook in _hooks(objects)
        for field in _LOST
        if hook.get(field)
    ]
    if any(True for _ in _hooks(objects)) or any(map(converts, _crds(objects))):
        found.append("OLM v1 installs webhooks only if it has a provider of certificates, and may refuse this bundle")
    return found


def _hooks(objects: Sequence[Object]) -> Iterator[tuple[str, Object]]:
    for obj in objects:
        if obj["kind"] in _TYPES:
            yield from ((obj["kind"], hook) for hook in obj["webhooks"])


def _crds(objects: Sequence[Object]) -> Iterator[Object]:
    return (each for each in objects if each["kind"] == "CustomResourceDefinition")
