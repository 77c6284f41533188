"""`prepare`: checks the machine before the first rule is written, and sets the kernel's network settings."""

import logging
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from sampan.component_base.nftables.errors import NftError, NftMissing
from sampan.component_base.nftables.nft import Nft
from sampan.service_proxy.errors import ServiceProxyError
from sampan.service_proxy.family import FAMILIES, IPV6, Family

_log = logging.getLogger("sampan.proxy")

_PROBE_SUFFIX: Final = "-probe"
_REFUSED: Final = ("not permitted", "denied")
_FOREIGN: Final = re.compile(
    r"^\s*(?:table (ip6?) (kube-proxy)\b|chain (KUBE-SERVICES|CILIUM_PRE_nat)\b)", re.MULTILINE
)
_SYSCTLS: Final = {
    "net/ipv4/ip_forward": "nodes forward packets to Pods",
    "net/ipv6/conf/all/forwarding": "nodes forward packets to Pods",
    # Else the reply of an endpoint on the same bridge goes directly to the client, with an address that it does not
    # expect.
    "net/bridge/bridge-nf-call-iptables": "replies on a bridge pass the rules",
    "net/bridge/bridge-nf-call-ip6tables": "replies on a bridge pass the rules",
}


def prepare(nft: Nft, table: str, sysctl: Path = Path("/proc/sys")) -> Sequence[Family]:
    """Check rights, kernel and other proxies, and return the address families that the kernel supports.

    Raises `ServiceProxyError` with the fault and a way to fix it.
    """
    found = families(nft, table)
    _refuse_other_proxies(nft)
    set_sysctls(sysctl)
    return found


def families(nft: Nft, table: str) -> Sequence[Family]:
    """Return the address families that the kernel supports. Raises `ServiceProxyError`."""
    return [family for family in FAMILIES if _works(nft, family, table)]


def _works(nft: Nft, family: Family, table: str) -> bool:
    probe = f"{family.name} {table}{_PROBE_SUFFIX}"
    try:
        # One transaction, so that no table remains even if the process is killed.
        nft.run(f"add table {probe}\ndelete table {probe}\n")
    except NftMissing as error:
        raise ServiceProxyError(str(error)) from error
    except NftError as error:
        if any(word in str(error) for word in _REFUSED):
            raise ServiceProxyError(
                f"cannot change nftables: {error}. Run sampan proxy as root or with the capability CAP_NET_ADMIN"
            ) from error
        if family is IPV6:
            _log.warning("the kernel has no nftables for IPv6: only IPv4 Services work", extra={"error": str(error)})
            return False
        raise ServiceProxyError(
            f"the kernel has no nftables: {error}. Load the module nf_tables (modprobe nf_tables)"
        ) from error
    return True


def _refuse_other_proxies(nft: Nft) -> None:
    """Raise `ServiceProxyError` if another proxy has rules.

    Both would choose an endpoint, and only the first choice has an effect.
    """
    try:
        found = _FOREIGN.search(nft.run("list chains\n"))
    except NftError as error:
        raise ServiceProxyError(f"cannot list the rules of other programs: {error}") from error
    if found is None:
        return
    where = f"table {found[1]} {found[2]}" if found[2] else f"chain {found[3]}"
    raise ServiceProxyError(
        f"another service proxy has rules on this machine ({where}). Stop it and remove its rules "
        "(kube-proxy --cleanup, or a reboot), or do not run sampan proxy here"
    )


def set_sysctls(directory: Path = Path("/proc/sys")) -> None:
    """Set the kernel's network settings where they differ. Failures are logged."""
    for name, reason in _SYSCTLS.items():
        path = directory / name
        try:
            if path.read_text().strip() == "0":
                path.write_text("1")
                _log.info("set %s to 1: %s", name.replace("/", "."), reason)
        except FileNotFoundError:
            if "bridge" in name:
                _log.debug("the kernel has no setting %s: load the module br_netfilter if Pods are on a bridge", name)
        except OSError as error:
            _log.warning("cannot set %s to 1, although %s: %s", name.replace("/", "."), reason, error)
