"""`RESTMapper`: finds resources by the names that users and objects use.

Source: client-go restmapper/{discovery,shortcut,category_expansion}.go; apimachinery meta/v1 `ParseResourceArg` (1.36).
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from sampan.client.discovery.discover import Discovered
from sampan.client.errors import NoMatch
from sampan.core.gvk import GroupVersion, GroupVersionKind, GroupVersionResource
from sampan.resource import ResourceInfo

ResourceName = str | GroupVersionKind | GroupVersionResource | tuple[str, str] | Mapping[str, Any]
"""Name of a resource, in any form that `RESTMapper.resource_for` accepts."""

REFRESH_INTERVAL_S: Final = 5.0


class RESTMapper:
    """Cache of discovery. A name that is not in the cache causes a new discovery, at most every few seconds for each
    name.

    Concurrency: belongs to one event loop. Concurrent misses share one discovery.
    """

    def __init__(
        self, discover: Callable[[], Awaitable[Discovered]], *, refresh_interval_s: float = REFRESH_INTERVAL_S
    ) -> None:
        self._discover = discover
        self._refresh_interval_s = refresh_interval_s
        self._requested_at = float("-inf")
        """Time at which the discovery that returned `_found` began."""
        self._found: Discovered | None = None
        self._missed_at: dict[str, float] = {}
        """Time of the last discovery that did not find a name, by the error message for that name."""
        self._lock = asyncio.Lock()

    async def resource_for(self, what: ResourceName) -> ResourceInfo:
        """Return the resource that `what` names. If several match, return that of the server's first group, in its
        preferred version.

        `what` is a name as in kubectl, in any letter case: `deployments`, `deployment`, `deploy`, `Deployment`. It may
        have a group (`deployments.apps`), or version and group (`deployments.v1.apps`). Or it is a GroupVersionKind, a
        GroupVersionResource, `(api_version, kind)`, or an object (a dict with `apiVersion` and `kind`).

        Raises `NoMatch`. Raises `ApiError` or `TransportError` if discovery fails.
        """
        return (await self.resources_for(what))[0]

    async def resources_for(self, what: ResourceName) -> Sequence[ResourceInfo]:
        """Return all resources with this name, at least one, best first. Raises as `resource_for` does."""
        matches = _matcher(what)
        now = asyncio.get_running_loop().time()
        if self._found is not None and (found := matches(self._found)):
            return found
        missing = _no_match(what)
        if now - self._missed_at.get(missing, float("-inf")) >= self._refresh_interval_s:
            if found := matches(await self._refreshed(now)):
                return found
            self._miss(missing)
        raise NoMatch(missing + _failures(self._found))

    async def category(self, name: str) -> Sequence[ResourceInfo]:
        """Return the resources of a category (`all`), each in its preferred version. Empty for an unknown category."""
        return [info for info in preferred(await self.discovered()) if name in info.categories]

    async def discovered(self) -> Discovered:
        """Return the cached discovery, or discover the server's resources."""
        return self._found or await self._refreshed(asyncio.get_running_loop().time())

    def invalidate(self) -> None:
        """Clear the cache. The next call discovers again."""
        self._found = None
        self._requested_at = float("-inf")
        self._missed_at.clear()

    async def _refreshed(self, since: float) -> Discovered:
        """Return a discovery that began at `since` or later."""
        async with self._lock:
            if self._found is None or self._requested_at < since:
                requested_at = asyncio.get_running_loop().time()
                self._found = await self._discover()
                self._requested_at = requested_at
            return self._found

    def _miss(self, missing: str) -> None:
        now = asyncio.get_running_loop().time()
        self._missed_at = {name: at for name, at in self._missed_at.items() if now - at < self._refresh_interval_s}
        self._missed_at[missing] = now


def preferred(discovered: Discovered) -> Iterator[ResourceInfo]:
    """Yield each resource of each group once, in the first version that has it."""
    seen = set()
    for info in discovered.resources:
        if info.gvr.group_resource not in seen:
            seen.add(info.gvr.group_resource)
            yield info


Matcher = Callable[[Discovered], Sequence[ResourceInfo]]


def _matcher(what: ResourceName) -> Matcher:
    if isinstance(what, str):
        return lambda found: _named(found, what.lower())
    if isinstance(what, GroupVersionKind):
        return lambda found: [info for info in found.versions.get(what.group_version, ()) if info.kind == what.kind]
    if isinstance(what, GroupVersionResource):
        return lambda found: [info for info in found.versions.get(what.group_version, ()) if info.gvr == what]
    api_version, kind = _type_of(what)
    return _matcher(GroupVersionKind(*GroupVersion.parse(api_version), kind))


def _type_of(what: tuple[str, str] | Mapping[str, Any]) -> tuple[str, str]:
    if isinstance(what, tuple):
        return what
    api_version, kind = what.get("apiVersion"), what.get("kind")
    if not (isinstance(api_version, str) and isinstance(kind, str)):
        raise NoMatch("the object has no apiVersion or no kind")
    return api_version, kind


def _named(found: Discovered, name: str) -> Sequence[ResourceInfo]:
    """Find resources by name. `a.b.c` is first read with `b` as a version, because a group may begin like a version."""
    word, _, rest = name.partition(".")
    version, _, group = rest.partition(".")
    if version and (exact := found.versions.get(GroupVersion(group, version))):
        matches = _matching(word, exact)
        if matches:
            return matches
    return _matching(word, _in_group(rest, list(preferred(found))))


def _in_group(group: str, resources: Sequence[ResourceInfo]) -> Sequence[ResourceInfo]:
    """Return the resources of the group or, if there are none, of groups with this prefix: `ingresses.networking`."""
    if not group:
        return resources
    exact = [info for info in resources if info.gvr.group == group]
    return exact or [info for info in resources if info.gvr.group.startswith(group)]


def _matching(word: str, candidates: Sequence[ResourceInfo]) -> Sequence[ResourceInfo]:
    """Return the candidates that match the word. A resource's name beats a short name, which beats a kind."""
    ways: tuple[Callable[[ResourceInfo], bool], ...] = (
        lambda info: word in (info.gvr.resource, info.singular),
        lambda info: word in info.short_names,
        lambda info: word == info.kind.lower(),
    )
    for way in ways:
        if found := [info for info in candidates if way(info)]:
            return found
    return []


def _no_match(what: ResourceName) -> str:
    if isinstance(what, str):
        return f'the server doesn\'t have a resource type "{what}"'
    if isinstance(what, GroupVersionResource):
        return f"no matches for {what}"
    if isinstance(what, GroupVersionKind):
        return f'no matches for kind "{what.kind}" in version "{what.api_version}"'
    api_version, kind = _type_of(what)
    return f'no matches for kind "{kind}" in version "{api_version}"'


def _failures(found: Discovered | None) -> str:
    if found is None or not found.failed:
        return ""
    return f" (the resources of {', '.join(map(str, found.failed))} could not be read)"
