"""`ControllerContext`: the dependencies and settings that every control loop gets."""

from dataclasses import dataclass, field
from typing import Any, TypeVar, cast, overload

from sampan.component_base.defaults import (
    CLUSTER_CIDR,
    DISCOVERY_PERIOD_S,
    LEGACY_TOKEN_CLEAN_UP_PERIOD_S,
    NAMESPACE_GRACE_S,
)
from sampan.component_base.load_balancer import LoadBalancerOptions
from sampan.component_base.pod_ranges import PodRange
from sampan.core.time import Clock
from sampan.informer.shared_informer import SharedInformer
from sampan.operator.events import EventRecorder
from sampan.operator.manager import Manager
from sampan.resource import ObjectType, ResourceInfo, TypedResource

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ControllerContext:
    """The manager that runs the loops and owns their shared caches, the clock, and the settings of the loops.

    A loop's set-up function takes a context, gets the informers it needs from it, and creates its controllers with
    `Builder` or `manager.new_controller`. The manager runs them.
    """

    manager: Manager
    clock: Clock
    root_ca: str = ""
    """CA certificates (PEM) that verify the API server. They are published to every namespace.

    If empty, nothing is published.
    """
    api_server: str = ""
    """URL of the API server (`https://host:port`) for Pods outside the cluster's own network. Empty: those Pods use the
    address of the Service `kubernetes`.
    """
    signing_certificate: str = ""
    """CA certificate (PEM) that signs CertificateSigningRequests for the built-in signers.

    If empty, no request is signed.
    """
    signing_key: str = field(default="", repr=False)
    """Private key (PEM) of the signing certificate."""

    pod_ranges: tuple[PodRange, ...] = (PodRange(CLUSTER_CIDR, 24),)
    """Ranges from which nodes get the addresses of their Pods: one for each IP family, the primary one first."""

    service_account_key: str = field(default="", repr=False)
    """Private key (PEM) that signs the tokens of Secrets; empty: no Secret gets a token."""

    legacy_token_clean_up_period_s: float = LEGACY_TOKEN_CLEAN_UP_PERIOD_S
    """Time after which an unused token Secret that its service account references is marked as invalid.

    After another period of the same length it is deleted.
    """

    namespace_grace_s: float = NAMESPACE_GRACE_S
    """Time from the deletion of a namespace, which is in whole seconds, until its content is deleted."""

    discovery_period_s: float = DISCOVERY_PERIOD_S
    """Period in which the garbage collector looks for new kinds. It also follows the objects that define kinds."""

    local_path_class: bool = False
    """True to create the StorageClass for directories of nodes."""

    load_balancer: LoadBalancerOptions | None = None
    """Settings of the addresses of Services of type LoadBalancer. None: they get none."""

    @overload
    def informer(self, kind: TypedResource[T] | ObjectType[T]) -> SharedInformer[T]: ...

    @overload
    def informer(self, kind: ResourceInfo | ObjectType[Any]) -> SharedInformer[Any]: ...

    def informer(self, kind: ResourceInfo | ObjectType[Any]) -> SharedInformer[Any]:
        """Return the shared informer of a kind, or of a view of it."""
        # The manager of the loops has one namespace or all, so each kind has a single informer.
        return cast(SharedInformer[Any], self.manager.informer_for(kind))

    def recorder(self, name: str) -> EventRecorder:
        """Return a recorder that records events under a controller's name (`deployment-controller`)."""
        return self.manager.event_recorder(name)
