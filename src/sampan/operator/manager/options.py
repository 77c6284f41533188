"""`ManagerOptions`: settings of a manager."""

import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sampan.client.client import Client
from sampan.core.time import Clock, SystemClock
from sampan.informer.settings import InformerSettings
from sampan.operator.caches.options import CacheOptions, Namespaces, check_namespaces
from sampan.operator.controller.tracing import ReconcileTracer
from sampan.operator.events import EventSink, NewEventSink
from sampan.operator.leader_election import LeaderElectionConfig
from sampan.operator.service_reference import ServiceReference
from sampan.resource import ObjectType, ResourceInfo


@dataclass(frozen=True, slots=True)
class ManagerOptions:
    """Settings of a manager.

    Source: controller-runtime pkg/manager/manager.go `Options` (0.24).
    """

    namespace: str = ""
    """Namespace of the informers; "" for all."""
    namespaces: Namespaces = ()
    """Several namespaces of the informers: a list of names, or a `NamespaceSelector`. Empty: `namespace`."""
    caches: Mapping[ResourceInfo | ObjectType[Any] | type[Any], CacheOptions] = field(default_factory=dict)
    """Namespaces, selectors and transforms of single kinds."""
    resync_s: float = 0.0
    """Period after which informers deliver all objects to their handlers again; 0: never. A `PeriodicSource` is often
    better.
    """
    informer_settings: InformerSettings | None = None
    leader_election: LeaderElectionConfig | None = None
    """Settings of the leader election. None: this is the only replica, and it leads."""
    probe_address: str = ""
    """`host:port` of /healthz, /readyz and /metrics. Port 0 takes any free port, an empty host all addresses; ""
    serves none.
    """
    probes_serve_metrics: bool = True
    """False: the probes' address does not serve /metrics. `main` serves them elsewhere, with TLS and access reviews."""
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
    tracer: ReconcileTracer | None = None
    """Creates spans of reconciles and their requests."""

    webhook_service: ServiceReference | None = None
    """Service of webhook servers whose options have none. They keep their certificates in the Secret of its name."""
    webhook_address: tuple[str, int] | None = None
    """Listening host and port of webhook servers, instead of those in their options."""
    webhook_cert_path: Path | None = None
    """Directory with the certificate of webhook servers, instead of certificates that they issue."""
    webhook_configurations: str = ""
    """Name of the configurations that webhook servers keep up to date, if their options name one; "0": none."""
    webhook_conversions: bool = True
    """False: webhook servers do not write conversions into CRDs, because another installation of the operator does."""
    pausable: bool = True
    """False: no controller honours the annotations that pause single objects, whatever its own options are."""

    def __post_init__(self) -> None:
        check_namespaces(self.namespaces)
        if self.namespace and self.namespaces:
            raise ValueError("set namespace or namespaces, not both")
        if self.graceful_shutdown_timeout_s < 0:
            raise ValueError("graceful_shutdown_timeout_s cannot be negative")
        _, colon, port = self.probe_address.rpartition(":")
        if self.probe_address and not (colon and port.isdecimal()):
            raise ValueError(f"probe_address must be host:port, not {self.probe_address!r}")
