"""Construction of the plug-ins for webhooks and policies."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sampan.core.field import quote
from sampan.core.object import Object
from sampan.registry.webhook.client import Webhook
from sampan.registry.webhook.credentials import WebhookCredentials
from sampan.registry.webhook.target import WebhookTarget
from sampan.server.admission.matching.subject import Surroundings
from sampan.server.admission.metrics.metrics import AdmissionMetrics
from sampan.server.admission.policy.mutating import MutatingAdmissionPolicy
from sampan.server.admission.policy.validating import ValidatingAdmissionPolicy
from sampan.server.admission.webhook.caller import Caller
from sampan.server.admission.webhook.hook import Connect
from sampan.server.admission.webhook.mutating import MutatingAdmissionWebhook
from sampan.server.admission.webhook.validating import ValidatingAdmissionWebhook
from sampan.server.authorization.authorizer import Authorizer
from sampan.wire import yaml as wire_yaml

MUTATING: Final = MutatingAdmissionWebhook.name
VALIDATING: Final = ValidatingAdmissionWebhook.name


@dataclass(frozen=True, slots=True)
class DynamicAdmission:
    """Dependencies of the plug-ins for webhooks and policies."""

    surroundings: Surroundings
    authorizer: Authorizer
    metrics: AdmissionMetrics


def mutating_webhooks(dynamic: DynamicAdmission, configuration: Object) -> MutatingAdmissionWebhook:
    """Return the plug-in. **Raises** `ValueError` if the configuration is invalid."""
    caller = Caller(_connect(dynamic, configuration), dynamic.metrics, "admit")
    return MutatingAdmissionWebhook(dynamic.surroundings, caller, dynamic.authorizer)


def validating_webhooks(dynamic: DynamicAdmission, configuration: Object) -> ValidatingAdmissionWebhook:
    """Return the plug-in. **Raises** `ValueError` if the configuration is invalid."""
    caller = Caller(_connect(dynamic, configuration), dynamic.metrics, "validating")
    return ValidatingAdmissionWebhook(dynamic.surroundings, caller, dynamic.authorizer)


def mutating_policies(dynamic: DynamicAdmission) -> MutatingAdmissionPolicy:
    """Return the plug-in, which needs no configuration."""
    return MutatingAdmissionPolicy(dynamic.surroundings, dynamic.authorizer, dynamic.metrics)


def validating_policies(dynamic: DynamicAdmission) -> ValidatingAdmissionPolicy:
    """Return the plug-in, which needs no configuration."""
    return ValidatingAdmissionPolicy(dynamic.surroundings, dynamic.authorizer, dynamic.metrics)


def _connect(dynamic: DynamicAdmission, configuration: Object) -> Connect:
    """Return the function that connects to webhooks, with the credentials of a kubeconfig file if configured.

    Source: apiserver pkg/admission/plugin/webhook/config/kubeconfig.go (1.36).
    """
    cluster = dynamic.surroundings.cluster
    if configuration.get("staticManifestsDir"):
        raise ValueError("staticManifestsDir: Forbidden: manifests in files are not supported")
    text = configuration.get("kubeConfigFile") or ""
    if not text:
        return lambda target: cluster.connect(target)
    path = Path(text)
    if not path.is_absolute():
        raise ValueError(f"kubeConfigFile: Invalid value: {quote(text)}: must be an absolute file path")
    try:
        credentials = WebhookCredentials(wire_yaml.decode(path.read_bytes()) or {}, path.parent)
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from error

    def connect(target: WebhookTarget) -> Webhook:
        return cluster.webhooks.connect(target, credentials.of(target.host, target.port))

    return connect
