"""Strategies of resource.k8s.io."""

from sampan.registry.strategies.resource.claims import ResourceClaimStrategy, ResourceClaimTemplateStrategy
from sampan.registry.strategies.resource.deviceclass import DeviceClassStrategy
from sampan.registry.strategies.resource.slices import ResourceSliceStrategy
from sampan.registry.strategy import Strategy

_GROUP = "resource.k8s.io"

STRATEGIES: dict[tuple[str, str], Strategy] = {
    (_GROUP, "deviceclasses"): DeviceClassStrategy(),
    (_GROUP, "resourceclaims"): ResourceClaimStrategy(),
    (_GROUP, "resourceclaimtemplates"): ResourceClaimTemplateStrategy(),
    (_GROUP, "resourceslices"): ResourceSliceStrategy(),
}
