"""`DnsSettings`: options of the DNS server."""

import ipaddress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sampan.core.settings import ValueKind, setting
from sampan.core.settings.kinds import FILE, integer, list_of
from sampan.dns.names import MalformedName, parse_name
from sampan.dns.upstreams import Nameserver, parse_upstream

TTL_S_MAX: Final = 3600


def _read_address(text: str) -> str:
    return str(ipaddress.ip_address(text)) if text else ""


def _read_domain(text: str) -> str:
    try:
        if parse_name(text):
            return text.removesuffix(".").lower()
    except MalformedName as error:
        raise ValueError(str(error)) from None
    raise ValueError("the domain must not be empty")


_ADDRESSES: Final = list_of(ValueKind("IP", _read_address), separator="", repeat=True)
_UPSTREAMS: Final = list_of(ValueKind("IP[:PORT]", parse_upstream), separator="", repeat=True)


@dataclass(frozen=True, slots=True)
class DnsSettings:
    """Settings of a DNS server."""

    bind: tuple[str, ...] = setting(
        (),
        "Address to listen on. Can be repeated.",
        kind=_ADDRESSES,
        default="the address that this machine uses to connect to others",
    )
    port: int = setting(53, "Port to listen on; 0: any free one.", kind=integer(0, 65535, metavar="PORT"))
    domain: str = setting("cluster.local", "Domain of the cluster.", kind=ValueKind("DOMAIN", _read_domain))
    ttl_s: int = setting(
        30, "Time in seconds for which clients may keep answers.", name="ttl", kind=integer(0, TTL_S_MAX, "SECONDS")
    )
    forward: tuple[Nameserver, ...] = setting(
        (),
        "Upstream server for names outside the cluster. Can be repeated.",
        kind=_UPSTREAMS,
        default="those of --resolv-conf",
    )
    resolv_conf: Path = setting(
        Path("/etc/resolv.conf"),
        "File with the upstream servers. Read again when it changes. /dev/null: there is none.",
        kind=FILE,
    )
    publish: bool = setting(
        True, "Maintain the Service kube-system/kube-dns and its EndpointSlice for this server.", negative=True
    )
    cluster_ip: str = setting(
        "",
        "Address of the Service kube-dns when it is created.",
        kind=ValueKind("IP", _read_address),
        default="the 10th address of the Services' network",
    )
