"""The ClusterRole that adds metrics to the roles `view`, `edit` and `admin`.

Source: metrics-server manifests/base/rbac.yaml (0.9).
"""

from typing import Final

from sampan.core.object import Object
from sampan.server.authorization.bootstrap_policy.bindings import aggregation_label
from sampan.server.authorization.bootstrap_policy.objects import AUTO_UPDATE

_ROLES: Final = ("admin", "edit", "view")


def reader_role() -> Object:
    """Return the ClusterRole, which is part of `admin`, `edit` and `view`."""
    labels = {aggregation_label(role): "true" for role in _ROLES}
    return {
        "kind": "ClusterRole",
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "metadata": {
            "name": "system:aggregated-metrics-reader",
            "labels": {"kubernetes.io/bootstrapping": "rbac-defaults", **labels},
            "annotations": {AUTO_UPDATE: "true"},
        },
        "rules": [{"apiGroups": ["metrics.k8s.io"], "resources": ["pods", "nodes"], "verbs": ["get", "list", "watch"]}],
    }
