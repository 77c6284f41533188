"""`ManagerOptions`: settings of a manager."""

import socket
from collections.abc import Callable
from dataclasses import dataclass, field

from sampan.client.client import Client
from sampan.core.time import Clock, SystemClock
from sampan.informer.settings import InformerSettings
from sampan.operator.events import EventSink, NewEventSink
from sampan.operator.leader_election import LeaderElectionConfig


@dataclass(frozen=True, slots=True)
class ManagerOptions:
    """Settings of a manager.

    Source: controller-runtime pkg/manager/manager.go `Options` (0.24).
    """

    namespace: str = ""
    """Namespace of the informers; "" for all."""
    resync_s: float = 0.0
    """Period after which informers deliver all objects to their handlers again; 0: never. A `PeriodicSource` is often
    better.
    """
    informer_settings: InformerSettings | None = None
    leader_election: LeaderElectionConfig | None = None
    """Settings of the leader election. None: this is the only replica, and it leads."""
    probe_address: str = ""
    """`host:port` of /healthz, /readyz and /metrics. Port 0 takes any free port; "" serves none."""
    graceful_shutdown_timeout_s: float = 30.0
    """Limit of the time in which runnables may finish their work; then they are cancelled."""
    cache_sync_timeout_s: float = 120.0
    """Limit of the time until informers have their first lists."""
    read_timeout_s: float = 10.0
    """Limit of the time that a cached read waits for own writes."""
    event_sink: Callable[[Client], EventSink] = NewEventSink
    """API of Events: `CoreEventSink` for the older one."""
    host: str = field(default_factory=socket.gethostname)
    """Host of this replica, for Events."""
    clock: Clock = field(default_factory=SystemClock)
    """Clock for the times in Leases and Events."""

    def __post_init__(self) -> None:
        if self.graceful_shutdown_timeout_s < 0:
            raise ValueError("graceful_shutdown_timeout_s cannot be negative")
        host, _, port = self.probe_address.rpartition(":")
        if self.probe_address and not (host and port.isdecimal()):
            raise ValueError(f"probe_address must be host:port, not {self.probe_address!r}")
