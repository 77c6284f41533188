"""`CsiClient`: calls a storage driver through CSI v1.

`RegistrationClient`: gets the name of a plug-in, and notifies it of its registration.

    async with CsiClient("/var/lib/kubelet/plugins/hostpath/csi.sock") as driver:
        info = await driver.call("GetPluginInfo")
        await driver.call("NodeUnpublishVolume", volume_id="v", target_path="/…/mount")

Source: container-storage-interface spec csi.proto v1.13, kubelet pkg/apis/pluginregistration/v1 (1.36).
"""

from typing import Any

import grpc

from sampan.csi.errors import CsiError
from sampan.csi.messages import CSI, REGISTRATION, AnyMessage
from sampan.rpc.client import RpcClient


class CsiClient(RpcClient):
    """Client of the services Identity, Controller, Node and GroupController of a driver."""

    FILES = CSI
    SERVICES = ("Identity", "Controller", "Node", "GroupController")

    def error(self, method: str, code: grpc.StatusCode, details: str) -> CsiError:
        """Return the error of a failed call."""
        return CsiError(method, code, details)

    async def call(
        self, method: str, /, *, timeout_s: float = -1.0, wait_for_ready: bool = False, **fields: Any
    ) -> AnyMessage:
        """Call a method by its name, and return its response.

        `fields`: fields of the request.
        `timeout_s`: if negative, the client's limit applies. `wait_for_ready`: wait for a driver that does not listen
        yet. Raises `CsiError`; `KeyError` if CSI has no such method.
        """
        return await self._call(method, timeout_s=timeout_s, wait_for_ready=wait_for_ready, **fields)


class RegistrationClient(RpcClient):
    """Client of the service Registration on a plug-in's registration socket."""

    FILES = REGISTRATION
    SERVICES = ("Registration",)

    def error(self, method: str, code: grpc.StatusCode, details: str) -> CsiError:
        """Return the error of a failed call."""
        return CsiError(method, code, details)

    async def info(self) -> AnyMessage:
        """Return a PluginInfo: type, name, endpoint and supported versions. Raises `CsiError`."""
        return await self._call("GetInfo")

    async def notify(self, registered: bool, error: str = "") -> None:
        """Send the result of the registration to the plug-in. Raises `CsiError`."""
        await self._call("NotifyRegistrationStatus", plugin_registered=registered, error=error)
