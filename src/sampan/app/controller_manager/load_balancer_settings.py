"""`LoadBalancerSettings`: addresses of Services of type LoadBalancer."""

from dataclasses import dataclass

from sampan.app.controller_manager.shared_settings import bundled
from sampan.component_base.load_balancer import AddressRange, LoadBalancerOptions
from sampan.core.settings import ValueKind, setting
from sampan.core.settings.kinds import BOOLEAN, list_of


@dataclass(frozen=True, slots=True)
class LoadBalancerSettings:
    """Settings of the load balancer of nodes."""

    load_balancer: bool | None = setting(
        None,
        "Give Services of type LoadBalancer addresses, at which the Service proxies of the nodes answer.",
        kind=BOOLEAN,
        default="true with a pool, or with --node-runtime cri and --service-proxy",
    )
    load_balancer_pool: tuple[AddressRange, ...] = setting(
        (),
        "Addresses for Services of type LoadBalancer: networks or ranges such as 192.0.2.1-192.0.2.9. The network must "
        "lead packets for them to a node.",
        kind=list_of(ValueKind("CIDR", AddressRange.parse), metavar="CIDRS"),
        default="the addresses of the nodes",
    )

    def options(self, runtime: str = "", *, has_proxy: bool = False) -> LoadBalancerOptions | None:
        """Return the settings of the control loop; None if it is off.

        Without a Service proxy connections fail, so this machine must run one, or the option must be set.
        """
        is_on = bool(self.load_balancer_pool) or (bundled(None, runtime) and has_proxy)
        if not (is_on if self.load_balancer is None else self.load_balancer):
            return None
        return LoadBalancerOptions(self.load_balancer_pool)
