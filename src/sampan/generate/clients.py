"""Typed client packages for declared kinds: clientset, listers and informers, like client-gen and its siblings.

clientset.samplecrd_v1().networks("default").get("x")
factory.samplecrd().v1().networks().informer() / .lister()
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sampan.core.gvk import GroupVersion
from sampan.generate.emit import HEADER
from sampan.generate.formatting import formatted
from sampan.generate.models import module_name
from sampan.generate.names import class_name, group_names, snake_case
from sampan.resource.declare import declaration

Groups = Mapping[str, str]
"""Short names of groups, see `group_names`."""


@dataclass(frozen=True, slots=True)
class KindCode:
    """A kind, in the form that the templates use."""

    cls: str
    module: str
    method: str
    namespaced: bool
    status: bool
    scale: bool
    group_version: GroupVersion
    name: str = ""
    """Name of the class in modules that contain the kinds of all versions: `Boat`, or `BoatV1` if there are several."""

    @property
    def alias(self) -> str:
        """Import of the class in a module that contains the kinds of all versions."""
        return self.cls if self.name == self.cls else f"{self.cls} as {self.name}"

    @property
    def client(self) -> str:
        """Name of the kind's client class."""
        return f"{self.cls}Client"


def client_files(classes: Iterable[type[Any]], folder: Path) -> dict[Path, bytes]:
    """Generate the package in a folder, which must be importable under the folder's name.

    Raises `TypeError` for a class that is not declared, `FormatterMissing`.
    """
    kinds = _named(sorted(map(_kind, classes), key=lambda kind: (kind.group_version, kind.cls)))
    versions: dict[GroupVersion, list[KindCode]] = {}
    for kind in kinds:
        versions.setdefault(kind.group_version, []).append(kind)
    groups = group_names(each.group for each in versions)
    files = {
        f"{module_name(each, groups)}.py": _version_module(each, inside, groups) for each, inside in versions.items()
    }
    files["clientset.py"] = _clientset(list(versions), groups)
    files["listers.py"] = _listers(kinds)
    files["informers.py"] = _informers(versions, groups)
    files["__init__.py"] = _package()
    files["py.typed"] = ""
    return {
        folder / name: formatted(source) if name.endswith(".py") else source.encode() for name, source in files.items()
    }


def _kind(cls: type[Any]) -> KindCode:
    declared = declaration(cls)
    info = declared.info
    return KindCode(
        cls.__name__,
        cls.__module__,
        snake_case(info.gvr.resource),
        info.namespaced,
        declared.status,
        declared.scale is not None,
        info.gvk.group_version,
    )


def _named(kinds: Sequence[KindCode]) -> list[KindCode]:
    """Return the kinds with distinct names. A name contains the version, or the group and version, only if
    necessary.
    """
    names = _distinct(
        [(kind.cls, class_name(kind.cls, kind.group_version.version), _full_name(kind)) for kind in kinds]
    )
    return [replace(kind, name=name) for kind, name in zip(kinds, names, strict=True)]


def _full_name(kind: KindCode) -> str:
    return class_name(*kind.group_version.group.split("."), kind.group_version.version, kind.cls)


def _distinct(choices: Sequence[Sequence[str]]) -> list[str]:
    """Choose a name for each item: the first of its choices that is not a choice of another item."""
    counts = Counter(name for names in choices for name in set(names))
    return [next((name for name in names if counts[name] == 1), names[-1]) for names in choices]


def _module(doc: str, imports: Sequence[str], *parts: str) -> str:
    future = "from __future__ import annotations"
    return "\n\n".join([HEADER, f'"""{doc}"""', future, "\n".join(sorted(set(imports))), *parts])


def _imported(kinds: Iterable[KindCode]) -> list[str]:
    return [f"from {kind.module} import {kind.cls}" for kind in kinds]


def _imported_by_name(kinds: Iterable[KindCode]) -> list[str]:
    return [f"from {kind.module} import {kind.alias}" for kind in kinds]


def _version_class(group_version: GroupVersion, groups: Groups) -> str:
    return f"{class_name(groups[group_version.group], group_version.version)}Client"


