"""Webhook configurations of admissionregistration.k8s.io/v1beta1, which had other defaults.

Source: pkg/apis/admissionregistration/v1beta1/defaults.go (1.36).
"""

from sampan.core.object import Object
from sampan.registry.old_versions.parts import default, items


def webhook_configuration(obj: Object) -> None:
    """Set the defaults of v1beta1. For example, failures of a webhook were ignored."""
    for webhook in items(obj, "webhooks"):
        default(
            webhook,
            failurePolicy="Ignore",
            matchPolicy="Exact",
            sideEffects="Unknown",
            timeoutSeconds=30,
            admissionReviewVersions=["v1beta1"],
        )
