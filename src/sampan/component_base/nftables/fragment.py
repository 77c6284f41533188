"""`Fragment`: a part of a table of nftables, as a value. The table is the union of its fragments."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple


class ElementKey(NamedTuple):
    """Name of a set or map, and the key of an element in it."""

    container: str
    key: str


@dataclass(frozen=True, slots=True)
class Fragment:
    """Chains, sets and elements that belong together, such as those of one object."""

    chains: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Rules of each chain."""
    hooks: Mapping[str, str] = field(default_factory=dict)
    """Type, hook and priority of the chains that the kernel calls."""
    sets: Mapping[str, str] = field(default_factory=dict)
    """Definition of each set or map, with the keyword: `set { type ipv4_addr; }`."""
    elements: Mapping[ElementKey, str] = field(default_factory=dict)
    """Value of each element of a map; empty for an element of a set."""


EMPTY = Fragment()
