"""`Snapshotter`: takes and deletes snapshots, as VolumeSnapshotContents request.

Source: external-snapshotter pkg/sidecar-controller/{snapshot_controller,snapshot_controller_base}.go.
"""

from typing import Any, Final

from sampan.client import ApiError, Conflict, MergePatch, NotFound
from sampan.component_base.context import ControllerContext
from sampan.core.time import timestamp
from sampan.csi.errors import CsiError
from sampan.csi.messages import AnyMessage
from sampan.csi.sidecar.changes import relevant_changes
from sampan.csi.sidecar.driver import Driver
from sampan.csi.sidecar.secrets import PREFIX, secret_data
from sampan.csi.sidecar.settings import SidecarSettings
from sampan.csi.sidecar.snapshots.kinds import (
    BEING_CREATED,
    CONTENT_FINALIZER,
    DELETION_SECRET,
    VOLUME_SNAPSHOT_CLASSES,
    VOLUME_SNAPSHOT_CONTENTS,
    snapshot_parameters,
    snapshot_secret,
)
from sampan.operator.predicates import Predicate
from sampan.operator.request import Request, Result, RetryLater
from sampan.resource import Object, meta

_NANOSECONDS: Final = 1_000_000_000


class Snapshotter:
    """Reconciler of the VolumeSnapshotContents of a driver."""

    def __init__(self, context: ControllerContext, driver: Driver, settings: SidecarSettings) -> None:
        client = context.manager.client
        self._client = client.direct
        self._contents = client.resource(VOLUME_SNAPSHOT_CONTENTS)
        self._recorder = context.recorder(f"{driver.name.lower()}/external-snapshotter")
        self._clock = context.clock
        self._driver = driver
        self._settings = settings

    async def reconcile(self, request: Request) -> Result | None:
        """Reconcile one content. Raises `ApiError`, `TransportError`, `RetryLater`."""
        content = await self._contents.find(request)
        if content is None or content["spec"].get("driver") != self._driver.name:
            return None
        try:
            if meta(content).deletion_timestamp is not None:
                await self._delete(content)
                return None
            return await self._take(content)
        except (Conflict, NotFound) as error:
            raise RetryLater(str(error)) from error

    async def _take(self, content: Object) -> Result | None:
        status, source = content.get("status") or {}, content["spec"].get("source") or {}
        if CONTENT_FINALIZER not in meta(content).finalizers:
            content = await self._set_finalizers(content, [*meta(content).finalizers, CONTENT_FINALIZER])
        if status.get("readyToUse"):
            return None
        if source.get("snapshotHandle"):
            await self._write(content, {"snapshotHandle": source["snapshotHandle"], "readyToUse": True, "error": None})
            return None
        if not (content["spec"].get("volumeSnapshotRef") or {}).get("uid"):
            return None
        try:
            taken = await self._create(content)
        except (CsiError, ApiError, ValueError) as error:
            note = f"Failed to create snapshot: {error}"
            described = {"message": note, "time": timestamp(self._clock)}
            self._recorder.warning(content, "SnapshotCreationFailed", note)
            await self._write(content, {"readyToUse": False, "error": described})
            raise RetryLater(note) from error
        await self._write(content, _status(taken))
        await self._annotate(content, {BEING_CREATED: None})
        return None if taken.ready_to_use else Result(self._settings.retry_interval_start_s)

    async def _create(self, content: Object) -> AnyMessage:
        """Take the snapshot of a content. Raises `CsiError`, `ApiError`, `ValueError`."""
        reference = content["spec"]["volumeSnapshotRef"]
        name = content["spec"].get("volumeSnapshotClassName")
        parameters: dict[str, str] = {}
        if name:
            found = await self._client.resource(VOLUME_SNAPSHOT_CLASSES).get(name)
            parameters = found.get("parameters") or {}
        secret = snapshot_secret(parameters, meta(content).name, reference)
        fields = snapshot_parameters(parameters)
        if self._settings.extra_create_metadata:
            fields[f"{PREFIX}volumesnapshot/name"] = reference["name"]
            fields[f"{PREFIX}volumesnapshot/namespace"] = reference["namespace"]
            fields[f"{PREFIX}volumesnapshotcontent/name"] = meta(content).name
        secrets = await secret_data(self._client, secret)
        annotations: dict[str, str | None] = {BEING_CREATED: "yes"}
        if secret is not None:
            annotations |= {f"{DELETION_SECRET}-{key}": value for key, value in secret.items()}
        await self._annotate(content, annotations)
        try:
            response = await self._driver.call(
                "CreateSnapshot",
                name=f"snapshot-{reference['uid']}",
                source_volume_id=content["spec"]["source"]["volumeHandle"],
                parameters=fields,
                secrets=secrets,
            )
        except CsiError as error:
            if error.is_final:
                await self._annotate(content, {BEING_CREATED: None})
            raise
        return response.snapshot

    async def _delete(self, content: Object) -> None:
        """Delete the snapshot of a content that is being deleted, if its policy is to delete it."""
        if CONTENT_FINALIZER not in meta(content).finalizers:
            return
        source = content["spec"].get("source") or {}
        handle = (content.get("status") or {}).get("snapshotHandle") or source.get("snapshotHandle")
        try:
            if content["spec"].get("deletionPolicy") == "Delete":
                if handle is None and BEING_CREATED in meta(content).annotations:
                    handle = (await self._create(content)).snapshot_id  # It may exist: the driver names it now.
                if handle is not None:
                    await self._driver.call("DeleteSnapshot", snapshot_id=handle, secrets=await self._secrets(content))
        except (CsiError, ApiError, ValueError) as error:
            self._recorder.warning(content, "SnapshotDeleteError", f"Failed to delete snapshot: {error}")
            raise RetryLater(str(error)) from error
        latest = await self._client.resource(VOLUME_SNAPSHOT_CONTENTS).get(meta(content).name)
        await self._set_finalizers(latest, [each for each in meta(latest).finalizers if each != CONTENT_FINALIZER])

    async def _secrets(self, content: Object) -> dict[str, str]:
        annotations = meta(content).annotations
        name, namespace = annotations.get(f"{DELETION_SECRET}-name"), annotations.get(f"{DELETION_SECRET}-namespace")
        return await secret_data(self._client, {"name": name, "namespace": namespace} if name and namespace else None)

    async def _set_finalizers(self, content: Object, finalizers: list[str]) -> Object:
        metadata = {"resourceVersion": meta(content).resource_version, "finalizers": finalizers or None}
        return await self._contents.patch(meta(content).name, MergePatch({"metadata": metadata}))

    async def _annotate(self, content: Object, annotations: dict[str, str | None]) -> None:
        await self._contents.patch(meta(content).name, MergePatch({"metadata": {"annotations": annotations}}))

    async def _write(self, content: Object, status: Object) -> None:
        await self._contents.status.patch(meta(content).name, MergePatch({"status": status}))


def _status(taken: AnyMessage) -> dict[str, Any]:
    found: dict[str, Any] = {
        "snapshotHandle": taken.snapshot_id,
        "readyToUse": taken.ready_to_use,
        "creationTime": taken.creation_time.seconds * _NANOSECONDS + taken.creation_time.nanos,
        "error": None,
    }
    if taken.size_bytes:
        found["restoreSize"] = taken.size_bytes
    return found


def content_changed() -> Predicate[Any]:
    """Return a predicate that drops the updates which the snapshotter itself makes."""
    return relevant_changes(_relevant)


def _relevant(content: Object) -> tuple[Any, ...]:
    return content["metadata"]["uid"], content["metadata"].get("deletionTimestamp"), content["spec"]
