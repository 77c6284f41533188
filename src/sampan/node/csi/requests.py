"""`Requests`: parts of the requests to a driver: capability, context, secrets and tokens.

Source: kubernetes pkg/volume/csi/{csi_client,csi_mounter,csi_util}.go (1.36).
"""

import datetime as dt
import json
from collections.abc import Mapping
from typing import Final

from sampan.core.time import format_time
from sampan.csi.messages import AnyMessage, message, value
from sampan.node.csi.drivers import MULTI_WRITER, RegisteredDriver
from sampan.node.references import CsiDriver, References, SecretReference
from sampan.node.views.volume_sources import TokenProjection
from sampan.node.volumes.csi import CsiVolume
from sampan.node.volumes.tokens import Tokens

TOKENS: Final = "csi.storage.k8s.io/serviceAccount.tokens"
_TOKEN_S: Final = 3600
_MODES: Final = {
    "ReadWriteOnce": "SINGLE_NODE_WRITER",
    "ReadOnlyMany": "MULTI_NODE_READER_ONLY",
    "ReadWriteMany": "MULTI_NODE_MULTI_WRITER",
    "ReadWriteOncePod": "SINGLE_NODE_WRITER",
}
_MODES_OF_POD_WRITERS: Final = {
    **_MODES,
    "ReadWriteOnce": "SINGLE_NODE_MULTI_WRITER",
    "ReadWriteOncePod": "SINGLE_NODE_SINGLE_WRITER",
}


def capability(volume: CsiVolume, driver: RegisteredDriver, *, group: int | None = None) -> AnyMessage:
    """Return the VolumeCapability for a volume: its type and access mode.

    `group`: the fsGroup, if the driver applies it.
    """
    modes = _MODES_OF_POD_WRITERS if MULTI_WRITER in driver.capabilities else _MODES
    name = modes.get(next(iter(volume.access_modes), ""), "SINGLE_NODE_WRITER")
    mode = message("VolumeCapability.AccessMode")(mode=value(name))
    if volume.is_block:
        return message("VolumeCapability")(block=message("VolumeCapability.BlockVolume")(), access_mode=mode)
    mount = message("VolumeCapability.MountVolume")(
        fs_type=volume.fs_type,
        mount_flags=list(volume.mount_options),
        volume_mount_group="" if group is None else str(group),
    )
    return message("VolumeCapability")(mount=mount, access_mode=mode)


def pod_context(volume: CsiVolume) -> dict[str, str]:
    """Return the volume context about a Pod, for drivers with podInfoOnMount."""
    pod = volume.pod
    return {
        "csi.storage.k8s.io/pod.name": pod.metadata.name,
        "csi.storage.k8s.io/pod.namespace": pod.metadata.namespace,
        "csi.storage.k8s.io/pod.uid": pod.metadata.uid,
        "csi.storage.k8s.io/serviceAccount.name": pod.spec.service_account_name,
        "csi.storage.k8s.io/ephemeral": "true" if volume.is_inline else "false",
    }


class Requests:
    """Reads Secrets and tokens for requests from the API server."""

    def __init__(self, references: References, tokens: Tokens) -> None:
        self._references = references
        self._tokens = tokens

    def forget(self, uid: str) -> None:
        """Drop the tokens of a Pod."""
        self._tokens.forget(uid)

    async def secrets(self, reference: SecretReference | None) -> dict[str, str]:
        """Return the values of a Secret; empty for no reference. Raises `Missing`, `Unreadable`."""
        if reference is None or not reference.name:
            return {}
        found = await self._references.secret(reference.namespace, reference.name)
        return {key: data.decode(errors="replace") for key, data in found.data.items()}

    async def context(
        self, volume: CsiVolume, driver: CsiDriver | None, secrets: Mapping[str, str]
    ) -> tuple[dict[str, str], dict[str, str]]:
        """Return volume_context and secrets for NodePublishVolume. Raises `Missing`, `Unreadable`."""
        context, found = dict(volume.attributes), dict(secrets)
        if driver is None:
            return context, found
        if driver.spec.pod_info_on_mount:
            context |= pod_context(volume)
        if driver.spec.token_requests:
            tokens = {}
            for each in driver.spec.token_requests:
                desired = TokenProjection(each.audience, each.expiration_seconds or _TOKEN_S)
                token = await self._tokens.token(volume.pod, desired)
                shown = format_time(dt.datetime.fromtimestamp(token.expires_at, dt.UTC))
                tokens[each.audience] = {"token": token.text, "expirationTimestamp": shown}
            where = found if driver.spec.service_account_token_in_secrets else context
            where[TOKENS] = json.dumps(tokens, separators=(",", ":"))
        return context, found
