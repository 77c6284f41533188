"""`Caches`: the informers of a manager, with the namespaces, selectors and transforms of its options.

Concurrency: `run` starts informers as tasks, also those that are requested later. Each namespace selector has a
handler. It adds and removes one namespace at a time, for all groups of informers that use the selector.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from sampan.client.objects.partial_metadata import PartialObjectMetadata
from sampan.core.gvk import GroupVersionResource
from sampan.informer.factory import Scope, SharedInformerFactory
from sampan.informer.group import InformerGroup
from sampan.informer.informer import Informer
from sampan.informer.ref import Deletion, Ref
from sampan.informer.shared_informer import SharedInformer
from sampan.informer.sync import wait_for_cache_sync
from sampan.operator.caches.cached_client import CachedClient, declared_type, resource_info
from sampan.operator.caches.options import CacheOptions, Namespaces, NamespaceSelector
from sampan.operator.caches.selection import Selection
from sampan.operator.controller import CacheSyncTimeout
from sampan.operator.manager.options import ManagerOptions
from sampan.resource import ObjectType, ResourceInfo

_log = logging.getLogger("sampan.manager")

_NAMESPACES: Final = ResourceInfo(GroupVersionResource("", "v1", "namespaces"), "Namespace", namespaced=False)
_DEFAULTS: Final = CacheOptions()

Kind = ResourceInfo | ObjectType[Any] | type[Any]


@dataclass(frozen=True, slots=True)
class _Made:
    """Informer of one kind, and how its cache is read."""

    informer: SharedInformer[Any] | InformerGroup[Any]
    namespace: str
    """Namespace of the informer; "" for all, and for groups."""
    selection: Selection | None


class Caches:
    """Creates and runs the informers of a manager."""

    def __init__(self, client: CachedClient, informers: SharedInformerFactory, options: ManagerOptions) -> None:
        """Raises `TypeError` if the options name a class that is not a declared kind."""
        self._client = client
        self._informers = informers
        self._options = options
        self._of_kind: Mapping[ResourceInfo, CacheOptions] = {
            resource_info(kind): each for kind, each in options.caches.items()
        }
        self._made: dict[tuple[bool, ObjectType[Any]], _Made] = {}
        self._selected: dict[str, _SelectedNamespaces] = {}
        self._started = asyncio.Event()
        self._requested = asyncio.Event()

    def informer_for(self, what: Kind) -> Informer[Any]:
        """Return the informer of a kind. From now on the client reads the kind from it."""
        made = self._make(what, metadata_only=False)
        if not self._client.is_cached(what):
            is_partial = self._options_of(resource_info(what)).transform is not None
            self._client.read_from(
                made.informer, namespace=made.namespace, selection=made.selection, is_partial=is_partial
            )
        return made.informer

    def metadata_informer_for(self, what: Kind) -> Informer[PartialObjectMetadata]:
        """Return the informer of a kind's metadata. From now on `metadata` of the client reads the kind from it."""
        made = self._make(what, metadata_only=True)
        self._client.read_metadata_from(made.informer, namespace=made.namespace, selection=made.selection)
        return made.informer

    async def run(self) -> None:
        """Run the informers until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            while True:
                await self._informers.start(tasks)
                for selected in self._selected.values():
                    selected.start(tasks)
                self._started.set()
                await self._requested.wait()
                self._requested.clear()

    async def synced(self) -> None:
        """Wait until all stores contain their first lists. Raises `CacheSyncTimeout`."""
        await self._started.wait()
        groups = [made.informer for made in self._made.values() if isinstance(made.informer, InformerGroup)]
        limit_s = self._options.cache_sync_timeout_s
        try:
            async with asyncio.timeout(limit_s):
                await self._informers.wait_for_cache_sync()
                await wait_for_cache_sync(*groups)
        except TimeoutError:
            late = ", ".join(_with_cause(each) for each in self._informers.informers if not each.has_synced())
            question = "is the kind served, and may this client list and watch it?"
            raise CacheSyncTimeout(f"caches did not sync in {limit_s:g} s: {late} ({question})") from None

    def check(self) -> None:
        """Raise `RuntimeError`, which names the kinds, if a store does not contain its first list yet.

        Namespaces that were selected after the start do not count: one that the operator may not read must not make
        all others unready.
        """
        later = {informer for selected in self._selected.values() for informer in selected.later}
        missing = [each for each in self._informers.informers if not each.has_synced() and each not in later]
        late = [str(each.object_type.info.gvr) for each in missing]
        if late:
            raise RuntimeError(f"not synced: {', '.join(dict.fromkeys(late))}")

    def _options_of(self, info: ResourceInfo) -> CacheOptions:
        return self._of_kind.get(info, _DEFAULTS)

    def _make(self, what: Kind, *, metadata_only: bool) -> _Made:
        declared = declared_type(what)
        key = (metadata_only, declared)
        made = self._made.get(key)
        if made is None:
            made = self._made[key] = self._new(declared, metadata_only=metadata_only)
            self._requested.set()
        return made

    def _new(self, kind: ObjectType[Any], *, metadata_only: bool) -> _Made:
        options = self._options_of(kind.info)
        selection = Selection.parse(options.label_selector, options.field_selector)

        def informer_in(namespace: str) -> SharedInformer[Any]:
            scope = Scope(namespace, options.label_selector, options.field_selector)
            if metadata_only:
                return self._informers.metadata_informer_for(kind, scope)
            return self._informers.informer_for(kind, scope, transform=options.transform)

        namespaces = self._namespaces_of(kind.info, options)
        if isinstance(namespaces, NamespaceSelector):
            # The type of the informers, which is that of metadata if they have only metadata.
            group = InformerGroup[Any]({}, kind, complete=False)
            self._selected_by(namespaces).add_group(group, informer_in)
            return _Made(group, "", selection)
        if len(namespaces) > 1:
            return _Made(InformerGroup({each: informer_in(each) for each in namespaces}, kind), "", selection)
        namespace = namespaces[0] if namespaces else ""
        return _Made(informer_in(namespace), namespace, selection)

    def _namespaces_of(self, info: ResourceInfo, options: CacheOptions) -> NamespaceSelector | list[str]:
        """Return a selector or the names of namespaces without repetition; no names for all namespaces."""
        if not info.namespaced:
            return []
        chosen: Namespaces = self._options.namespaces if options.namespaces is None else options.namespaces
        if isinstance(chosen, NamespaceSelector):
            return chosen
        if not chosen and options.namespaces is None and self._options.namespace:
            return [self._options.namespace]
        return list(dict.fromkeys(chosen))

    def places_of(self, info: ResourceInfo) -> list[str]:
        """Return the namespaces in which the operator works on a kind; "" for all."""
        namespaces = self._namespaces_of(info, self._options_of(info))
        return [""] if isinstance(namespaces, NamespaceSelector) else namespaces or [""]

    def selected_kinds(self) -> list[ResourceInfo]:
        """Return the kinds that are watched in the namespaces of a selector."""
        infos = (declared.info for _, declared in self._made)
        return [
            info for info in infos if isinstance(self._namespaces_of(info, self._options_of(info)), NamespaceSelector)
        ]

    def _selected_by(self, selector: NamespaceSelector) -> "_SelectedNamespaces":
        selected = self._selected.get(selector.label_selector)
        if selected is None:
            scope = Scope("", selector.label_selector)
            namespaces = self._informers.metadata_informer_for(_NAMESPACES, scope)
            selected = _SelectedNamespaces(namespaces, self._informers, self._requested.set)
            self._selected[selector.label_selector] = selected
        return selected


def _with_cause(informer: SharedInformer[Any]) -> str:
    failure = informer.last_failure
    return str(informer) if failure is None else f"{failure.resource}: {failure.cause}"


@dataclass(slots=True)
class _SelectedNamespaces:
    """Handler of the namespaces that a selector selects: keeps the groups up to date."""

    namespaces: SharedInformer[PartialObjectMetadata]
    informers: SharedInformerFactory
    request_start: Callable[[], None]
    groups: list[tuple[InformerGroup[Any], Callable[[str], SharedInformer[Any]]]] = field(default_factory=list)
    started: bool = False
    later: set[SharedInformer[Any]] = field(default_factory=set)
    """Informers of namespaces that were selected after the start."""

    def add_group(self, group: InformerGroup[Any], informer_in: Callable[[str], SharedInformer[Any]]) -> None:
        """Follow the namespaces for another group."""
        self.groups.append((group, informer_in))
        if self.started:
            for name in self.namespaces.indexer.keys():  # noqa: SIM118  (no dict: a method)
                group.join(name, informer_in(name))
            if self.namespaces.has_synced():
                group.set_complete()

    def start(self, tasks: asyncio.TaskGroup) -> None:
        """Begin to follow the namespaces, once."""
        if not self.started:
            self.started = True
            tasks.create_task(self._run())

    async def _run(self) -> None:
        registration = self.namespaces.add_handler(self)
        await registration.synced()
        for group, _ in self.groups:
            group.set_complete()

    def on_add(self, obj: Ref[PartialObjectMetadata], is_in_initial_list: bool) -> None:
        """Add a namespace to all groups."""
        if not is_in_initial_list:
            _log.info("namespace %s was selected: following its objects", obj.name)
        for group, informer_in in self.groups:
            if obj.name not in group.namespaces:
                informer = informer_in(obj.name)
                if not is_in_initial_list:
                    self.later.add(informer)
                group.join(obj.name, informer)
        self.request_start()

    def on_update(self, old: Ref[PartialObjectMetadata], new: Ref[PartialObjectMetadata]) -> None:
        """Do nothing: only the selection counts."""

    async def on_delete(self, obj: Deletion[PartialObjectMetadata]) -> None:
        """Remove a namespace from all groups. Handlers get a deletion of each object."""
        _log.info("namespace %s is no longer selected: forgetting its objects", obj.name)
        for group, _ in self.groups:
            informer = group.leave(obj.name)
            if informer is not None:
                self.later.discard(informer)
                await self.informers.retire(informer)
