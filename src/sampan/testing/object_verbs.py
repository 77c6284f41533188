"""Verbs of a test in kubectl's words: `apply`, `create`, `get`, `list`, `delete`, `patch`, for manifests and objects.

await cluster.apply("deployment.yaml")
web = await cluster.get("deploy/web")
await cluster.patch("deploy/web", {"spec": {"replicas": 3}})
await cluster.delete("deploy/web", "configmap/settings")
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from sampan.client import (
    Client,
    DeleteOptions,
    Invalid,
    ListOptions,
    NoMatch,
    NotFound,
    ResourceClient,
    StrategicMergePatch,
    UnsupportedMediaType,
)
from sampan.client.objects.manifests import ManifestError, parse, read_manifests
from sampan.client.options import Propagation
from sampan.client.patch import MergePatch, Patch
from sampan.resource import Object, ObjectType, ResourceInfo, object_type
from sampan.resource.crd import crd_of
from sampan.testing.manifest_lines import place_of
from sampan.wire import json

_SERVED_TRIES: Final = 100
_SERVED_PAUSE_S: Final = 0.1

Manifest = str | Path | Mapping[str, Any] | Iterable[Mapping[str, Any]]
"""Objects as YAML or JSON text, the path of a file or folder, a dict, or several dicts."""
Kind = str | ResourceInfo | ObjectType[Any] | type[Any]
"""A kind as in kubectl (`deploy`, `deployments.apps`), or a declared class."""


def objects_of(what: Any) -> Iterator[Object]:
    """Yield the objects of a manifest, or a declared object as a dict. Raises `ManifestError`, `TypeError`."""
    if isinstance(what, Path):
        yield from read_manifests([str(what)])
    elif isinstance(what, str):
        if "\n" in what or what.lstrip().startswith("{"):
            yield from parse("the manifest", what.encode())
        else:
            yield from read_manifests([what])
    elif isinstance(what, Mapping):
        yield dict(what)
    elif isinstance(what, Iterable):
        for each in what:
            yield from objects_of(each)
    else:
        yield as_dict(what)


def as_dict(obj: Any) -> Object:
    """Return a declared object as a dict. Raises `TypeError` for an object of another class."""
    found: Object = json.decode(object_type(type(obj)).encode(obj))
    return found


class ObjectVerbs:
    """Verbs with the rights of a client. `Cluster` has the same methods, and documents their arguments."""

    def __init__(self, client: Callable[[], Client]) -> None:
        self._client = client

    async def crds(self, *sources: str | Path | type[Any] | Mapping[str, Any]) -> None:
        """Create CustomResourceDefinitions from files, folders, dicts or declared classes, and serve them.

        Other objects in a file are left out. Raises `ManifestError` for a source without a definition.
        Raises `Invalid` for a schema with errors: it names the field path, and the line of the file in a note.
        """
        for source in sources:
            crds = [crd_of(source)] if isinstance(source, type) else _crds_in(source)
            for crd in crds:
                try:
                    await self._apply_one(crd)
                except Invalid as error:
                    field = error.causes[0].get("field", "") if error.causes else ""
                    if place := place_of(source, crd["metadata"]["name"], field):
                        error.add_note(f"at {place}")
                    raise
                await self._served(crd["spec"])

    async def apply(self, what: Any, *, field_manager: str = "test", force: bool = True) -> Sequence[Object]:
        """Create or change objects with server-side apply, and return them.

        `what` is YAML text, a path, a dict, a declared object, or several of these.
        """
        return [await self._apply_one(obj, field_manager, force) for obj in objects_of(what)]

    async def create(self, what: Any) -> Sequence[Object]:
        """Create objects and return them. Raises `AlreadyExists`, `Invalid`."""
        return [await (await self._client_of(obj)).create(obj) for obj in objects_of(what)]

    async def get(self, kind: Any, name: str = "", *, namespace: str | None = None) -> Any:
        """Return an object: `get("deploy/web")`, `get("deploy", "web")` or `get(Boat, "b")`. Raises `NotFound`."""
        kind, name = split(kind, name)
        return await (await self.resource(kind, namespace)).get(name)

    async def find(self, kind: Kind, name: str = "", *, namespace: str | None = None) -> Any:
        """Return an object as `get` does, or None if it does not exist."""
        kind, name = split(kind, name)
        try:
            return await (await self.resource(kind, namespace)).get(name)
        except NotFound:
            return None

    async def list(self, kind: Any, *, namespace: str | None = None, selector: str = "") -> Any:
        """Return the objects of a kind, in the namespace or (with "") in all. `selector` selects by labels."""
        return [*await (await self.resource(kind, namespace)).list(ListOptions(label_selector=selector))]

    async def delete(self, *names: Any, namespace: str | None = None, propagation: Propagation | None = None) -> None:
        """Request the deletion of objects: `"deploy/web"`, or objects that were read. Raises `NotFound`."""
        for each in names:
            if isinstance(each, str):
                kind, name = split(each, "")
                client: ResourceClient[Any] = await self.resource(kind, namespace)
            else:
                obj = each if isinstance(each, Mapping) else as_dict(each)
                client, name = await self._client_of(obj), obj["metadata"]["name"]
            await client.delete(name, DeleteOptions(propagation_policy=propagation))

    async def patch(
        self, kind: Kind, change: Patch | Mapping[str, Any], *, namespace: str | None = None, subresource: str = ""
    ) -> Object:
        """Change an object (`"deploy/web"`). A dict is a strategic merge patch; a merge patch for custom resources."""
        kind, name = split(kind, "")
        client = await self.resource(kind, namespace)
        if isinstance(change, Mapping):
            if "." not in client.info.gvr.group or client.info.gvr.group.endswith(".k8s.io"):
                # Custom resources of such a group do not support it.
                with suppress(UnsupportedMediaType):
                    return _plain(await client.patch(name, StrategicMergePatch(dict(change)), subresource=subresource))
            change = MergePatch(dict(change))
        return _plain(await client.patch(name, change, subresource=subresource))

    async def resource(self, kind: Kind, namespace: str | None = None) -> ResourceClient[Any]:
        """Return the client of a kind. Raises `NoMatch` for an unknown one."""
        if isinstance(kind, str):
            return await self._client().resource_for(kind, namespace=namespace)
        return self._client().resource(kind, namespace=namespace)

    async def _client_of(self, obj: Mapping[str, Any]) -> ResourceClient[Object]:
        namespace = (obj.get("metadata") or {}).get("namespace")
        return await self._client().resource_for(obj, namespace=namespace)

    async def _served(self, spec: Mapping[str, Any]) -> None:
        """Wait until discovery has the kind of a CRD. After some seconds, the next request for its objects fails."""
        served = [each["name"] for each in spec.get("versions", ()) if each.get("served")]
        kind = (f"{spec['group']}/{served[0] if served else spec.get('version')}", spec["names"]["kind"])
        for _ in range(_SERVED_TRIES):
            try:
                await self._client().mapper.resource_for(kind)
                return
            except NoMatch:
                self._client().mapper.invalidate()
                await asyncio.sleep(_SERVED_PAUSE_S)

    async def _apply_one(self, obj: Object, field_manager: str = "test", force: bool = True) -> Object:
        return await (await self._client_of(obj)).apply(obj, field_manager=field_manager, force=force)


def split(kind: Any, name: str) -> tuple[Any, str]:
    """Return kind and name of `TYPE/NAME`, or both as they are. Raises `ValueError` for a name that is missing."""
    if isinstance(kind, str) and "/" in kind and not name:
        kind, _, name = kind.partition("/")
    if not name:
        raise ValueError(f"{kind!r} has no name: write TYPE/NAME, such as deploy/web")
    return kind, name


def _crds_in(source: Any) -> list[Object]:
    found = [each for each in objects_of(source) if each.get("kind") == "CustomResourceDefinition"]
    if not found:
        raise ManifestError(f"no CustomResourceDefinition in {source if isinstance(source, Path) else repr(source)}")
    return found


def _plain(obj: Any) -> Object:
    return obj if isinstance(obj, dict) else as_dict(obj)
