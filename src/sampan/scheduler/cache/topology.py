"""`Topology`: domains of Nodes (zones, hosts), and counts of matching Pods on each Node.

For each selector of Pods that a constraint counts there is an array of counts. It is updated with every Pod that is
added or removed. Summing it over domains costs one pass over the array.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Final, Protocol

import numpy as np

from sampan.scheduler.cache.arrays import Ints, grown
from sampan.scheduler.constraints import AffinityTerm
from sampan.scheduler.pod_info import PodInfo
from sampan.scheduler.views import Labels

COUNTERS_MAX: Final = 128
"""Highest number of counters; the least recently used ones are dropped first."""

Matches = Callable[[PodInfo], bool]


class PodsByRow(Protocol):
    """The interface of the table that the topology reads."""

    size: int
    pods: list[dict[str, PodInfo]]

    def labels(self, row: int) -> Labels:
        """Return a Node's labels."""
        ...


class Domains:
    """The values of one label over all Nodes, as a number per row; -1 for a Node without the label."""

    def __init__(self, size: int) -> None:
        self.ids: Ints = np.full(size, -1, dtype=np.int64)
        self.numbers: dict[str, int] = {}
        """Number of each value. Values that no Node has now keep their number."""

    def set(self, row: int, value: str | None) -> None:
        """Set the label value of a row."""
        # Numbers are never reused. Counts by domain of a cycle therefore stay valid while Nodes change.
        self.ids[row] = -1 if value is None else self.numbers.setdefault(value, len(self.numbers))

    def sums(self, counts: Ints) -> Ints:
        """Sum counts by row into counts by domain."""
        labelled = self.ids >= 0
        return np.bincount(self.ids[labelled], weights=counts[labelled], minlength=len(self.numbers)).astype(np.int64)

    def spread(self, by_domain: Ints) -> Ints:
        """Expand numbers by domain to each row of the domain; rows without a domain get 0."""
        if not len(by_domain):
            return np.zeros(len(self.ids), dtype=np.int64)
        return np.where(self.ids >= 0, by_domain[self.ids], 0)


class _Counter:
    __slots__ = ("counts", "matches")

    def __init__(self, matches: Matches, size: int) -> None:
        self.matches = matches
        self.counts: Ints = np.zeros(size, dtype=np.int64)


class TermUse:
    """An affinity term of existing Pods, and the number of Pods on each Node that have it."""

    __slots__ = ("counts", "term", "total")

    def __init__(self, term: AffinityTerm, size: int) -> None:
        self.term = term
        self.counts: Ints = np.zeros(size, dtype=np.int64)
        self.total = 0


TermKind = tuple[str, int]
"""`required` or `anti` with weight 0, or `preferred` with its weight."""
_TermKey = tuple[TermKind, AffinityTerm]

REQUIRED: Final[TermKind] = ("required", 0)
ANTI: Final[TermKind] = ("anti", 0)


class Topology:
    """Domains, counters and terms. The table of Nodes and the cache of Pods update them; plugins read them."""

    def __init__(self, table: PodsByRow) -> None:
        self._table = table
        self._domains: dict[str, Domains] = {}
        self._counters: OrderedDict[Hashable, _Counter] = OrderedDict()
        self._terms: dict[_TermKey, TermUse] = {}

    # Reading

    def domains(self, key: str) -> Domains:
        """Return the domains of a label."""
        found = self._domains.get(key)
        if found is None:
            found = self._domains[key] = Domains(self._table.size)
            for row in range(self._table.size):
                found.set(row, self._table.labels(row).get(key))
        return found

    def counts(self, key: Hashable, matches: Matches) -> Ints:
        """Return the number of matching Pods on each Node, read-only. `key` identifies what `matches` tests."""
        counter = self._counters.get(key)
        if counter is None:
            counter = self._counters[key] = _Counter(matches, self._table.size)
            for row, pods in enumerate(self._table.pods):
                if pods:
                    counter.counts[row] = sum(map(matches, pods.values()))
            if len(self._counters) > COUNTERS_MAX:
                self._counters.popitem(last=False)
        self._counters.move_to_end(key)
        return counter.counts

    def terms(self, *kinds: str) -> Iterator[tuple[TermKind, TermUse]]:
        """Yield the affinity terms of existing Pods."""
        for (kind, _), use in self._terms.items():
            if kind[0] in kinds:
                yield kind, use

    # Writing

    def pod_changed(self, row: int, pod: PodInfo, sign: int) -> None:
        """Update the counts for a Pod that was added (1) or removed (-1)."""
        for counter in self._counters.values():
            if counter.matches(pod):
                counter.counts[row] += sign
        if pod.constraints.has_pod_terms:
            for key in _terms_of(pod):
                self._use_term(key, row, sign)

    def node_changed(self, row: int, labels: Labels) -> None:
        """Update the domains for the labels of a Node."""
        for key, domains in self._domains.items():
            domains.set(row, labels.get(key))

    def forget_counts(self) -> None:
        """Drop all counts, as the labels of a namespace may change what Pods match.

        The Pods are counted again on demand.
        """
        self._counters.clear()

    def grow(self) -> None:
        """Resize all arrays after the table has grown."""
        size = self._table.size
        for domains in self._domains.values():
            ids = np.full(size, -1, dtype=np.int64)
            ids[: len(domains.ids)] = domains.ids
            domains.ids = ids
        for counter in self._counters.values():
            counter.counts = grown(counter.counts, size)
        for use in self._terms.values():
            use.counts = grown(use.counts, size)

    def _use_term(self, key: _TermKey, row: int, sign: int) -> None:
        use = self._terms.get(key)
        if use is None:
            use = self._terms[key] = TermUse(key[1], self._table.size)
        use.counts[row] += sign
        use.total += sign
        if use.total == 0:
            del self._terms[key]


def _terms_of(pod: PodInfo) -> Iterable[_TermKey]:
    for term in pod.required_affinity():
        yield REQUIRED, term
    for term in pod.required_anti_affinity():
        yield ANTI, term
    for preferred in pod.preferred_terms():
        yield ("preferred", preferred.weight), preferred.term
