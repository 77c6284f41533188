"""`Kernel`: the rules, the network settings and the tracked flows of a network namespace."""

from collections.abc import Callable, Sequence
from typing import Final

from sampan.component_base.nftables.errors import NftError
from sampan.component_base.nftables.rule_thread import RuleThread
from sampan.service_proxy.conntrack import UdpTargets, delete_flows
from sampan.service_proxy.errors import ServiceProxyError
from sampan.service_proxy.family import Family
from sampan.service_proxy.machine import families, prepare, set_sysctls

TABLE: Final = "sampan-proxy"
"""Name of the table of each family."""


class Kernel(RuleThread):
    """The kernel's part of a service proxy."""

    def __init__(self, *, enter: Callable[[], None] | None = None) -> None:
        """`enter` is called first in the thread, for example to enter a network namespace."""
        super().__init__(TABLE, enter=enter)

    async def prepare(self) -> Sequence[Family]:
        """Check the machine, and return the address families that it supports. Raises `ServiceProxyError`."""
        return await self.call(lambda: prepare(self.nft, TABLE))

    async def set_sysctls(self) -> None:
        """Set the kernel's network settings again, if another program has changed them."""
        await self.call(set_sysctls)

    async def delete_flows(self, family: Family, targets: UdpTargets) -> int:
        """Delete the UDP flows to endpoints that no longer exist, and return the number of deleted flows.

        Raises `OSError`.
        """
        return await self.call(lambda: delete_flows(family, targets.is_stale))

    async def clean_up(self) -> None:
        """Delete the tables. Raises `ServiceProxyError`."""
        try:
            for family in await self.call(lambda: families(self.nft, TABLE)):
                await self.remove_table(f"{family.name} {TABLE}")
        except NftError as error:
            raise ServiceProxyError(str(error)) from error
