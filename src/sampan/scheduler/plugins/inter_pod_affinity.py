"""InterPodAffinity: affinity and anti-affinity between Pods, including anti-affinity of existing Pods.

Source: plugins/interpodaffinity/{filtering,scoring,plugin}.go (1.36).
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

import numpy as np

from sampan.scheduler.cache.arrays import Ints, Mask
from sampan.scheduler.cache.topology import Domains
from sampan.scheduler.constraints import AffinityTerm
from sampan.scheduler.framework.cycle import UNRESOLVABLE, Cycle
from sampan.scheduler.framework.plugin import MAX_NODE_SCORE, ClusterEvent, Hint, WhatIf, always
from sampan.scheduler.pod_info import PodInfo
from sampan.scheduler.views import Labels

_NOT_NEAR: Final = 1
_TOO_NEAR: Final = 2
_NOT_DESIRED: Final = 4
_REASONS: Final = {
    _NOT_NEAR: "node(s) didn't match pod affinity rules",
    _TOO_NEAR: "node(s) didn't match pod anti-affinity rules",
    _NOT_DESIRED: "node(s) didn't satisfy existing pods anti-affinity rules",
}

Namespaces = Mapping[str, Labels]


def matches(term: AffinityTerm, pod: PodInfo, namespaces: Namespaces) -> bool:
    """Return True if a term selects a Pod."""
    if pod.namespace not in term.namespaces:
        selector = term.namespace_selector
        if selector is None or not selector.matches(namespaces.get(pod.namespace, {})):
            return False
    return term.selector.matches(pod.labels)


@dataclass(slots=True)
class _Summed:
    """A term with the number of Pods that it selects in each domain."""

    term: AffinityTerm
    domains: Domains
    sums: Ints

    def near(self) -> Ints:
        """Return, for each row, the number of selected Pods in its domain."""
        return self.domains.spread(self.sums)


@dataclass(slots=True)
class _State:
    near: list[_Summed] = field(default_factory=list)
    far: list[_Summed] = field(default_factory=list)
    existing: list[_Summed] = field(default_factory=list)
    """Anti-affinity terms of existing Pods that select this Pod."""
    is_first: bool = False
    """True if the Pod's affinity terms select the Pod itself, so that it may be the first of its group."""

    def is_unmatched(self, change: int = 0) -> bool:
        """Return True if no Pod in the cluster matches the affinity terms after `change` more Pods match."""
        return all(int(each.sums.sum()) + change == 0 for each in self.near)


def _affects(pod: PodInfo, old: Any, new: Any) -> bool:
    """Return True if a term of the changed Pod or of the waiting Pod selects the other.

    All namespace selectors count as matching.
    """
    other: PodInfo = new or old
    own = (*pod.required_affinity(), *pod.required_anti_affinity())
    return any(_may_select(term, other) for term in own) or any(
        _may_select(term, pod) for term in other.required_anti_affinity()
    )


def _may_select(term: AffinityTerm, pod: PodInfo) -> bool:
    in_namespace = term.namespace_selector is not None or pod.namespace in term.namespaces
    return in_namespace and term.selector.matches(pod.labels)


