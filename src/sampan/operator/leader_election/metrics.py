"""Metrics of leader election, with the names of client-go."""

from prometheus_client import CollectorRegistry, Counter, Gauge


class LeaderElectionMetrics:
    """Metric families of the elections of one registry."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.leading = Gauge(
            "leader_election_master_status", "1: this process leads; 0: it does not", ["name"], registry=registry
        )
        self.slow_path = Counter(
            "leader_election_slowpath_total", "Renewals that had to read the lease first", ["name"], registry=registry
        )
