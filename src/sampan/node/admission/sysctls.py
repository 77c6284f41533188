"""`AllowedSysctls`: sysctls that Pods may set on a node.

A safe sysctl belongs to a namespace of the Pod and has no effect on other Pods. All others need the option
`--allowed-unsafe-sysctls`.
Source: kubelet pkg/kubelet/sysctl/{allowlist.go,safe_sysctls.go}, component-helpers node/util/sysctl/namespace.go
(1.36).
"""

import re
from collections.abc import Iterable
from typing import Final

from sampan.node.admission.checks import PodRejection
from sampan.node.views.pod import Pod

_IPC: Final = "IPC"
_NET: Final = "Net"
_SAFE: Final = {
    "kernel.shm_rmid_forced": (0, 0),
    "net.ipv4.ip_local_port_range": (0, 0),
    "net.ipv4.tcp_syncookies": (0, 0),
    "net.ipv4.ping_group_range": (0, 0),
    "net.ipv4.ip_unprivileged_port_start": (0, 0),
    "net.ipv4.ip_local_reserved_ports": (3, 16),
    "net.ipv4.tcp_keepalive_time": (4, 5),
    "net.ipv4.tcp_fin_timeout": (4, 6),
    "net.ipv4.tcp_keepalive_intvl": (4, 5),
    "net.ipv4.tcp_keepalive_probes": (4, 5),
    "net.ipv4.tcp_rmem": (4, 15),
    "net.ipv4.tcp_wmem": (4, 15),
}
"""Safe sysctls, and the first Linux in which each of them belongs to a namespace."""
_NAMESPACED: Final = {
    f"kernel.{name}": _IPC
    for name in ("sem", "shm", "shmall", "shmmax", "shmmni", "shm_rmid_forced", "msg", "msgmax", "msgmnb", "msgmni")
}
_NAMESPACED_PREFIXES: Final = {"net.": _NET, "fs.mqueue.": _IPC}
_LENGTH_MAX: Final = 253
_PATTERN_TEXT: Final = "([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*([a-z0-9][-_a-z0-9]*)?[a-z0-9*]"
_PATTERN: Final = re.compile(_PATTERN_TEXT)


class AllowedSysctls:
    """Allow list of a node."""

    def __init__(self, unsafe: Iterable[str] = (), *, kernel: str = "") -> None:
        """`unsafe`: names, or patterns that end in `*`. `kernel`: release of Linux; empty for the newest.

        Raises `ValueError` for a sysctl that belongs to no namespace.
        """
        version = _version(kernel)
        self._names = {name: _namespace(name) for name, first in _SAFE.items() if not version or version >= first}
        self._prefixes: dict[str, str] = {}
        for pattern in unsafe:
            if len(pattern) > _LENGTH_MAX or not _PATTERN.fullmatch(pattern):
                raise ValueError(
                    f'sysctl "{pattern}" must have at most {_LENGTH_MAX} characters and match regex {_PATTERN_TEXT}'
                )
            name, star, _ = normalized(pattern).partition("*")
            namespace = _namespace(name)
            if not namespace:
                raise ValueError(f'the sysctls "{name}" are not known to be namespaced')
            (self._prefixes if star else self._names)[name] = namespace

    def refusal(self, pod: Pod) -> PodRejection | None:
        """Return why a Pod may not run on the node; None if all its sysctls are allowed."""
        spec = pod.spec
        shared = {_IPC: spec.host_ipc, _NET: spec.host_network}
        for each in spec.security_context.sysctls:
            name = normalized(each.name)
            namespace = self._names.get(name) or next(
                (found for prefix, found in self._prefixes.items() if name.startswith(prefix)), ""
            )
            if not namespace:
                return _refusal(f'"{name}" not allowlisted')
            if shared[namespace]:
                return _refusal(f'"{name}" not allowed with host {namespace} enabled')
        return None


def normalized(name: str) -> str:
    """Return a name with dots as separators: that of `net/ipv4/conf/eno2.100/mtu` is `net.ipv4.conf.eno2/100.mtu`."""
    first = next((character for character in name if character in "./"), ".")
    return name.translate(str.maketrans("./", "/.")) if first == "/" else name


def _refusal(text: str) -> PodRejection:
    return PodRejection("SysctlForbidden", f"forbidden sysctl: {text}")


def _namespace(name: str) -> str:
    """Return the namespace of a sysctl; empty if it is the machine's."""
    found = (namespace for prefix, namespace in _NAMESPACED_PREFIXES.items() if name.startswith(prefix))
    return _NAMESPACED.get(name) or next(found, "")


def _version(release: str) -> tuple[int, ...]:
    numbers = re.match(r"(\d+)\.(\d+)", release)
    return tuple(map(int, numbers.groups())) if numbers else ()
