"""A ResourceQuota as its admission sees it, and what the configuration limits where there is none.

Source: k8s.io/apiserver pkg/admission/plugin/resourcequota/{controller.go,apis/resourcequota/types.go} (1.36).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from sampan.core.field import Path, aggregate, required
from sampan.core.object import Object
from sampan.core.quantity import Quantity
from sampan.core.quota import Usage, scope_selectors
from sampan.core.quota.usage import amounts


@dataclass(frozen=True, slots=True)
class Quota:
    """One state of a quota. `hard` and `used` are those of its status: what is not counted yet is not enforced."""

    name: str
    revision: str
    hard: Usage
    used: Usage
    selectors: tuple[Object, ...]

    def with_used(self, used: Usage) -> "Quota":
        """After something was taken."""
        return replace(self, used=used)


def read_quota(obj: Object) -> Quota:
    """Raises `ValueError` for amounts that cannot be read."""
    status = obj.get("status") or {}
    metadata = obj["metadata"]
    return Quota(
        metadata["name"],
        metadata["resourceVersion"],
        amounts(status.get("hard")),
        amounts(status.get("used")),
        tuple(scope_selectors(obj)),
    )


@dataclass(frozen=True, slots=True)
class LimitedResource:
    """What may be taken only where a quota covers it."""

    group: str
    resource: str
    contains: tuple[str, ...] = ()
    """Parts of names of limits."""
    scopes: tuple[Object, ...] = field(default=())


def read_limited(configuration: Object) -> tuple[LimitedResource, ...]:
    """The `limitedResources` of a ResourceQuotaConfiguration. Raises `ValueError`."""
    limited, faults = [], []
    for index, said in enumerate(configuration.get("limitedResources") or ()):
        if not said.get("resource"):
            faults.append(required(Path("limitedResources").index(index).child("resource")))
            continue
        contains, scopes = said.get("matchContains") or (), said.get("matchScopes") or ()
        limited.append(LimitedResource(said.get("apiGroup", ""), said["resource"], tuple(contains), tuple(scopes)))
    if faults:
        raise ValueError(aggregate(faults))
    return tuple(limited)


def shown(usage: Mapping[str, Quantity]) -> str:
    """`cpu=1,pods=2`."""
    return ",".join(f"{name}={usage[name]}" for name in sorted(usage))
