"""`Quota`: a ResourceQuota as admission needs it; `LimitedResource`: a limit that applies without a quota.

Source: k8s.io/apiserver pkg/admission/plugin/resourcequota/{controller.go,apis/resourcequota/types.go} (1.36).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from sampan.core.field import Path, aggregate, required
from sampan.core.numbers.quantity import Quantity
from sampan.core.object import Object
from sampan.core.quota import Usage, scope_selectors
from sampan.core.quota.usage import amounts


@dataclass(frozen=True, slots=True)
class Quota:
    """State of a quota. `hard` and `used` are from its status: limits are not enforced before usage is counted."""

    name: str
    revision: str
    hard: Usage
    used: Usage
    selectors: tuple[Object, ...]

    def with_used(self, used: Usage) -> "Quota":
        """Return the quota with this usage."""
        return replace(self, used=used)


def read_quota(obj: Object) -> Quota:
    """Parse a quota. **Raises** `ValueError` for malformed quantities."""
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
    """Resource that may be used only if a quota covers it."""

    group: str
    resource: str
    contains: tuple[str, ...] = ()
    """The limit applies to quota entries whose name contains one of these texts."""
    scopes: tuple[Object, ...] = field(default=())


def read_limited(configuration: Object) -> tuple[LimitedResource, ...]:
    """Parse the `limitedResources` of a ResourceQuotaConfiguration. **Raises** `ValueError`."""
    limited, faults = [], []
    for index, given in enumerate(configuration.get("limitedResources") or ()):
        if not given.get("resource"):
            faults.append(required(Path("limitedResources").index(index).child("resource")))
            continue
        contains, scopes = given.get("matchContains") or (), given.get("matchScopes") or ()
        limited.append(LimitedResource(given.get("apiGroup", ""), given["resource"], tuple(contains), tuple(scopes)))
    if faults:
        raise ValueError(aggregate(faults))
    return tuple(limited)


def shown(usage: Mapping[str, Quantity]) -> str:
    """Return quantities as text: `cpu=1,pods=2`."""
    return ",".join(f"{name}={usage[name]}" for name in sorted(usage))
