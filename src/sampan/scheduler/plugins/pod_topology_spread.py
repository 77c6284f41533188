"""PodTopologySpread: spreads similar Pods evenly over zones, hosts and other domains.

Source: plugins/podtopologyspread/{common,filtering,scoring,plugin}.go (1.36).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Protocol

import numpy as np

from sampan.core.label_selectors import Selector
from sampan.scheduler.cache.arrays import Ints, Mask
from sampan.scheduler.cache.topology import Domains
from sampan.scheduler.constraints import Spread, selector_with_keys
from sampan.scheduler.framework.cycle import UNRESOLVABLE, Cycle
from sampan.scheduler.framework.plugin import MAX_NODE_SCORE, ClusterEvent, Hint, WhatIf, always
from sampan.scheduler.plugins.node_affinity import matching_nodes
from sampan.scheduler.plugins.taint_toleration import tolerated_nodes
from sampan.scheduler.pod_info import PodInfo

HOSTNAME: Final = "kubernetes.io/hostname"
ZONE: Final = "topology.kubernetes.io/zone"
_UNEVEN: Final = 1
_NO_LABEL: Final = 2
_REASON: Final = "node(s) didn't match pod topology spread constraints"


class Selectors(Protocol):
    """Provides default selectors."""

    def selector_for(self, pod: PodInfo) -> Selector:
        """Return the selector of the Pods with the same Services and controller; empty if there are none."""
        ...


def default_constraint(max_skew: int, topology_key: str, *, hard: bool = False) -> Spread:
    """Return a default constraint, for Pods without constraints. Its selector is chosen for each Pod."""
    return Spread(max_skew, topology_key, hard, Selector(), (), 1, True, False)


SYSTEM_DEFAULTS: Final = (default_constraint(3, ZONE), default_constraint(5, HOSTNAME))


@dataclass(slots=True)
class _Counted:
    """A hard constraint with its counts."""

    spread: Spread
    selector: Selector
    domains: Domains
    eligible: Mask
    sums: Ints
    """Number of Pods by domain."""
    present: Mask
    """Domains with eligible Nodes."""
    own: int
    """1 if the Pod matches its own constraint, else 0."""

    def least(self, sums: Ints) -> int | None:
        """Return the lowest count of a domain; 0 if there are fewer than `min_domains`, None if
        there are no domains.
        """
        if int(self.present.sum()) < self.spread.min_domains:
            return 0
        return int(sums[self.present].min()) if self.present.any() else None


def _matching(pod: PodInfo, old: Any, new: Any) -> bool:
    """Return True if an added or deleted Pod matches a constraint of the waiting Pod."""
    other = new or old
    return other.namespace == pod.namespace and any(
        selector_with_keys(spread, pod.labels).matches(other.labels) for spread in pod.constraints.spread
    )


def _has_keys(pod: PodInfo, old: Any, new: Any) -> bool:
    return all(spread.topology_key in new.metadata.labels for spread in pod.constraints.spread if spread.hard)


class PodTopologySpread:
    """Filters and scores Nodes by the spread of matching Pods."""

    name: ClassVar[str] = "PodTopologySpread"
    events: ClassVar[Mapping[ClusterEvent, Hint]] = {
        ClusterEvent.POD_ADDED: _matching,
        ClusterEvent.POD_UPDATED: always,
        ClusterEvent.POD_DELETED: _matching,
        ClusterEvent.NODE_ADDED: _has_keys,
        ClusterEvent.NODE_LABELS: always,
        ClusterEvent.NODE_TAINTS: always,
        ClusterEvent.NODE_DELETED: always,
        ClusterEvent.SELF_UPDATED: always,
    }

    def __init__(self, selectors: Selectors, defaults: Sequence[Spread] | None = None) -> None:
        """Create the plugin; `defaults` apply to Pods without constraints. None: the system defaults."""
        self._selectors = selectors
        self._defaults = SYSTEM_DEFAULTS if defaults is None else tuple(defaults)
        self._system = defaults is None

    # Filter

    def filter(self, cycle: Cycle) -> Ints | None:
        """Reject Nodes in domains that would exceed the skew."""
        constraints = self._of(cycle.pod, hard=True)
        if not constraints:
            return None
        domains = [cycle.nodes.topology.domains(spread.topology_key) for spread, _ in constraints]
        labelled = cycle.nodes.alive & np.logical_and.reduce([each.ids >= 0 for each in domains])
        codes = cycle.zeros()
        counted: list[_Counted] = []
        for (spread, selector), where in zip(constraints, domains, strict=True):
            each = self._count(cycle, spread, selector, labelled & _included(cycle, spread), where)
            counted.append(each)
            least = each.least(each.sums)
            codes[(codes == 0) & (where.ids < 0)] = _NO_LABEL | UNRESOLVABLE
            if least is not None:
                uneven = where.spread(each.sums) + each.own - least > spread.max_skew
                codes[(codes == 0) & uneven] = _UNEVEN
        cycle.state[self.name] = counted
        return codes

    def reasons(self, cycle: Cycle, code: int) -> Sequence[str]:
        """Return the message."""
        return (f"{_REASON} (missing required label)" if code & _NO_LABEL else _REASON,)

    def what_if(self, cycle: Cycle, what_if: WhatIf) -> int:
        """Return the code of the Node with changed Pods."""
        row = what_if.row
        counted: list[_Counted] = cycle.state.get(self.name, [])
        for each in counted:
            domain = int(each.domains.ids[row])
            if domain < 0:
                return _NO_LABEL | UNRESOLVABLE
            sums = each.sums
            if each.eligible[row]:
                matches = _matcher(cycle.pod.namespace, each.selector)
                change = sum(map(matches, what_if.added)) - sum(map(matches, what_if.removed))
                if change:
                    sums = sums.copy()
                    sums[domain] += change
            least = each.least(sums)
            if least is not None and int(sums[domain]) + each.own - least > each.spread.max_skew:
                return _UNEVEN
        return 0

    def _count(self, cycle: Cycle, spread: Spread, selector: Selector, eligible: Mask, domains: Domains) -> _Counted:
        counts = _counts(cycle, selector)
        ids = domains.ids[eligible]
        size = len(domains.numbers)
        sums = np.bincount(ids, weights=counts[eligible], minlength=size).astype(np.int64)
        present = np.bincount(ids, minlength=size) > 0
        own = int(selector.matches(cycle.pod.labels))
        return _Counted(spread, selector, domains, eligible, sums, present, own)

    # Score

    def score(self, cycle: Cycle, feasible: Mask) -> Ints | None:
        """Score Nodes by the number of matching Pods in their domains; small domains count less than large ones."""
        constraints = self._of(cycle.pod, hard=False)
        if not constraints:
            return None
        topology = cycle.nodes.topology
        needs_all = bool(cycle.pod.constraints.spread) or not self._system
        labelled = cycle.nodes.alive
        if needs_all:
            ids = [topology.domains(spread.topology_key).ids >= 0 for spread, _ in constraints]
            labelled = labelled & np.logical_and.reduce(ids)
        scored = feasible & labelled
        raw = np.zeros(cycle.nodes.size, dtype=np.float64)
        for spread, selector in constraints:
            raw += self._fullness(cycle, spread, selector, (scored, labelled))
        return _emptiest(np.floor(raw + 0.5).astype(np.int64), scored)

    def _fullness(self, cycle: Cycle, spread: Spread, selector: Selector, masks: tuple[Mask, Mask]) -> Any:
        scored, labelled = masks
        domains = cycle.nodes.topology.domains(spread.topology_key)
        counts = _counts(cycle, selector)
        if spread.topology_key == HOSTNAME:
            size = int(np.count_nonzero(scored))
        else:
            size = int(np.count_nonzero(np.bincount(domains.ids[scored] + 1)))  # A missing label counts as a domain.
            eligible = labelled & _included(cycle, spread) & (domains.ids >= 0)
            sums = np.bincount(domains.ids[eligible], weights=counts[eligible], minlength=len(domains.numbers))
            counts = domains.spread(sums.astype(np.int64))
        return np.where(domains.ids >= 0, counts * np.log(size + 2) + (spread.max_skew - 1), 0.0)

    def _of(self, pod: PodInfo, *, hard: bool) -> list[tuple[Spread, Selector]]:
        own = pod.constraints.spread
        if own:
            return [(each, selector_with_keys(each, pod.labels)) for each in own if each.hard == hard]
        defaults = [each for each in self._defaults if each.hard == hard]
        if not defaults:
            return []
        selector = self._selectors.selector_for(pod)
        return [] if selector.empty else [(each, selector) for each in defaults]


def _emptiest(raw: Ints, scored: Mask) -> Ints:
    """Return scores: 100 for the row with the fewest Pods, and 0 for rows that are not scored."""
    values = raw[scored]
    if not len(values):
        return np.zeros_like(raw)
    least, most = int(values.min()), int(values.max())
    if most == 0:
        return np.where(scored, MAX_NODE_SCORE, 0)
    return np.where(scored, MAX_NODE_SCORE * (most + least - raw) // most, 0)


def _included(cycle: Cycle, spread: Spread) -> Mask:
    """Return the mask of the Nodes that the constraint's policies include."""
    included = cycle.nodes.alive
    if spread.honors_affinity and (matching := matching_nodes(cycle)) is not None:
        included = included & matching
    if spread.honors_taints:
        included = included & tolerated_nodes(cycle)
    return included


def _counts(cycle: Cycle, selector: Selector) -> Ints:
    """Return the number of matching Pods on each Node; an empty selector matches no Pods."""
    if selector.empty:
        return cycle.zeros()
    namespace = cycle.pod.namespace
    return cycle.nodes.topology.counts(("spread", namespace, selector), _matcher(namespace, selector))


def _matcher(namespace: str, selector: Selector) -> Any:
    matches, empty = selector.matches, selector.empty

    def is_match(pod: PodInfo) -> bool:
        return not empty and pod.namespace == namespace and not pod.is_terminating and matches(pod.labels)

    return is_match
