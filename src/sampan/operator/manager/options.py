"""`ManagerOptions`: how a manager works."""

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
    """How a manager works.

    Source: controller-runtime pkg/manager/manager.go `Options` (0.24).
    """

    namespace: str = ""
    """What informers look at: one namespace, or "" for all."""
    resync_s: float = 0.0
    """How often informers tell their handlers everything again; 0: never. A `PeriodicSource` is often better."""
    informer_settings: InformerSettings | None = None
    leader_election: LeaderElectionConfig | None = None
    """None: this is the only replica, it leads."""
    probe_address: str = ""
    """`host:port` of /healthz, /readyz and /metrics; port 0 takes any, "" serves none."""
    graceful_shutdown_timeout_s: float = 30.0
    """How long what runs may take to end what it has begun; then it is cancelled."""
    cache_sync_timeout_s: float = 120.0
    """How long informers may take for their first lists."""
    read_timeout_s: float = 10.0
    """How long a cached read may wait for the cache to reach its own writes."""
    event_sink: Callable[[Client], EventSink] = NewEventSink
    """Which API Events are written in: `CoreEventSink` for the older one."""
    host: str = field(default_factory=socket.gethostname)
    """Where this replica runs, for Events."""
    clock: Clock = field(default_factory=SystemClock)
    """For the times in Leases and Events."""

    def __post_init__(self) -> None:
        if self.graceful_shutdown_timeout_s < 0:
            raise ValueError("graceful_shutdown_timeout_s cannot be negative")
        host, _, port = self.probe_address.rpartition(":")
        if self.probe_address and not (host and port.isdecimal()):
            raise ValueError(f"probe_address is host:port, not {self.probe_address!r}")
