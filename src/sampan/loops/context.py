"""`ControllerContext`: what every control loop is given."""

from dataclasses import dataclass, field
from typing import Any, Final

from sampan.core.time import Clock
from sampan.informer.shared_informer import SharedInformer
from sampan.operator.events import EventRecorder
from sampan.operator.manager import Manager
from sampan.resource import ObjectType, ResourceInfo

CLUSTER_CIDR: Final = "10.128.0.0/9"
"""Where the addresses of Pods are: beside the Services' 10.96.0.0/12."""
LEGACY_TOKEN_CLEAN_UP_PERIOD_S: Final = 365 * 24 * 3600.0


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
    api_server: str = ""
    """Where the API server is (`https://host:port`), for what does not reach the cluster's own network; empty: as the
    Service `kubernetes` says.
    """
    signing_certificate: str = ""
    """The authority (PEM) that signs CertificateSigningRequests for the cluster's own signers; empty: none does."""
    signing_key: str = field(default="", repr=False)
    """Its key (PEM)."""

    cluster_cidr: str = CLUSTER_CIDR
    """Of which range nodes get the addresses of their Pods."""
    node_cidr_mask_size: int = 24
    """How large the range of a node is, as the length of its prefix."""

    service_account_key: str = field(default="", repr=False)
    """What signs the tokens of Secrets (PEM); empty: no Secret gets a token."""

    legacy_token_clean_up_period_s: float = LEGACY_TOKEN_CLEAN_UP_PERIOD_S
    """How long the token of a Secret that its account names may be out of use until it is marked as invalid, and then
    until it goes.
    """

    def informer(self, what: ResourceInfo | ObjectType[Any]) -> SharedInformer[Any]:
        """The shared informer of a kind (or of a view of it)."""
        return self.manager.informer_for(what)

    def recorder(self, name: str) -> EventRecorder:
        """A recorder of events in the name of a controller (`deployment-controller`)."""
        return self.manager.event_recorder(name)
