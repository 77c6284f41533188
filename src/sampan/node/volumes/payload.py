"""Files of volumes that are made from other objects.

Source: kubernetes pkg/volume/{configmap,secret,downwardapi,projected} `MakePayload`, `CollectData` (1.36).
"""

from collections.abc import Mapping

from sampan.node.environment.fields import PodPlace, field_value, resource_value
from sampan.node.references import Missing, References
from sampan.node.views.pod import Pod
from sampan.node.views.volume_sources import DownwardApi, Projected, ProjectedSource, Projection, Volume
from sampan.node.volumes.atomic_writer import File, Payload
from sampan.node.volumes.tokens import Tokens


class Payloads:
    """Collects files. Its methods raise `Missing`, `Unreadable` and `ValueError`."""

    def __init__(self, references: References, tokens: Tokens) -> None:
        self._references = references
        self._tokens = tokens

    async def of_volume(self, place: PodPlace, volume: Volume) -> tuple[dict[str, File], float | None]:
        """Return the files of a volume, and the time when the first of them must be renewed (seconds since 1970)."""
        if volume.config_map is not None:
            return await self._config_map(place, volume.config_map, volume.config_map.default_mode), None
        if volume.secret is not None:
            return await self._secret(place, volume.secret, volume.secret.default_mode), None
        if volume.downward_api is not None:
            return downward_files(place, volume.downward_api, volume.downward_api.default_mode), None
        if volume.projected is not None:
            return await self._projected(place, volume.projected)
        raise ValueError("no volume plugin matched")

    async def _config_map(self, place: PodPlace, source: Projection, mode: int) -> dict[str, File]:
        try:
            found = (await self._references.config_map(place.pod.metadata.namespace, source.name)).files
        except Missing:
            if not source.optional:
                raise
            found = {}
        return dict(key_files(source, found, mode, "configmap references non-existent config key"))

    async def _secret(self, place: PodPlace, source: Projection, mode: int) -> dict[str, File]:
        name = source.secret_name or source.name
        try:
            found = (await self._references.secret(place.pod.metadata.namespace, name)).files
        except Missing:
            if not source.optional:
                raise
            found = {}
        return dict(key_files(source, found, mode, "references non-existent secret key"))

    async def _projected(self, place: PodPlace, projected: Projected) -> tuple[dict[str, File], float | None]:
        files: dict[str, File] = {}
        renew_at: float | None = None
        for source in projected.sources or ():
            if source.service_account_token is not None:
                token = await self._tokens.token(place.pod, source.service_account_token)
                mode, owner = _token_access(place, projected)
                files[source.service_account_token.path] = File(token.text.encode(), mode, owner)
                renew_at = token.renew_at if renew_at is None else min(renew_at, token.renew_at)
            else:
                files.update(await self._of_source(place, source, projected.default_mode))
        return files, renew_at

    async def _of_source(self, place: PodPlace, source: ProjectedSource, mode: int) -> dict[str, File]:
        if source.config_map is not None:
            return await self._config_map(place, source.config_map, mode)
        if source.secret is not None:
            return await self._secret(place, source.secret, mode)
        if source.downward_api is not None:
            return downward_files(place, source.downward_api, mode)
        raise ValueError("the projected volume has a source that this node does not support")


def _token_access(place: PodPlace, projected: Projected) -> tuple[int, int | None]:
    """Return mode and owner of a token's file. Only its owner can read it, if it has an owner or a group.

    With fsGroup, the group may read it too (`write_files`).
    Source: kubernetes pkg/volume/projected/projected.go `collectData` (1.36).
    """
    owner = common_user(place.pod)
    has_owner = owner is not None or place.pod.spec.security_context.fs_group is not None
    return (0o600 if has_owner else projected.default_mode), owner


def common_user(pod: Pod) -> int | None:
    """Return the user that all containers run as by their runAsUser; None if one has none or they differ.

    Source: kubernetes pkg/volume/util/util.go `FsUserFrom` (1.36).
    """
    details = pod.spec
    users = {
        details.security_context.run_as_user
        if container.security_context.run_as_user is None
        else container.security_context.run_as_user
        for container in (*details.init_containers, *details.containers)
    }
    return users.pop() if len(users) == 1 else None


def key_files(source: Projection, found: Mapping[str, bytes], mode: int, fault: str) -> Payload:
    """Return the keys of an object as files: all, or the listed ones. Raises `Missing`."""
    if not source.items:
        return {name: File(data, mode) for name, data in found.items()}
    files = {}
    for item in source.items:
        data = found.get(item.key)
        if data is not None:
            files[item.path] = File(data, mode if item.mode is None else item.mode)
        elif not source.optional:
            raise Missing(f"{fault}: {item.key}")
    return files


def downward_files(place: PodPlace, source: DownwardApi, mode: int) -> dict[str, File]:
    """Return fields of the Pod as files. Raises `ValueError`."""
    files = {}
    for item in source.items:
        if item.field_ref is not None:
            text = field_value(place, item.field_ref.field_path)
        elif item.resource_field_ref is not None:
            text = resource_value(place, item.resource_field_ref, "")
        else:
            continue
        files[item.path] = File(text.encode(), mode if item.mode is None else item.mode)
    return files
