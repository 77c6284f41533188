"""Ranges of cluster IPs and node ports of Services, from the settings of a server."""

import logging

from sampan.app.settings.up import UpSettings
from sampan.registry.allocation.allocators import NODE_PORT_FIRST, NODE_PORT_LAST, SERVICE_CIDR, Allocators

_log = logging.getLogger("sampan.app")


def allocators_of(settings: UpSettings) -> Allocators:
    """Return the allocators of a new cluster. A cluster that exists keeps the ranges in its store."""
    cidrs = settings.service_cluster_ip_ranges or (SERVICE_CIDR,)
    return Allocators(cidrs, settings.service_node_port_range or (NODE_PORT_FIRST, NODE_PORT_LAST))


def compare_ranges(settings: UpSettings, allocators: Allocators) -> None:
    """Warn about options that differ from the ranges of an existing cluster.

    Source: kubernetes pkg/controlplane/controller/defaultservicecidr (1.36), which keeps the stored ServiceCIDR too.
    """
    stored = tuple(str(family.network) for family in allocators.ips.values())
    if settings.service_cluster_ip_ranges not in ((), stored):
        _log.warning(
            "--service-cluster-ip-range has no effect: the ServiceCIDR kubernetes exists with other networks",
            extra={"option": ",".join(settings.service_cluster_ip_ranges), "stored": ",".join(stored)},
        )
    ports = (allocators.ports.first, allocators.ports.last)
    given = settings.service_node_port_range
    if given is not None and given != ports:
        _log.warning(
            "--service-node-port-range has no effect: the cluster has another range",
            extra={"option": "{}-{}".format(*given), "stored": "{}-{}".format(*ports)},
        )
