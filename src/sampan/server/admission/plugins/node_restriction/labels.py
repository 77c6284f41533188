"""Labels that a kubelet may set on its Node.

Source: kubernetes plugin/pkg/admission/noderestriction/admission.go, k8s.io/kubelet pkg/apis/well_known_labels.go
(1.36).
"""

from collections.abc import Mapping
from typing import Final

_RESTRICTED: Final = "node-restriction.kubernetes.io"
_OWN_DOMAINS: Final = ("kubelet.kubernetes.io", "node.kubernetes.io")
_OWN: Final = frozenset(
    {
        "kubernetes.io/hostname",
        "topology.kubernetes.io/zone",
        "topology.kubernetes.io/region",
        "failure-domain.beta.kubernetes.io/zone",
        "failure-domain.beta.kubernetes.io/region",
        "beta.kubernetes.io/instance-type",
        "node.kubernetes.io/instance-type",
        "kubernetes.io/os",
        "kubernetes.io/arch",
        "beta.kubernetes.io/os",
        "beta.kubernetes.io/arch",
    }
)


def forbidden_changes(labels: Mapping[str, str], before: Mapping[str, str]) -> list[str]:
    """Return the labels that a kubelet has changed without permission, sorted."""
    changed = {name for name, value in labels.items() if before.get(name) != value} | (before.keys() - labels.keys())
    return sorted(name for name in changed if _is_forbidden(name))


def _is_forbidden(name: str) -> bool:
    domain, slash, _ = name.partition("/")
    if not slash:
        return False
    if _is_in(domain, _RESTRICTED):
        return True
    is_kubernetes = _is_in(domain, "kubernetes.io") or _is_in(domain, "k8s.io")
    return is_kubernetes and name not in _OWN and not any(_is_in(domain, own) for own in _OWN_DOMAINS)


def _is_in(domain: str, parent: str) -> bool:
    return domain == parent or domain.endswith(f".{parent}")
