"""`Followers`: watches the ConfigMaps and Secrets of Pods' volumes.

Concurrency: one task and one watch for each object, however many Pods use it.
"""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from sampan.client import ApiError, Client, ClientError, ListOptions
from sampan.node.references import CONFIG_MAP_VIEW, SECRET_VIEW
from sampan.node.tasks import Tasks
from sampan.node.views.volume_sources import Projection, Volume
from sampan.resource import ObjectType

Reference = tuple[str, str, str]
"""Kind (ConfigMap or Secret), namespace, name."""

_VIEWS: Final[dict[str, ObjectType[Any]]] = {"ConfigMap": CONFIG_MAP_VIEW, "Secret": SECRET_VIEW}
_RETRY_S: Final = 10.0

_log = logging.getLogger("sampan.node")


@dataclass(slots=True)
class _Followed:
    task: asyncio.Task[None]
    uids: set[str] = field(default_factory=set)


class Followers:
    """Index of Pods by the objects that they follow."""

    def __init__(self, client: Client, tasks: Tasks, changed: Callable[[str], None]) -> None:
        """`changed` is called with the uid of each Pod that uses an object which may have changed."""
        self._client = client
        self._tasks = tasks
        self._changed = changed
        self._followed: dict[Reference, _Followed] = {}

    def follow(self, uid: str, references: set[Reference]) -> None:
        """Replace the objects that a Pod follows."""
        for reference in references:
            followed = self._followed.get(reference)
            if followed is None:
                task = self._tasks.begin(self._watch(reference), f"watch of {' '.join(reference)}")
                followed = self._followed[reference] = _Followed(task)
            followed.uids.add(uid)
        for reference, followed in list(self._followed.items()):
            if uid in followed.uids and reference not in references:
                followed.uids.discard(uid)
                if not followed.uids:
                    followed.task.cancel()
                    del self._followed[reference]

    async def _watch(self, reference: Reference) -> None:
        kind, namespace, name = reference
        resource = self._client.resource(_VIEWS[kind], namespace=namespace)
        while True:
            try:
                async for _ in resource.follow(ListOptions(field_selector=f"metadata.name={name}")):
                    followed = self._followed.get(reference)
                    for uid in () if followed is None else tuple(followed.uids):
                        self._changed(uid)
            except ClientError as error:
                level = logging.DEBUG if isinstance(error, ApiError) and error.code == 410 else logging.WARNING
                _log.log(level, "watch of %s %s/%s ended, restarting it: %s", kind, namespace, name, error)
            await asyncio.sleep(_RETRY_S)


def references_of(volume: Volume, namespace: str) -> set[Reference]:
    """Return the objects from which a volume's files are made."""
    found: set[Reference] = set()
    if volume.config_map is not None:
        found.add(("ConfigMap", namespace, volume.config_map.name))
    if volume.secret is not None:
        found.add(("Secret", namespace, _secret_name(volume.secret)))
    for source in (volume.projected.sources or ()) if volume.projected is not None else ():
        if source.config_map is not None:
            found.add(("ConfigMap", namespace, source.config_map.name))
        if source.secret is not None:
            found.add(("Secret", namespace, _secret_name(source.secret)))
    return found


def _secret_name(source: Projection) -> str:
    return source.secret_name or source.name
