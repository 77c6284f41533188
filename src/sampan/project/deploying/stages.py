"""`stage_of`: the order in which the objects of an operator are applied. Removal takes the reverse order."""

from enum import IntEnum
from typing import Final

from sampan.core.gvk import GroupKind


class Stage(IntEnum):
    """Stages, in the order of their application."""

    NAMESPACES = 0
    DEFINITIONS = 1
    """CRDs. The next stage begins when all are established."""
    REMAINING = 2
    """Accounts, rights, Services and settings, which the Pods need."""
    WORKLOADS = 3
    """Deployments. The next stage begins when all are ready."""
    WEBHOOKS = 4
    """Configurations of webhooks: before the Pods serve them, they would refuse the writes that start the Pods."""


CRD: Final = GroupKind("apiextensions.k8s.io", "CustomResourceDefinition")
NAMESPACE: Final = GroupKind("", "Namespace")
DEPLOYMENT: Final = GroupKind("apps", "Deployment")
WEBHOOK_KINDS: Final = (
    GroupKind("admissionregistration.k8s.io", "MutatingWebhookConfiguration"),
    GroupKind("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"),
)
_STAGES: Final = {
    NAMESPACE: Stage.NAMESPACES,
    CRD: Stage.DEFINITIONS,
    DEPLOYMENT: Stage.WORKLOADS,
    GroupKind("apps", "StatefulSet"): Stage.WORKLOADS,
    GroupKind("apps", "DaemonSet"): Stage.WORKLOADS,
    **dict.fromkeys(WEBHOOK_KINDS, Stage.WEBHOOKS),
}


def stage_of(kind: GroupKind) -> Stage:
    """Return the stage in which objects of a kind are applied."""
    return _STAGES.get(kind, Stage.REMAINING)