_CLIENT = '''\
class {kind.client}:
    """Reads and writes {kind.cls} objects{where}. All calls raise `ApiError` and `TransportError`."""

    def __init__(self, resource: ResourceClient[{kind.cls}]) -> None:
        self.resource = resource
        """Underlying client, for operations that are missing here."""

    async def get(self, name: str) -> {kind.cls}:
        """Return one object. Raises `NotFound`."""
        return await self.resource.get(name)

    async def list(self, options: ListOptions = ListOptions()) -> ObjectList[{kind.cls}]:
        """Return one page: all objects, unless `options.limit` is set."""
        return await self.resource.list(options)

    def watch(self, options: ListOptions = ListOptions()) -> AsyncGenerator[WatchEvent[{kind.cls}], None]:
        """Yield the events of one watch."""
        return self.resource.watch(options)

    async def create(self, obj: {kind.cls}, options: WriteOptions = WriteOptions()) -> {kind.cls}:
        """Create an object. Raises `AlreadyExists`, `Invalid`."""
        return await self.resource.create(obj, options)

    async def update(self, obj: {kind.cls}, options: WriteOptions = WriteOptions()) -> {kind.cls}:
        """Replace an object. Raises `Conflict` if it has changed since it was read."""
        return await self.resource.update(obj, options)

    async def patch(self, name: str, patch: Patch, options: WriteOptions = WriteOptions()) -> {kind.cls}:
        """Change an object."""
        return await self.resource.patch(name, patch, options)

    async def apply(self, obj: {kind.cls} | Object, *, field_manager: str = "", force: bool = False) -> {kind.cls}:
        """Server-side apply."""
        return await self.resource.apply(obj, field_manager=field_manager, force=force)

    async def delete(self, name: str, options: DeleteOptions = DeleteOptions()) -> {kind.cls} | None:
        """Delete an object. Return None if it is gone, else the object that waits for finalizers."""
        return await self.resource.delete(name, options)

    async def delete_collection(
        self, options: DeleteOptions = DeleteOptions(), which: ListOptions = ListOptions()
    ) -> None:
        """Delete all objects that match the selectors."""
        await self.resource.delete_collection(options, which)
'''

_STATUS = '''\
    async def update_status(self, obj: {kind.cls}, options: WriteOptions = WriteOptions()) -> {kind.cls}:
        """Replace only the status."""
        return await self.resource.update_status(obj, options)

    async def apply_status(
        self, obj: {kind.cls} | Object, *, field_manager: str = "", force: bool = False
    ) -> {kind.cls}:
        """Server-side apply of the status."""
        return await self.resource.apply(obj, field_manager=field_manager, force=force, subresource="status")
'''

_SCALE = '''\
    async def get_scale(self, name: str) -> Scale:
        """Return the numbers of replicas."""
        return await self.resource.scale.get(name)

    async def update_scale(self, name: str, scale: Scale) -> Scale:
        """Set the number of replicas."""
        return await self.resource.scale.update(name, scale)
'''

_CLIENT_IMPORTS = [
    "from collections.abc import AsyncGenerator",
    "from sampan.client import Client, DeleteOptions, ListOptions, ObjectList, Patch, ResourceClient, Scale",
    "from sampan.client import WatchEvent, WriteOptions",
    "from sampan.resource import Object",
]


def _version_module(group_version: GroupVersion, kinds: Sequence[KindCode], groups: Groups) -> str:
    methods = []
    for kind in kinds:
        if kind.namespaced:
            methods.append(
                f'    def {kind.method}(self, namespace: str = "") -> {kind.client}:\n'
                f'        """Return the client of {kind.cls} objects in a namespace; "" for all."""\n'
                f"        return {kind.client}(self._client.resource({kind.cls}, namespace=namespace))"
            )
        else:
            methods.append(
                f"    def {kind.method}(self) -> {kind.client}:\n"
                f'        """Return the client of {kind.cls} objects."""\n'
                f"        return {kind.client}(self._client.resource({kind.cls}))"
            )
    root = (
        f"class {_version_class(group_version, groups)}:\n"
        f'    """Clients of the resources of {group_version}."""\n\n'
        "    def __init__(self, client: Client) -> None:\n        self._client = client\n\n" + "\n\n".join(methods)
    )
    return _module(f"Clients of {group_version}.", [*_CLIENT_IMPORTS, *_imported(kinds)], root, *map(_client, kinds))


def _client(kind: KindCode) -> str:
    where = " of one namespace, or of all" if kind.namespaced else ""
    parts = [_CLIENT.format(kind=kind, where=where)]
    if kind.status:
        parts.append(_STATUS.format(kind=kind))
    if kind.scale:
        parts.append(_SCALE.format(kind=kind))
    return "\n".join(parts)


