"""Deprecated labels of nodes. Source: pkg/api/node/util.go (1.36)."""

from __future__ import annotations

from sampan.core.field import Path
from sampan.core.validation.names import label_value_errors
from sampan.kinds import core_v1

DEPRECATED = {
    "beta.kubernetes.io/arch": 'deprecated since v1.14; use "kubernetes.io/arch" instead',
    "beta.kubernetes.io/os": 'deprecated since v1.14; use "kubernetes.io/os" instead',
    "failure-domain.beta.kubernetes.io/region": 'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
    "failure-domain.beta.kubernetes.io/zone": 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
    "beta.kubernetes.io/instance-type": 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
    "app.kubernetes.io/created-by": "deprecated since v1.9",
    "scheduler.alpha.kubernetes.io/preferAvoidPods": "deprecated since v1.22; use Taints and Tolerations instead",
    "node-role.kubernetes.io/master": 'use "node-role.kubernetes.io/control-plane" instead',
}
"""Text of the warning for each label."""


def term_warnings(term: core_v1.NodeSelectorTerm, path: Path, *, check_values: bool) -> list[str]:
    """Return warnings for deprecated labels in a NodeSelectorTerm.

    With `check_values`, for preferred terms, invalid label values are reported too.
    """
    found = []
    for i, expression in enumerate(term.get("matchExpressions", ())):
        key, at = expression.get("key", ""), path.child("matchExpressions").index(i)
        if key in DEPRECATED:
            found.append(f"{at.child('key')}: {key} is {DEPRECATED[key]}")
        if check_values:
            for j, value in enumerate(expression.get("values") or ()):
                where = at.child("values").index(j)
                found.extend(f"{where}: {value} is invalid, {text}" for text in label_value_errors(value))
    return found
