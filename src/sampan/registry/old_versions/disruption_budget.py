"""PodDisruptionBudgets of policy/v1beta1: an empty selector selected nothing there, and selects everything in v1.

Source: pkg/apis/policy/v1beta1/conversion.go, pkg/apis/policy/helpers.go (1.36).
"""

from typing import Final

from sampan.core.object import Object
from sampan.registry.old_versions.parts import items, member

_MARK: Final = "pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match"
_NOTHING: Final = {"key": _MARK, "operator": "Exists"}


def disruption_budget(obj: Object) -> None:
    """Change the selector so that it selects the same Pods in v1."""
    selector = member(obj, "spec").get("selector")
    if selector is None:
        return
    labels, expressions = member(selector, "matchLabels"), list(items(selector, "matchExpressions"))
    if not labels and not expressions:
        # No Pod has the label, so this selects nothing, as an empty selector did in v1beta1.
        selector["matchExpressions"] = [_NOTHING.copy()]
        return
    # When kube-apiserver stores a v1 budget that selects everything as v1beta1, it marks it with this label.
    labels.pop(_MARK, None)
    if "matchExpressions" in selector:
        selector["matchExpressions"] = [each for each in expressions if each.get("key") != _MARK]
    for name in ("matchLabels", "matchExpressions"):
        if not selector.get(name):
            selector.pop(name, None)
