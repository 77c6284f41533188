"""`PodRange`: a range from which nodes get the addresses of their Pods."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PodRange:
    """Range of Pod addresses. Each node gets a part of it."""

    cidr: str
    node_mask_size: int
    """Size of the part of one node, as a prefix length."""
