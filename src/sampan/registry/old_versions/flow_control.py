"""PriorityLevelConfigurations of flowcontrol.apiserver.k8s.io/v1beta1 to v1beta3.

Source: pkg/apis/flowcontrol/v1beta{1,3}/{conversion,defaults}.go (1.36).
"""

from typing import Final

from sampan.core.object import Object
from sampan.registry.old_versions.parts import member

_ZERO_IS_MEANT: Final = "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares"
_SHARES: Final = 30


def assured_shares(obj: Object) -> None:
    """Rename the assured shares to nominal shares."""
    limited = member(obj, "spec", "limited")
    if "limited" in member(obj, "spec"):
        limited["nominalConcurrencyShares"] = limited.pop("assuredConcurrencyShares", None) or _SHARES


def nominal_shares(obj: Object) -> None:
    """Replace zero shares with the default, unless the annotation states that zero is intended.

    v1beta3 could not distinguish zero from absent; kube-apiserver marked intended zeros with the annotation.
    """
    limited = member(obj, "spec", "limited")
    annotations = member(obj, "metadata", "annotations")
    is_meant = annotations.pop(_ZERO_IS_MEANT, None) is not None
    limited["nominalConcurrencyShares"] = limited.get("nominalConcurrencyShares") or (0 if is_meant else _SHARES)
    if is_meant and not annotations:
        del obj["metadata"]["annotations"]
