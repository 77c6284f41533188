"""`look_after_endpoints`: an endpoint that is wrong is not found out only when the others are away.

All calls go to one endpoint until it fails them. So each is looked at now and then, and when etcd is found to be away,
and what is wrong is told once.
Concurrency: one task of whoever serves from the store, which ends by cancellation.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Final

from sampan.storage.etcd.diagnosis import Finding, findings
from sampan.storage.etcd.settings import EtcdSettings
from sampan.storage.etcd.strangers import strangers

INTERVAL_S: Final = 300.0
WRONG_INTERVAL_S: Final = 20.0
"""While something is wrong: that it is mended is to be heard soon."""
_log = logging.getLogger(__name__)


async def look_after_endpoints(
    settings: EtcdSettings, sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
) -> None:
    """Look at all endpoints until cancelled: at once, and every few minutes. `sleep` may return sooner."""
    known: dict[str, str] = {}
    while True:
        known = _tell([*await findings(settings), *await strangers(settings)], known)
        await sleep(WRONG_INTERVAL_S if known else INTERVAL_S)


def _tell(found: list[Finding], known: dict[str, str]) -> dict[str, str]:
    now = {finding.server: finding.text for finding in found}
    for server, text in now.items():
        if known.get(server) != text:
            _log.warning("the etcd at %s cannot be used: it %s", server, text)
    for server in known.keys() - now.keys():
        _log.info("the etcd at %s can be used again", server)
    return now
