"""RBAC of a chart: the operator's rights in the whole cluster, or only in some namespaces."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from sampan.project.bundle.helm.references import ReferenceRewriter
from sampan.project.bundle.helm.template import Expression
from sampan.project.bundle.helm.workload import annotation_lines

_GROUP: Final = "rbac.authorization.k8s.io"
SCOPED: Final = "-scoped"
"""End of the name of a Role that replaces a ClusterRole in the operator's own namespace, where it has another Role."""

Rules = Sequence[Mapping[str, Any]]


def bound_cluster_roles(objects: Iterable[Mapping[str, Any]]) -> frozenset[str]:
    """Return the names of the ClusterRoles that are bound in all namespaces."""
    return frozenset(
        each["roleRef"]["name"]
        for each in objects
        if each["kind"] == "ClusterRoleBinding" and each["roleRef"]["kind"] == "ClusterRole"
    )


def scoped_pair(name: str, rules: Rules, subjects: Any, names: ReferenceRewriter, labels: Any) -> list[dict[str, Any]]:
    """Return a Role and its binding in the namespace `$watched` of a template."""
    end = f'{name.removeprefix(names.base)}{SCOPED}" "{name.removeprefix(names.base)}'
    own = names.helper("name", f'(list $ (ternary "{end}" (eq $watched $.Release.Namespace)))')
    metadata = {
        "name": own,
        "namespace": Expression("$watched"),
        "labels": labels,
        "": annotation_lines(names.base, {}),
    }
    head = {"apiVersion": f"{_GROUP}/v1"}
    reference = {"apiGroup": _GROUP, "kind": "Role", "name": own}
    return [
        {**head, "kind": "Role", "metadata": metadata, "rules": rules},
        {**head, "kind": "RoleBinding", "metadata": metadata, "roleRef": reference, "subjects": subjects},
    ]
