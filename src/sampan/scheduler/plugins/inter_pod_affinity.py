"""InterPodAffinity: Pods that are to be near to others, or far from them; theirs against this one count too.

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
_NOT_WANTED: Final = 4
_REASONS: Final = {
    _NOT_NEAR: "node(s) didn't match pod affinity rules",
    _TOO_NEAR: "node(s) didn't match pod anti-affinity rules",
    _NOT_WANTED: "node(s) didn't satisfy existing pods anti-affinity rules",
}

Namespaces = Mapping[str, Labels]


def matches(term: AffinityTerm, pod: PodInfo, namespaces: Namespaces) -> bool:
    """Whether a term means a Pod."""
    if pod.namespace not in term.namespaces:
        selector = term.namespace_selector
        if selector is None or not selector.matches(namespaces.get(pod.namespace, {})):
            return False
    return term.selector.matches(pod.labels)


@dataclass(slots=True)
class _Summed:
    """A term with how many Pods it means in each domain."""

    term: AffinityTerm
    domains: Domains
    sums: Ints

    def near(self) -> Ints:
        """The Pods in each row's domain."""
        return self.domains.spread(self.sums)


@dataclass(slots=True)
class _State:
    near: list[_Summed] = field(default_factory=list)
    far: list[_Summed] = field(default_factory=list)
    theirs: list[_Summed] = field(default_factory=list)
    """Anti-affinity of Pods that are there, which means this one."""
    is_first: bool = False
    """The Pod means itself, so that it may be the first of its kind."""

    def nobody_is_near(self, change: int = 0) -> bool:
        """Whether no Pod anywhere is what this one must be near to."""
        return all(int(each.sums.sum()) + change == 0 for each in self.near)


def _concerns(pod: PodInfo, old: Any, new: Any) -> bool:
    """A Pod has come, gone or changed that some term of either means. Selectors of namespaces count as matching."""
    other: PodInfo = new or old
    own = (*pod.required_affinity(), *pod.required_anti_affinity())
    return any(_may_mean(term, other) for term in own) or any(
        _may_mean(term, pod) for term in other.required_anti_affinity()
    )


def _may_mean(term: AffinityTerm, pod: PodInfo) -> bool:
    known = term.namespace_selector is not None or pod.namespace in term.namespaces
    return known and term.selector.matches(pod.labels)


