"""Which taints a Pod tolerates. Source: component-helpers scheduling/corev1/helpers.go (1.36)."""

from collections.abc import Iterable

from sampan.scheduler.views import Taint, Toleration

HARD = ("NoSchedule", "NoExecute")
"""Effects that keep Pods off a Node."""


def tolerates(tolerations: Iterable[Toleration], taint: Taint) -> bool:
    """Whether one of the tolerations is for the taint."""
    return any(_tolerates(toleration, taint) for toleration in tolerations)


def _tolerates(toleration: Toleration, taint: Taint) -> bool:
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator == "Exists":
        return True
    if toleration.operator in ("Lt", "Gt"):
        return _compares(toleration, taint)
    return toleration.operator in ("", "Equal") and toleration.value == taint.value


def _compares(toleration: Toleration, taint: Taint) -> bool:
    try:
        wanted, found = int(toleration.value), int(taint.value)
    except ValueError:
        return False
    return found < wanted if toleration.operator == "Lt" else found > wanted


def untolerated(tolerations: Iterable[Toleration], taints: Iterable[Taint]) -> Taint | None:
    """The first taint that keeps the Pod off."""
    return next((taint for taint in taints if taint.effect in HARD and not tolerates(tolerations, taint)), None)
