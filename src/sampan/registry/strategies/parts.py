"""Strategies of subresources that are written as the object is: finalize, approval, ephemeralcontainers, resize."""

from sampan.registry.strategies.certificates.approval import ApprovalStrategy
from sampan.registry.strategies.core import PARTS
from sampan.registry.strategy import Strategy


def part_strategies() -> dict[tuple[str, str, str], Strategy]:
    """(group, resource, subresource) -> strategy."""
    return {
        **{("", resource, subresource): strategy for (resource, subresource), strategy in PARTS.items()},
        ("certificates.k8s.io", "certificatesigningrequests", "approval"): ApprovalStrategy(),
    }