class InterPodAffinity:
    """Filters and scores Nodes by the Pods in their domains."""

    name: ClassVar[str] = "InterPodAffinity"
    events: ClassVar[Mapping[ClusterEvent, Hint]] = {
        ClusterEvent.POD_ADDED: _affects,
        ClusterEvent.POD_UPDATED: always,
        ClusterEvent.POD_DELETED: _affects,
        ClusterEvent.NODE_ADDED: always,
        ClusterEvent.NODE_LABELS: always,
        ClusterEvent.NAMESPACE_LABELS: always,
        ClusterEvent.SELF_UPDATED: always,
    }

    def __init__(self, *, hard_weight: int = 1, ignore_existing_preferences: bool = False) -> None:
        """Create the plugin; `hard_weight` is the score for required affinity of other Pods to this Pod."""
        self._hard_weight = hard_weight
        self._ignore_preferences = ignore_existing_preferences

    # Filter

    def filter(self, cycle: Cycle) -> Ints | None:
        """Reject Nodes whose domains violate affinity or anti-affinity."""
        state = self._state(cycle)
        if not (state.near or state.far or state.existing):
            return None
        cycle.state[self.name] = state
        codes = cycle.zeros()
        if state.near:
            labelled = np.logical_and.reduce([each.domains.ids >= 0 for each in state.near])
            near = np.logical_and.reduce([each.near() > 0 for each in state.near])
            may_be_first = state.is_first and state.is_unmatched()
            codes[~(labelled if may_be_first else labelled & near)] = _NOT_NEAR | UNRESOLVABLE
        for code, summed in ((_TOO_NEAR, state.far), (_NOT_DESIRED, state.existing)):
            for each in summed:
                codes[(codes == 0) & (each.near() > 0)] = code
        return codes

    def reasons(self, cycle: Cycle, code: int) -> Sequence[str]:
        """Return the message for a code."""
        return (_REASONS[code],)

    def what_if(self, cycle: Cycle, what_if: WhatIf) -> int:
        """Return the bits of the reasons that reject the Node with changed Pods."""
        pod, row, namespaces = cycle.pod, what_if.row, cycle.cache.namespaces
        for added in what_if.added:
            for term in added.required_anti_affinity():
                if term.topology_key in cycle.nodes.labels(row) and matches(term, pod, namespaces):
                    return _NOT_DESIRED
        state: _State | None = cycle.state.get(self.name)
        if state is None:
            return 0
        return self._near_enough(cycle, state, what_if) or self._far_enough(cycle, state, what_if)

    def _near_enough(self, cycle: Cycle, state: _State, what_if: WhatIf) -> int:
        if not state.near:
            return 0
        all_of = _meets_all(cycle.pod.required_affinity(), cycle.cache.namespaces)
        change = sum(map(all_of, what_if.added)) - sum(map(all_of, what_if.removed))
        places = [int(each.domains.ids[what_if.row]) for each in state.near]
        if min(places) < 0:
            return _NOT_NEAR | UNRESOLVABLE
        if all(each.sums[place] + change > 0 for each, place in zip(state.near, places, strict=True)):
            return 0
        return 0 if state.is_first and state.is_unmatched(change) else _NOT_NEAR | UNRESOLVABLE

    def _far_enough(self, cycle: Cycle, state: _State, what_if: WhatIf) -> int:
        namespaces = cycle.cache.namespaces
        for each in state.far:
            place = int(each.domains.ids[what_if.row])
            change = sum(matches(each.term, pod, namespaces) for pod in what_if.added)
            change -= sum(matches(each.term, pod, namespaces) for pod in what_if.removed)
            if place >= 0 and each.sums[place] + change > 0:
                return _TOO_NEAR
        for each in state.existing:
            place = int(each.domains.ids[what_if.row])
            gone = sum(pod.required_anti_affinity().count(each.term) for pod in what_if.removed)
            if place >= 0 and each.sums[place] - gone > 0:
                return _NOT_DESIRED
        return 0

    def _state(self, cycle: Cycle) -> _State:
        pod, namespaces, topology = cycle.pod, cycle.cache.namespaces, cycle.nodes.topology
        state = _State()
        for kind, use in topology.terms("anti"):
            if matches(use.term, pod, namespaces):
                assert kind[0] == "anti"
                domains = topology.domains(use.term.topology_key)
                state.existing.append(_Summed(use.term, domains, domains.sums(use.counts)))
        affinity = pod.required_affinity()
        if affinity:
            all_of = _meets_all(affinity, namespaces)
            state.is_first = all_of(pod)
            counts = topology.counts(("all of", tuple(affinity)), all_of)
            for term in affinity:
                domains = topology.domains(term.topology_key)
                state.near.append(_Summed(term, domains, domains.sums(counts)))
        state.far = [_summed(cycle, term) for term in pod.required_anti_affinity()]
        return state

    # Score

    def score(self, cycle: Cycle, feasible: Mask) -> Ints | None:
        """For each Node, sum the weights of the preferred terms that its domains satisfy: terms of this Pod, and of
        other Pods.
        """
        pod, topology = cycle.pod, cycle.nodes.topology
        preferred = pod.preferred_terms()
        total = cycle.zeros()
        any_preference = False
        for each in preferred:
            any_preference = True
            total += _summed(cycle, each.term).near() * each.weight
        if preferred or not self._ignore_preferences:
            for kind, use in topology.terms("preferred", "required"):
                weight = self._hard_weight if kind[0] == "required" else kind[1]
                if weight and matches(use.term, pod, cycle.cache.namespaces):
                    any_preference = True
                    domains = topology.domains(use.term.topology_key)
                    total += domains.spread(domains.sums(use.counts)) * weight
        return _rescaled(total, feasible) if any_preference else None


def _rescaled(total: Ints, feasible: Mask) -> Ints | None:
    """Scale scores so that the lowest feasible row gets 0 and the highest 100; None if all are equal."""
    values = total[feasible]
    least, most = int(values.min()), int(values.max())
    if least == most:
        return None
    # Infeasible rows may get values outside the range, which are ignored.
    return (MAX_NODE_SCORE * ((total - least) / (most - least))).astype(np.int64)


def _meets_all(terms: Iterable[AffinityTerm], namespaces: Namespaces) -> Callable[[PodInfo], bool]:
    desired = tuple(terms)
    return lambda pod: all(matches(term, pod, namespaces) for term in desired)


def _summed(cycle: Cycle, term: AffinityTerm) -> _Summed:
    topology, namespaces = cycle.nodes.topology, cycle.cache.namespaces
    key: Hashable = ("term", term.selector, term.namespaces, term.namespace_selector)
    counts = topology.counts(key, lambda pod: matches(term, pod, namespaces))
    domains = topology.domains(term.topology_key)
    return _Summed(term, domains, domains.sums(counts))
