"""Rules of evictions: checks against the disruption budget, and its update.

Source: pkg/registry/core/pod/storage/eviction.go, component-helpers apps/poddisruptionbudget/helpers.go (1.36).
"""

from collections.abc import Iterable
from typing import Final

from sampan.core import errors
from sampan.core.gvk import GroupResource
from sampan.core.object import Object
from sampan.core.selectors import selector_from_label_selector

DISRUPTED_PODS_MAX: Final = 2000
"""Maximum number of evictions that the budget controller has not processed. Above it, the controller counts as
unavailable.
"""
RETRY_AFTER_S: Final = 10
_BUDGETS: Final = GroupResource("policy", "poddisruptionbudget")
_ALLOWED: Final = "DisruptionAllowed"
_SYNC_FAILED: Final = "SyncFailed"
_ENDED: Final = ("Succeeded", "Failed")


def ignores_budgets(pod: Object) -> bool:
    """Return True if evicting the pod harms no application: it has ended, has not started, or is being deleted."""
    phase = (pod.get("status") or {}).get("phase")
    return phase in _ENDED or phase == "Pending" or _is_terminating(pod)


def may_become_ready(pod: Object) -> bool:
    """Return True if the pod can still become ready: it has not ended and is not being deleted."""
    return (pod.get("status") or {}).get("phase") not in _ENDED and not _is_terminating(pod)


def is_ready(pod: Object) -> bool:
    """Return True if a budget counts the pod as healthy."""
    conditions = (pod.get("status") or {}).get("conditions") or ()
    return any(c.get("type") == "Ready" and c.get("status") == "True" for c in conditions)


def budgets_of(pod: Object, budgets: Iterable[Object]) -> list[Object]:
    """Return the budgets (of the pod's namespace) that select the pod. A budget with an invalid selector selects
    nothing.
    """
    labels = pod["metadata"].get("labels") or {}
    return [budget for budget in budgets if _selects(budget, labels)]


def allows_unready_eviction(budget: Object) -> bool:
    """Return True if the budget permits evicting a pod that is not ready, without counting it."""
    if (budget.get("spec") or {}).get("unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    status = budget.get("status") or {}
    desired: int = status.get("desiredHealthy", 0)
    return bool(status.get("currentHealthy", 0) >= desired > 0)


def take_disruption(budget: Object, pod_name: str, now: str) -> None:
    """Count one disruption in a budget's status, in place, for a pod that is about to be deleted.

    `now` is an RFC 3339 time. Raises `StatusError`: 429 if the budget allows none, 403 if its status is inconsistent.
    """
    metadata, status = budget["metadata"], budget.setdefault("status", {})
    name = metadata["name"]
    if status.get("observedGeneration", 0) < metadata.get("generation", 0):
        raise still_processed(name)
    allowed: int = status.get("disruptionsAllowed", 0)
    disrupted = status.get("disruptedPods") or {}
    if allowed < 0:
        raise errors.forbidden(_BUDGETS, name, "pdb disruptions allowed is negative")
    if len(disrupted) > DISRUPTED_PODS_MAX:
        text = "DisruptedPods map too big - too many evictions not confirmed by PDB controller"
        raise errors.forbidden(_BUDGETS, name, text)
    if not allowed:
        raise _refused(_denial_message(name, status))
    status["disruptionsAllowed"] = allowed - 1
    if allowed == 1:
        _set_exhausted(status, now)
    status["disruptedPods"] = {**disrupted, pod_name: now}


def still_processed(budget_name: str) -> errors.StatusError:
    """Return a 429 error that requests a retry: the budget controller has not processed the latest state."""
    text = f"The disruption budget {budget_name} is still being processed by the server."
    return _refused(text, retry_after_s=RETRY_AFTER_S)


def _is_terminating(pod: Object) -> bool:
    return bool(pod["metadata"].get("deletionTimestamp"))


def _selects(budget: Object, labels: dict[str, str]) -> bool:
    try:
        return selector_from_label_selector((budget.get("spec") or {}).get("selector")).matches(labels)
    except ValueError:
        return False


def _refused(cause: str, *, retry_after_s: int = 0) -> errors.StatusError:
    details: errors.Details = {"causes": [{"reason": "DisruptionBudget", "message": cause}]}
    if retry_after_s:
        details["retryAfterSeconds"] = retry_after_s
    text = "Cannot evict pod as it would violate the pod's disruption budget."
    return errors.StatusError(errors.Reason.TOO_MANY_REQUESTS, 429, text, details=details)


def _denial_message(name: str, status: Object) -> str:
    """Return the reason why no disruption is allowed.

    A failed sync is checked first, because after it the counters are not reliable.
    """
    conditions = status.get("conditions") or ()
    found: Object = next((c for c in conditions if c.get("type") == _ALLOWED and c.get("status") == "False"), {})
    reason, message = found.get("reason", ""), found.get("message", "")
    current, desired = status.get("currentHealthy", 0), status.get("desiredHealthy", 0)
    none = f"The disruption budget {name} does not allow evicting pods currently"
    if message and reason == _SYNC_FAILED:
        return f"{none} because it failed sync: {message}"
    if current <= desired:
        return f"The disruption budget {name} needs {desired} healthy pods and has {current} currently"
    return f"{none} ({reason}): {message}" if message else none


def _set_exhausted(status: Object, now: str) -> None:
    """Set the condition that no disruption is allowed. The transition time changes only with the value."""
    conditions = status.setdefault("conditions", [])
    found = next((c for c in conditions if c.get("type") == _ALLOWED), None)
    if found is None:
        found = {"type": _ALLOWED}
        conditions.append(found)
    if found.get("status") != "False":
        found |= {"status": "False", "lastTransitionTime": now}
    found |= {"reason": "InsufficientPods", "message": ""}
    if status.get("observedGeneration"):
        found["observedGeneration"] = status["observedGeneration"]
