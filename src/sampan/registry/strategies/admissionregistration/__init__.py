"""Strategies of admissionregistration.k8s.io."""

from sampan.registry.strategies.admissionregistration.bindings import PolicyBindingStrategy
from sampan.registry.strategies.admissionregistration.policies import (
    MutatingAdmissionPolicyStrategy,
    ValidatingAdmissionPolicyStrategy,
)
from sampan.registry.strategies.admissionregistration.webhooks import WebhookConfigurationStrategy
from sampan.registry.strategy import Strategy

_GROUP = "admissionregistration.k8s.io"

STRATEGIES: dict[tuple[str, str], Strategy] = {
    (_GROUP, "validatingwebhookconfigurations"): WebhookConfigurationStrategy(mutating=False),
    (_GROUP, "mutatingwebhookconfigurations"): WebhookConfigurationStrategy(mutating=True),
    (_GROUP, "validatingadmissionpolicies"): ValidatingAdmissionPolicyStrategy(),
    (_GROUP, "mutatingadmissionpolicies"): MutatingAdmissionPolicyStrategy(),
    (_GROUP, "validatingadmissionpolicybindings"): PolicyBindingStrategy(mutating=False),
    (_GROUP, "mutatingadmissionpolicybindings"): PolicyBindingStrategy(mutating=True),
}
