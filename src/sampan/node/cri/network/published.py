"""`PublishedNetworks`: the networks of other nodes, for a node that may not read other Nodes.

The ConfigMap, or the permission to read it, may be missing because another program creates tokens or connects the Pods.
Then the node works without routes. An informer is not possible, because the node would wait for its first list.
Concurrency: one task of the manager, which follows the ConfigMap.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import Final

from sampan.client import ApiError, Client, ClientError, Forbidden, ListOptions
from sampan.component_base.pod_networks import CONFIG_MAP, NAMESPACE, PodNetworkOf, from_data
from sampan.component_base.resources import CONFIG_MAPS

RETRY_S: Final = 10.0
_GONE: Final = 410
_log = logging.getLogger("sampan.node")


class PublishedNetworks:
    """Passes the networks in the ConfigMap to `changed`, after each change."""

    needs_leader_election = False

    def __init__(self, client: Client, changed: Callable[[Mapping[str, PodNetworkOf]], None]) -> None:
        self._config_maps = client.resource(CONFIG_MAPS, namespace=NAMESPACE)
        self._changed = changed
        self._forbidden = False

    def __str__(self) -> str:
        return "networks of other nodes"

    async def run(self) -> None:
        """Follow the ConfigMap until cancelled. Failures are retried."""
        while True:
            try:
                await self._follow()
            except ClientError as error:
                self._report(error)
            await asyncio.sleep(RETRY_S)

    async def _follow(self) -> None:
        async for event in self._config_maps.follow(ListOptions(field_selector=f"metadata.name={CONFIG_MAP}")):
            self._forbidden = False
            if event.type != "DELETED":  # The controller creates it again.
                self._changed(from_data(event.object.get("data") or {}))

    def _report(self, error: ClientError) -> None:
        if isinstance(error, ApiError) and error.code == _GONE:
            return
        if isinstance(error, Forbidden):
            if not self._forbidden:
                _log.warning(
                    "cannot read the networks of other nodes, adding no routes to their Pods: %s; "
                    "`sampan token create` adds the permission",
                    error,
                )
            self._forbidden = True
            return
        _log.warning("cannot read the networks of other nodes, retrying: %s", error)
