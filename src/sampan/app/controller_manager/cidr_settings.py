"""`NodeCidrSettings`: ranges of Pod addresses that Nodes get from the node-ipam-controller.

Source: kubernetes cmd/kube-controller-manager/app/core.go `startNodeIpamController`, `setNodeCIDRMaskSizes` (1.36).
"""

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sampan.component_base.defaults import CLUSTER_CIDR
from sampan.component_base.pod_ranges import PodRange
from sampan.core.settings import ValueKind, setting
from sampan.core.settings.kinds import integer, list_of

_RANGES_MAX: Final = 2
_SIZES: Final = {4: 24, 6: 64}
"""Default prefix length of a Node's range, by family."""

_Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@dataclass(frozen=True, slots=True)
class NodeCidrSettings:
    """Ranges of addresses for Nodes. Names and meanings are kube-controller-manager's."""

    allocate_node_cidrs: bool = setting(False, "Give each Node a part of --cluster-cidr (node-ipam-controller).")
    cluster_cidr: tuple[str, ...] = setting(
        (),
        "Networks of the addresses of Pods: one, or one of IPv4 and one of IPv6. The first is the primary one.",
        kind=list_of(ValueKind("CIDR", str), metavar="CIDRS"),
        default=CLUSTER_CIDR,
    )
    node_cidr_mask_size: int | None = setting(
        None,
        "Prefix length of the part of a Node, if --cluster-cidr is one network.",
        kind=integer(metavar="LENGTH"),
        default="24, IPv6: 64",
    )
    node_cidr_mask_size_ipv4: int | None = setting(
        None,
        "Prefix length of the IPv4 part of a Node.",
        name="node-cidr-mask-size-ipv4",
        kind=integer(metavar="LENGTH"),
        default="24",
    )
    node_cidr_mask_size_ipv6: int | None = setting(
        None,
        "Prefix length of the IPv6 part of a Node.",
        name="node-cidr-mask-size-ipv6",
        kind=integer(metavar="LENGTH"),
        default="64",
    )

    def resolved(self) -> tuple[PodRange, ...]:
        """Return the networks, each with the prefix length of a Node's range. Raises `ValueError`."""
        networks = _networks(self.cluster_cidr or (CLUSTER_CIDR,))
        self._check_sizes(networks)
        return tuple(self._range(network) for network in networks)

    def _check_sizes(self, networks: Sequence[_Network]) -> None:
        sizes = {4: self.node_cidr_mask_size_ipv4, 6: self.node_cidr_mask_size_ipv6}
        if self.node_cidr_mask_size is not None and (len(networks) > 1 or any(sizes.values())):
            raise ValueError(
                "--node-cidr-mask-size: use --node-cidr-mask-size-ipv4 and --node-cidr-mask-size-ipv6 instead, "
                "without --node-cidr-mask-size, if --cluster-cidr is of two families"
            )
        versions = {network.version for network in networks}
        for version, size in sizes.items():
            if size is not None and version not in versions:
                raise ValueError(f"--node-cidr-mask-size-ipv{version}: --cluster-cidr has no IPv{version} network")

    def _range(self, network: _Network) -> PodRange:
        own = self.node_cidr_mask_size_ipv6 if network.version == 6 else self.node_cidr_mask_size_ipv4
        flag = "--node-cidr-mask-size" if own is None else f"--node-cidr-mask-size-ipv{network.version}"
        size = own if own is not None else self.node_cidr_mask_size
        if size is None:
            size = _SIZES[network.version]
        if not network.prefixlen <= size <= network.max_prefixlen:
            raise ValueError(f"--cluster-cidr: {network} has no parts of the size /{size} ({flag})")
        return PodRange(str(network), size)


def _networks(cidrs: Sequence[str]) -> list[_Network]:
    try:
        networks = [ipaddress.ip_network(cidr.strip()) for cidr in cidrs]
    except ValueError as error:
        raise ValueError(f"--cluster-cidr: {error}") from error
    if len(networks) > _RANGES_MAX:
        raise ValueError("--cluster-cidr: must not contain more than two entries")
    if len({network.version for network in networks}) < len(networks):
        raise ValueError("--cluster-cidr: two entries must be of different IP families")
    return networks
