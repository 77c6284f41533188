"""Conditions of the chart under which each object of the operator exists."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

_BY_KIND: Final[Mapping[str, str]] = {
    "CustomResourceDefinition": "$.Values.crds.enabled",
    "ServiceAccount": "$.Values.serviceAccount.create",
    "Role": "$.Values.rbac.create",
    "RoleBinding": "$.Values.rbac.create",
    "ClusterRole": "$.Values.rbac.create",
    "ClusterRoleBinding": "$.Values.rbac.create",
    "MutatingWebhookConfiguration": "$.Values.webhooks.enabled",
    "ValidatingWebhookConfiguration": "$.Values.webhooks.enabled",
    "NetworkPolicy": "$.Values.networkPolicy.enabled",
    "PodDisruptionBudget": "and $.Values.podDisruptionBudget.enabled (gt (int $.Values.replicas) 1)",
    "ServiceMonitor": "and $.Values.metrics.enabled $.Values.metrics.serviceMonitor.enabled",
}
FILES: Final[Mapping[str, str]] = {
    "ServiceAccount": "serviceaccount",
    "Role": "rbac",
    "RoleBinding": "rbac",
    "ClusterRole": "rbac",
    "ClusterRoleBinding": "rbac",
    "Secret": "webhooks",
    "Issuer": "webhooks",
    "Certificate": "webhooks",
    "Deployment": "deployment",
    "Service": "services",
    "MutatingWebhookConfiguration": "webhooks",
    "ValidatingWebhookConfiguration": "webhooks",
    "NetworkPolicy": "networkpolicy",
    "PodDisruptionBudget": "poddisruptionbudget",
    "ServiceMonitor": "monitoring",
}
"""File of the templates of a kind."""
MORE: Final = "more"
"""File of the templates of all further kinds."""


def guard_of(obj: Mapping[str, Any], objects: Sequence[Mapping[str, Any]]) -> str:
    """Return the condition of an object, or "" if it always exists."""
    if obj["kind"] == "Service":
        return _guard_of_service(obj, objects)
    return _BY_KIND.get(obj["kind"], "")


def _guard_of_service(service: Mapping[str, Any], objects: Sequence[Mapping[str, Any]]) -> str:
    name = service["metadata"]["name"]
    if any(each.get("name") == "metrics" for each in service["spec"].get("ports", ())):
        return "$.Values.metrics.enabled"
    hooks = [each for each in objects if each["kind"].endswith("WebhookConfiguration")]
    called = any(_calls(hook.get("clientConfig", {}), name) for each in hooks for hook in each.get("webhooks", ()))
    return "$.Values.webhooks.enabled" if called and not converts(objects, name) else ""


def converts(objects: Sequence[Mapping[str, Any]], service: str) -> bool:
    """Return True if a CRD converts its versions by a webhook of this Service."""
    crds = (each for each in objects if each["kind"] == "CustomResourceDefinition")
    configs = (each["spec"].get("conversion", {}).get("webhook", {}).get("clientConfig", {}) for each in crds)
    return any(_calls(each, service) for each in configs)


def _calls(config: Mapping[str, Any], service: str) -> bool:
    return bool(config.get("service", {}).get("name") == service)
