"""`ControllerContext`: what every control loop is given."""

from dataclasses import dataclass, field
from typing import Any

from sampan.core.time import Clock
from sampan.informer.shared_informer import SharedInformer
from sampan.operator.events import EventRecorder
from sampan.operator.manager import Manager
from sampan.resource import ObjectType, ResourceInfo


@dataclass(frozen=True, slots=True)
class ControllerContext:
    """The manager that runs the loops and whose caches they share, and the clock.

    A loop's set-up function takes a context, asks for the informers that it needs, and makes its controllers by
    `Builder` or `manager.new_controller`; the manager runs them.
    """

    manager: Manager
    clock: Clock
    root_ca: str = ""
    """Certificates (PEM) by which the API server can be verified, for all namespaces; empty: none are published."""
    signing_certificate: str = ""
    """The authority (PEM) that signs CertificateSigningRequests for the cluster's own signers; empty: none does."""
    signing_key: str = field(default="", repr=False)
    """Its key (PEM, an elliptic curve)."""

    def informer(self, what: ResourceInfo | ObjectType[Any]) -> SharedInformer[Any]:
        """The shared informer of a kind (or of a view of it)."""
        return self.manager.informer_for(what)

    def recorder(self, name: str) -> EventRecorder:
        """A recorder of events in the name of a controller (`deployment-controller`)."""
        return self.manager.event_recorder(name)
