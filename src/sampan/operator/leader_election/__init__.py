"""Leader election with Leases: one of several replicas works, and another takes over when it fails."""

from sampan.operator.leader_election.config import LeaderElectionConfig
from sampan.operator.leader_election.elector import LeaderElectionLost, LeaderElector
from sampan.operator.leader_election.guard import GuardedTransport, LeaseOver
from sampan.operator.leader_election.lease_lock import LeaseLock, LeaseNote, LeaseRecord, ResourceLock
from sampan.operator.leader_election.metrics import LeaderElectionMetrics

__all__ = [
    "GuardedTransport",
    "LeaderElectionConfig",
    "LeaderElectionLost",
    "LeaderElectionMetrics",
    "LeaderElector",
    "LeaseLock",
    "LeaseNote",
    "LeaseOver",
    "LeaseRecord",
    "ResourceLock",
]