class InterPodAffinity:
    """The filter and the score."""

    name: ClassVar[str] = "InterPodAffinity"
    events: ClassVar[Mapping[ClusterEvent, Hint]] = {
        ClusterEvent.POD_ADDED: _concerns,
        ClusterEvent.POD_UPDATED: always,
        ClusterEvent.POD_DELETED: _concerns,
        ClusterEvent.NODE_ADDED: always,
        ClusterEvent.NODE_LABELS: always,
        ClusterEvent.NAMESPACE_LABELS: always,
        ClusterEvent.SELF_UPDATED: always,
    }

    def __init__(self, *, hard_weight: int = 1, ignore_wishes_of_others: bool = False) -> None:
        """`hard_weight`: what the required affinity of others to this Pod counts in the score."""
        self._hard_weight = hard_weight
        self._ignore_wishes = ignore_wishes_of_others

    # Filter

    def filter(self, cycle: Cycle) -> Ints | None:
        """Nodes that are too far from some, or too near to others, are rejected."""
        state = self._state(cycle)
        if not (state.near or state.far or state.theirs):
            return None
        cycle.state[self.name] = state
        codes = cycle.zeros()
        if state.near:
            labelled = np.logical_and.reduce([each.domains.ids >= 0 for each in state.near])
            near = np.logical_and.reduce([each.near() > 0 for each in state.near])
            may_be_first = state.is_first and state.nobody_is_near()
            codes[~(labelled if may_be_first else labelled & near)] = _NOT_NEAR | UNRESOLVABLE
        for code, summed in ((_TOO_NEAR, state.far), (_NOT_WANTED, state.theirs)):
            for each in summed:
                codes[(codes == 0) & (each.near() > 0)] = code
        return codes

    def reasons(self, cycle: Cycle, code: int) -> Sequence[str]:
        """The text."""
        return (_REASONS[code],)

    def what_if(self, cycle: Cycle, what_if: WhatIf) -> int:
        """What it would say of the Node."""
        pod, row, namespaces = cycle.pod, what_if.row, cycle.cache.namespaces
        for added in what_if.added:
            for term in added.required_anti_affinity():
                if term.topology_key in cycle.nodes.labels(row) and matches(term, pod, namespaces):
                    return _NOT_WANTED
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
        return 0 if state.is_first and state.nobody_is_near(change) else _NOT_NEAR | UNRESOLVABLE

    def _far_enough(self, cycle: Cycle, state: _State, what_if: WhatIf) -> int:
        namespaces = cycle.cache.namespaces
        for each in state.far:
            place = int(each.domains.ids[what_if.row])
            change = sum(matches(each.term, pod, namespaces) for pod in what_if.added)
            change -= sum(matches(each.term, pod, namespaces) for pod in what_if.removed)
            if place >= 0 and each.sums[place] + change > 0:
                return _TOO_NEAR
        for each in state.theirs:
            place = int(each.domains.ids[what_if.row])
            gone = sum(pod.required_anti_affinity().count(each.term) for pod in what_if.removed)
            if place >= 0 and each.sums[place] - gone > 0:
                return _NOT_WANTED
        return 0

    def _state(self, cycle: Cycle) -> _State:
        pod, namespaces, topology = cycle.pod, cycle.cache.namespaces, cycle.nodes.topology
        state = _State()
        for kind, use in topology.terms("anti"):
            if matches(use.term, pod, namespaces):
                assert kind[0] == "anti"
                domains = topology.domains(use.term.topology_key)
                state.theirs.append(_Summed(use.term, domains, domains.sums(use.counts)))
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
        """By the weights of all wishes, this Pod's and the others', that the Node's domains meet."""
        pod, topology = cycle.pod, cycle.nodes.topology
        wishes = pod.preferred_terms()
        total = cycle.zeros()
        any_wish = False
        for wish in wishes:
            any_wish = True
            total += _summed(cycle, wish.term).near() * wish.weight
        if wishes or not self._ignore_wishes:
            for kind, use in topology.terms("preferred", "required"):
                weight = self._hard_weight if kind[0] == "required" else kind[1]
                if weight and matches(use.term, pod, cycle.cache.namespaces):
                    any_wish = True
                    domains = topology.domains(use.term.topology_key)
                    total += domains.spread(domains.sums(use.counts)) * weight
        return _between(total, feasible) if any_wish else None


def _between(total: Ints, feasible: Mask) -> Ints | None:
    """The lowest of the feasible rows gets 0, the highest 100; None when all are alike."""
    values = total[feasible]
    least, most = int(values.min()), int(values.max())
    if least == most:
        return None
    # A row that is not feasible may be out of the range; it does not matter.
    return (MAX_NODE_SCORE * ((total - least) / (most - least))).astype(np.int64)


def _meets_all(terms: Iterable[AffinityTerm], namespaces: Namespaces) -> Callable[[PodInfo], bool]:
    wanted = tuple(terms)
    return lambda pod: all(matches(term, pod, namespaces) for term in wanted)


def _summed(cycle: Cycle, term: AffinityTerm) -> _Summed:
    topology, namespaces = cycle.nodes.topology, cycle.cache.namespaces
    key: Hashable = ("term", term.selector, term.namespaces, term.namespace_selector)
    counts = topology.counts(key, lambda pod: matches(term, pod, namespaces))
    domains = topology.domains(term.topology_key)
    return _Summed(term, domains, domains.sums(counts))