def _clientset(versions: Sequence[GroupVersion], groups: Groups) -> str:
    methods = [
        f"    def {module_name(each, groups)}(self) -> {_version_class(each, groups)}:\n"
        f'        """Return the clients of {each}."""\n'
        f"        return {_version_class(each, groups)}(self.client)"
        for each in versions
    ]
    imports = [f"from .{module_name(each, groups)} import {_version_class(each, groups)}" for each in versions]
    body = (
        'class Clientset:\n    """Clients of all groups."""\n\n'
        "    def __init__(self, client: Client) -> None:\n        self.client = client\n\n" + "\n\n".join(methods)
    )
    return _module("The clientset.", ["from sampan.client import Client", *imports], body)


_LISTER = '''\
class {kind.name}Lister:
    """Reads {kind.name} objects from an informer's store."""

    def __init__(self, lister: Lister[{kind.name}]) -> None:
        self._lister = lister

    def list(self, selector: str | Selector = "") -> list[{kind.name}]:
        """Return all objects that match a label selector."""
        return self._lister.list(selector)

'''
_LISTER_NAMESPACED = '''\
    def {kind.method}(self, namespace: str) -> NamespaceLister[{kind.name}]:
        """Return a lister of a namespace, with `get(name)` and `list(selector)`."""
        return self._lister.namespaced(namespace)
'''
_LISTER_CLUSTER = '''\
    def get(self, name: str) -> {kind.name} | None:
        """Return one object, or None."""
        return self._lister.get(name)
'''


def _listers(kinds: Sequence[KindCode]) -> str:
    parts = [
        (_LISTER + (_LISTER_NAMESPACED if kind.namespaced else _LISTER_CLUSTER)).format(kind=kind) for kind in kinds
    ]
    imports = [
        "from sampan.core.label_selectors import Selector",
        "from sampan.informer import Lister, NamespaceLister",
        *_imported_by_name(kinds),
    ]
    return _module("Listers.", imports, *parts)


_INFORMER = '''\
class {kind.name}Informer:
    """Shared informer and lister of {kind.name} objects."""

    def __init__(self, factory: SharedInformerFactory) -> None:
        self._factory = factory

    def informer(self) -> SharedInformer[{kind.name}]:
        """Return the informer; the factory starts it."""
        return self._factory.informer_for({kind.name})

    def lister(self) -> {kind.name}Lister:
        """Return a lister that reads from the informer's store."""
        return {kind.name}Lister(self.informer().lister())
'''


def _informers(versions: dict[GroupVersion, list[KindCode]], groups: Groups) -> str:
    parts: list[str] = []
    imports = ["from sampan.informer import SharedInformer, SharedInformerFactory"]
    by_group: dict[str, list[GroupVersion]] = {}
    for group_version, kinds in versions.items():
        by_group.setdefault(group_version.group, []).append(group_version)
        imports += _imported_by_name(kinds)
        imports += [f"from .listers import {kind.name}Lister" for kind in kinds]
        parts += [_INFORMER.format(kind=kind) for kind in kinds]
        parts.append(_accessors(_informer_class(group_version, groups), f"Informers of {group_version}.", kinds))
    for group, inside in by_group.items():
        methods = [(snake_case(each.version), _informer_class(each, groups), str(each)) for each in inside]
        parts.append(
            _namespace_class(_group_class(group, groups), f"Informers of {group or 'the core group'}.", methods)
        )
    methods = [(groups[group], _group_class(group, groups), group or "the core group") for group in by_group]
    doc = "Informers by group, version and kind, on one factory."
    parts.append(_namespace_class("InformerFactory", doc, methods, own_factory=True))
    return _module("Informers.", imports, *parts)


def _informer_class(group_version: GroupVersion, groups: Groups) -> str:
    return f"{class_name(groups[group_version.group], group_version.version)}Informers"


def _group_class(group: str, groups: Groups) -> str:
    return f"{class_name(groups[group])}Informers"


def _accessors(name: str, doc: str, kinds: Sequence[KindCode]) -> str:
    return _namespace_class(name, doc, [(kind.method, f"{kind.name}Informer", kind.cls) for kind in kinds])


def _namespace_class(name: str, doc: str, methods: Sequence[tuple[str, str, str]], *, own_factory: bool = False) -> str:
    attribute = "factory" if own_factory else "_factory"
    body = [
        f'    def {method}(self) -> {result}:\n        """{text}."""\n        return {result}(self.{attribute})'
        for method, result, text in methods
    ]
    head = (
        f'class {name}:\n    """{doc}"""\n\n'
        f"    def __init__(self, factory: SharedInformerFactory) -> None:\n        self.{attribute} = factory"
    )
    return "\n\n".join([head, *body])


def _package() -> str:
    exports = '__all__ = ["Clientset", "InformerFactory"]'
    imports = ["from .clientset import Clientset", "from .informers import InformerFactory"]
    return _module("Typed clients, informers and listers.", imports, exports)
