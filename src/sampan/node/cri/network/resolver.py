"""resolv.conf of a Pod, by its DNS policy.

Source: kubelet pkg/kubelet/network/dns/dns.go `GetPodDNS` (1.36).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from sampan.node.cri.messages import AnyMessage, message
from sampan.node.views.pod import Pod

SERVERS_MAX: Final = 3
SEARCHES_MAX: Final = 32
SEARCH_CHARACTERS_MAX: Final = 2048
RESOLV_CONF: Final = Path("/etc/resolv.conf")


@dataclass(slots=True)
class ResolvConf:
    """Content of a resolv.conf."""

    servers: list[str] = field(default_factory=list)
    searches: list[str] = field(default_factory=list)
    options: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ClusterDns:
    """DNS of the cluster, as far as Pods need it."""

    servers: Sequence[str] = ()
    """Addresses of DNS servers; empty if the cluster has none."""
    domain: str = "cluster.local"


def node_resolver(path: Path = RESOLV_CONF) -> ResolvConf:
    """Return the node's own resolv.conf; an empty one if it cannot be read."""
    try:
        lines = path.read_text(errors="replace").splitlines()
    except OSError:
        return ResolvConf()
    found = ResolvConf()
    for word, *values in (line.split() for line in lines if line.strip() and line[0] not in "#;"):
        if word == "nameserver":
            found.servers += values[:1]
        elif word == "search":
            found.searches = values
        elif word == "options":
            found.options = values
    return found


def pod_resolver(pod: Pod, dns: ClusterDns, node: ResolvConf) -> tuple[ResolvConf, list[str]]:
    """Return the resolver of a Pod, and the faults to report as events (reason DNSConfigForming)."""
    policy = pod.spec.dns_policy
    if policy == "ClusterFirstWithHostNet" or (policy == "ClusterFirst" and not pod.spec.host_network):
        found = _cluster_first(pod, dns, node) if dns.servers else node
    else:
        found = ResolvConf() if policy == "None" else node
    extra = pod.spec.dns_config
    options = [each.name if each.value is None else f"{each.name}:{each.value}" for each in extra.options]
    merged = ResolvConf(
        _unique([*found.servers, *extra.nameservers]),
        _unique([*found.searches, *extra.searches]),
        _overridden(found.options, options),
    )
    return merged, _cut(merged)


def dns_message(resolver: ResolvConf) -> AnyMessage:
    """Return CRI's DNSConfig."""
    return message("DNSConfig")(servers=resolver.servers, searches=resolver.searches, options=resolver.options)


def _cluster_first(pod: Pod, dns: ClusterDns, node: ResolvConf) -> ResolvConf:
    services = f"svc.{dns.domain}"
    searches = [f"{pod.metadata.namespace}.{services}", services, dns.domain]
    # 5 dots: `name.namespace.svc.cluster.local` has four, so it is still completed by the search domains.
    return ResolvConf(list(dns.servers), _unique([*searches, *node.searches]), ["ndots:5"])


def _overridden(options: Iterable[str], own: Iterable[str]) -> list[str]:
    """Remove all but the last option of each name."""
    return list({option.partition(":")[0]: option for option in (*options, *own)}.values())


def _unique(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(values))


def _cut(resolver: ResolvConf) -> list[str]:
    """Shorten a resolver to the limits of libc, and return a message for each limit that was exceeded."""
    faults = []
    if len(resolver.servers) > SERVERS_MAX:
        # glibc reads only three servers. More would be ignored without a message.
        del resolver.servers[SERVERS_MAX:]
        shown = " ".join(resolver.servers)
        faults.append(
            "Nameserver limits were exceeded, some nameservers have been omitted, "
            f"the applied nameserver line is: {shown}"
        )
    before = len(resolver.searches)
    del resolver.searches[SEARCHES_MAX:]
    while len(" ".join(resolver.searches)) > SEARCH_CHARACTERS_MAX:
        resolver.searches.pop()
    if len(resolver.searches) < before:
        shown = " ".join(resolver.searches)
        faults.append(
            "Search Line limits were exceeded, some search paths have been omitted, "
            f"the applied search line is: {shown}"
        )
    return faults
