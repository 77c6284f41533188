"""Content of a Pod's /etc/hosts.

Source: kubelet pkg/kubelet/kubelet_pods.go `managedHostsFileContent`, `nodeHostsFileContent` (1.36).
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from sampan.node.environment.environment import host_name
from sampan.node.environment.fields import PodPlace
from sampan.node.views.pod import HostAlias

_OWN: Final = """\
# Kubernetes-managed hosts file.
127.0.0.1\tlocalhost
::1\tlocalhost ip6-localhost ip6-loopback
fe00::0\tip6-localnet
fe00::0\tip6-mcastprefix
fe00::1\tip6-allnodes
fe00::2\tip6-allrouters
"""
_HOST: Final = "# Kubernetes-managed hosts file (host network).\n"


def hosts_content(place: PodPlace, *, cluster_domain: str, node_file: Path = Path("/etc/hosts")) -> str:
    """Return the content. With hostNetwork it is the node's file. Raises `OSError`."""
    spec = place.pod.spec
    aliases = "".join(_aliases(spec.host_aliases))
    if spec.host_network:
        return _HOST + node_file.read_text(errors="replace") + aliases
    name, full_name = host_name(place), fully_qualified(place, cluster_domain)
    names = f"{full_name}\t{name}" if full_name else name
    return _OWN + "".join(f"{address}\t{names}\n" for address in place.addresses) + aliases


def fully_qualified(place: PodPlace, cluster_domain: str) -> str:
    """Return the full domain name of a Pod that has a subdomain; else an empty string."""
    spec, namespace = place.pod.spec, place.pod.metadata.namespace
    return f"{host_name(place)}.{spec.subdomain}.{namespace}.svc.{cluster_domain}" if spec.subdomain else ""


def _aliases(aliases: Sequence[HostAlias]) -> Iterator[str]:
    if aliases:
        yield "\n# Entries added by HostAliases.\n"
    for each in aliases:
        yield f"{each.ip}\t" + "\t".join(each.hostnames) + "\n"
