"""`RESTMapper`: from what people and objects call a resource to the resource.

Source: client-go restmapper/{discovery,shortcut,category_expansion}.go; apimachinery meta/v1 `ParseResourceArg` (1.36).
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from sampan.client.discovery import Discovered
from sampan.client.errors import NoMatch
from sampan.core.gvk import GroupVersion, GroupVersionKind, GroupVersionResource
from sampan.resource import ResourceInfo

ResourceName = str | GroupVersionKind | GroupVersionResource | tuple[str, str] | Mapping[str, Any]
"""What a resource may be called: see `RESTMapper.resource_for`."""

REFRESH_INTERVAL_S: Final = 5.0


class RESTMapper:
    """Knows what discovery told. What it does not know it asks for again: for each name at most every few seconds.

    Concurrency: belongs to one event loop; of many that miss at once one asks, the others wait for its answer.
    """

    def __init__(
        self, discover: Callable[[], Awaitable[Discovered]], *, refresh_interval_s: float = REFRESH_INTERVAL_S
    ) -> None:
        self._discover = discover
        self._refresh_interval_s = refresh_interval_s
        self._asked_at = float("-inf")
        """When that was asked for which `_found` is the answer."""
        self._found: Discovered | None = None
        self._missed: dict[str, float] = {}
        """When it was last found that the server has nothing of that name."""
        self._lock = asyncio.Lock()

    async def resource_for(self, what: ResourceName) -> ResourceInfo:
        """The resource. Of several the one whose group the server has first, in its preferred version.

        `what` is a name as kubectl takes them, in any case: `deployments`, `deployment`, `deploy`, `Deployment`, with a
        group (`deployments.apps`) or with version and group (`deployments.v1.apps`); or a GroupVersionKind or
        -Resource; or `(api_version, kind)`; or an object (a dict with `apiVersion` and `kind`).
        Raises `NoMatch`; `ApiError`, `TransportError` when discovery fails.
        """
        return (await self.resources_for(what))[0]

    async def resources_for(self, what: ResourceName) -> Sequence[ResourceInfo]:
        """All that are called so, best first: at least one. Raises as `resource_for` does."""
        matches = _matcher(what)
        now = asyncio.get_running_loop().time()
        if self._found is not None and (found := matches(self._found)):
            return found
        missing = _no_match(what)
        if now - self._missed.get(missing, float("-inf")) >= self._refresh_interval_s:
            if found := matches(await self._refreshed(now)):
                return found
            self._miss(missing)
        raise NoMatch(missing + _failures(self._found))

    async def category(self, name: str) -> Sequence[ResourceInfo]:
        """The resources of a category (`all`), each in the best version that has it. Empty for an unknown one."""
        return [info for info in preferred(await self.discovered()) if name in info.categories]

    async def discovered(self) -> Discovered:
        """All that the server has, as far as it is known here."""
        return self._found or await self._refreshed(asyncio.get_running_loop().time())

    def invalidate(self) -> None:
        """Forget everything: the next question asks the server."""
        self._found = None
        self._asked_at = float("-inf")
        self._missed.clear()

    async def _refreshed(self, since: float) -> Discovered:
        """What the server has said to a question that was put at `since` or later."""
        async with self._lock:
            if self._found is None or self._asked_at < since:
                asked_at = asyncio.get_running_loop().time()
                self._found = await self._discover()
                self._asked_at = asked_at
            return self._found

    def _miss(self, missing: str) -> None:
        now = asyncio.get_running_loop().time()
        self._missed = {name: at for name, at in self._missed.items() if now - at < self._refresh_interval_s}
        self._missed[missing] = now


def preferred(discovered: Discovered) -> Iterator[ResourceInfo]:
    """Each resource of each group once, in the best version that has it."""
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
        raise NoMatch("the object does not say its apiVersion and kind")
    return api_version, kind


def _named(found: Discovered, name: str) -> Sequence[ResourceInfo]:
    """Fully said names first, since a group's name may begin like a version."""
    word, _, rest = name.partition(".")
    version, _, group = rest.partition(".")
    if version and (exact := found.versions.get(GroupVersion(group, version))):
        matches = _called(word, exact)
        if matches:
            return matches
    return _called(word, _in_group(rest, list(preferred(found))))


def _in_group(said: str, resources: Sequence[ResourceInfo]) -> Sequence[ResourceInfo]:
    """Those of the group; if there is none, those of groups that begin so: `ingresses.networking`."""
    if not said:
        return resources
    exact = [info for info in resources if info.gvr.group == said]
    return exact or [info for info in resources if info.gvr.group.startswith(said)]


def _called(word: str, candidates: Sequence[ResourceInfo]) -> Sequence[ResourceInfo]:
    """Those of the candidates that the word names: a resource's name beats a short name, which beats a kind."""
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
