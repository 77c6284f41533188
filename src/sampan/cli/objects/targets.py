"""Targets of commands: `TYPE NAME…`, `TYPE/NAME…`, `TYPE,TYPE`, or the objects of manifests."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sampan.client import Client, ListOptions, NoMatch, ResourceClient
from sampan.client.objects.manifests import read_manifests
from sampan.client.rest_client import resource_path
from sampan.core.suggestions import closest
from sampan.resource import Object, ResourceInfo, meta


class TargetError(ValueError):
    """Ambiguous or incomplete arguments."""


@dataclass(frozen=True, slots=True)
class ObjectTarget:
    """Resource and the names of some of its objects; without names, all that match the selectors."""

    info: ResourceInfo
    names: tuple[str, ...] = ()
    namespace: str | None = None
    """None: the client's namespace. "": all namespaces."""

    def client(self, client: Client) -> ResourceClient[Object]:
        """Return the client of the resource in the target's namespace."""
        return client.resource(self.info, namespace=self.namespace)

    def namespace_in(self, client: Client) -> str:
        """Return the namespace of the target; empty: all namespaces, or the resource has none."""
        if not self.info.namespaced:
            return ""
        return client.namespace if self.namespace is None else self.namespace

    def path(self, client: Client, name: str = "") -> str:
        """Return the URL path of the resource or of one object. Raises `TargetError` for a name in all namespaces."""
        namespace = self.namespace_in(client)
        if name and self.info.namespaced and not namespace:
            raise TargetError("a resource cannot be retrieved by name across all namespaces")
        return resource_path(self.info, *([name] if name else []), namespace=namespace)


def display_name(info: ResourceInfo, name: str) -> str:
    """Return `pod/a` or `deployment.apps/a`."""
    return f"{type_name(info)}/{name}"


def type_name(info: ResourceInfo) -> str:
    """Return `pod` or `deployment.apps`."""
    kind = info.kind.lower()
    return f"{kind}.{info.gvr.group}" if info.gvr.group else kind


async def targets_of(client: Client, arguments: Sequence[str], *, namespace: str | None = None) -> list[ObjectTarget]:
    """Return the targets that the arguments name, one for each type, in order.

    Raises `TargetError`, or `NoMatch` for an unknown type.
    """
    if not arguments:
        raise TargetError("missing resource type (see sampan api-resources), or files with -f")
    if any("/" in argument for argument in arguments):
        return [await _slashed(client, argument, namespace) for argument in arguments]
    types, *names = arguments
    infos = [info for word in types.split(",") for info in await _infos(client, word)]
    if names and len(infos) > 1:
        raise TargetError("several types need names in the form TYPE/NAME")
    return [ObjectTarget(info, tuple(dict.fromkeys(names)), namespace) for info in infos]


async def targets_in(client: Client, files: Sequence[str], *, recursive: bool) -> list[ObjectTarget]:
    """Return the targets of manifests, one for each object. Raises `ManifestError`, `NoMatch`."""
    return [await target_for(client, obj) for obj in read_manifests(files, recursive=recursive)]


async def selected(client: Client, target: ObjectTarget, chosen: ListOptions) -> list[ObjectTarget]:
    """Return a target for each object that matches the selectors. Raises `TargetError` for names."""
    if target.names:
        raise TargetError("name cannot be provided when a selector or --all is specified")
    found = await target.client(client).metadata_only().list_all(chosen)
    return [replace(target, names=(each.metadata.name,), namespace=each.metadata.namespace or None) for each in found]


async def target_for(client: Client, obj: Object, *, nameless: bool = False) -> ObjectTarget:
    """Return the target of an object. Raises `NoMatch`, or `TargetError` if it has no name.

    `nameless`: the object may have a generateName instead.
    """
    info = await client.mapper.resource_for(obj)
    metadata = meta(obj)
    if not metadata.name and not (nameless and metadata.generate_name):
        raise TargetError(f"a {info.kind} has no name")
    return ObjectTarget(info, (metadata.name,) if metadata.name else (), metadata.namespace or None)


async def _slashed(client: Client, argument: str, namespace: str | None) -> ObjectTarget:
    word, slash, name = argument.partition("/")
    if not (word and slash and name) or "/" in name:
        raise TargetError(f"expected TYPE/NAME, got {argument!r}")
    return ObjectTarget(await _resource(client, word), (name,), namespace)


async def _infos(client: Client, word: str) -> Sequence[ResourceInfo]:
    """Return the resources of a category (`all`) or, if it does not exist, the resource of this name."""
    category = await client.mapper.category(word)
    return category or [await _resource(client, word)]


async def _resource(client: Client, word: str) -> ResourceInfo:
    """Return the resource of this name. Raises `NoMatch`, with the most similar name if there is one."""
    try:
        return await client.mapper.resource_for(word)
    except NoMatch as error:
        names = {
            name for info in (await client.mapper.discovered()).resources for name in (info.gvr.resource, info.singular)
        }
        close = closest(word, names, cutoff=0.75)
        raise NoMatch(f"{error} (did you mean {close}?)" if close else str(error)) from None
