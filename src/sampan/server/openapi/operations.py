"""Operations of every served path, independent of the OpenAPI version.

Source: apiserver pkg/endpoints/installer.go (1.36): paths, operation ids, actions, parameters.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from sampan.core.gvk import GroupVersionKind
from sampan.registry.definition import ResourceDefinition, SubresourceDefinition, VersionDefinition
from sampan.server.verbs.subresources import SUBRESOURCES

META = "io.k8s.apimachinery.pkg.apis.meta.v1"
JSON_TYPES = ("application/json", "application/yaml")
_STREAM_TYPES = (*JSON_TYPES, "application/json;stream=watch")


@dataclass(frozen=True, slots=True)
class Parameter:
    """Query or path parameter."""

    name: str
    type: str
    description: str
    where: str = "query"


@dataclass(frozen=True, slots=True)
class Operation:
    """Method of a path. `body` and `response` are names of definitions; an empty `response` is a string.

    Paths outside resources have no `action` and no `gvk`.
    """

    method: str
    id: str
    action: str
    description: str
    gvk: GroupVersionKind | None
    response: str
    codes: tuple[int, ...] = (200,)
    parameters: tuple[Parameter, ...] = ()
    body: str = ""
    consumes: tuple[str, ...] = ()
    produces: tuple[str, ...] = JSON_TYPES


@dataclass(slots=True)
class PathItem:
    """Path with its operations and their common parameters."""

    path: str
    operations: list[Operation] = field(default_factory=list)
    parameters: tuple[Parameter, ...] = ()
    tag: str = ""
    """Group version that serves the path (`core_v1`)."""


PRETTY = Parameter("pretty", "string", "If 'true', the response is indented.")
_DRY_RUN = Parameter("dryRun", "string", "All: do everything except storing. Any other value is invalid.")
_MANAGER = Parameter(
    "fieldManager", "string", "Name of the manager of the changed fields; at most 128 printable characters."
)
_VALIDATION = Parameter(
    "fieldValidation",
    "string",
    "Treatment of unknown and duplicate fields: Ignore, Warn (default) or Strict (error).",
)
_FORCE = Parameter("force", "boolean", "Apply only: take fields that other managers own.")
_LIST = (
    Parameter("allowWatchBookmarks", "boolean", "Send watch events of type BOOKMARK."),
    Parameter("continue", "string", "Token of an earlier page: return the next page of that list."),
    Parameter("fieldSelector", "string", "Restrict the objects by their fields."),
    Parameter("labelSelector", "string", "Restrict the objects by their labels."),
    Parameter("limit", "integer", "Maximum number of items in a page."),
    Parameter("resourceVersion", "string", "Revision of the resource to read."),
    Parameter("resourceVersionMatch", "string", "Meaning of resourceVersion: Exact or NotOlderThan."),
    Parameter("sendInitialEvents", "boolean", "Watch: begin with the current state, followed by a bookmark."),
    Parameter("timeoutSeconds", "integer", "Seconds until the server ends a list or watch."),
    Parameter("watch", "boolean", "Watch the changes instead of listing."),
)
_DELETE = (
    _DRY_RUN,
    Parameter("gracePeriodSeconds", "integer", "Seconds before the object is deleted; 0: at once."),
    Parameter("orphanDependents", "boolean", "Deprecated: use propagationPolicy."),
    Parameter("propagationPolicy", "string", "Orphan, Background or Foreground."),
)
_WRITE = (_DRY_RUN, _MANAGER, _VALIDATION)
_NAMESPACE = Parameter("namespace", "string", "object name and auth scope, such as for teams and projects", "path")


def base_path(group: str, version: str) -> str:
    """Return `/api/v1` or `/apis/<group>/<version>`."""
    return f"/apis/{group}/{version}" if group else f"/api/{version}"


def operation_id(definition: ResourceDefinition, version: VersionDefinition, action: str, suffix: str = "") -> str:
    """Return `readCoreV1NamespacedPodLog` for the action `read{}`: group and version replace the braces."""
    scope = "Namespaced" if definition.namespaced else ""
    where = identifier(definition.group, version.name)
    return f"{action.format(where)}{scope}{definition.kind}{suffix}"


def identifier(group: str, version: str = "") -> str:
    """Return the group and version as a part of operation ids: `RbacAuthorizationV1`."""
    words = [*(group.removesuffix(".k8s.io") or "core").replace("-", ".").split("."), version]
    return "".join(word[:1].upper() + word[1:] for word in words)


def tag_of(group: str, version: str = "") -> str:
    """Return the tag of a group's operations: `rbacAuthorization_v1`."""
    name = identifier(group)
    name = name[:1].lower() + name[1:]
    return f"{name}_{version}" if version else name


def object_parameters(definition: ResourceDefinition, kind: str) -> tuple[Parameter, ...]:
    """Return the parameters in the path of one object. `kind` is the kind in the request, such as that of a
    subresource.
    """
    name = Parameter("name", "string", f"name of the {kind}", "path")
    return (name, _NAMESPACE) if definition.namespaced else (name,)


NameOf = Callable[[GroupVersionKind], str | None]
"""Returns the name of a kind's definition."""


def path_items(
    definition: ResourceDefinition, version: VersionDefinition, kind_name: str, name_of: NameOf
) -> Iterator[PathItem]:
    """Yield the paths of a resource version. `kind_name` names the definition of its kind."""
    maker = _Maker(definition, version, kind_name)
    yield from maker.collection()
    if "get" in definition.verbs:
        yield maker.named()
    if definition.dialect.documents_watch_paths and "watch" in definition.verbs:
        yield from maker.watches()
    yield from maker.subresources()
    for subresource in definition.subresources.values():
        served = SUBRESOURCES.get((definition.resource, subresource.name))
        if served:
            yield maker.subresource(subresource, tuple(served), name_of)


class _Maker:
    def __init__(self, definition: ResourceDefinition, version: VersionDefinition, kind_name: str) -> None:
        self.definition = definition
        self.version = version
        self.kind_name = kind_name
        self.gvk = GroupVersionKind(definition.group, version.name, definition.kind)
        self.base = base_path(definition.group, version.name)
        self.scope = "Namespaced" if definition.namespaced else ""
        self.patch_types = tuple(sorted(definition.dialect.patch_types))

    @property
    def _root(self) -> str:
        scope = "/namespaces/{namespace}" if self.definition.namespaced else ""
        return f"{self.base}{scope}/{self.definition.resource}"

    @property
    def _name(self) -> Parameter:
        return Parameter("name", "string", f"name of the {self.gvk.kind}", "path")

    @property
    def _shared(self) -> tuple[Parameter, ...]:
        return (_NAMESPACE, PRETTY) if self.definition.namespaced else (PRETTY,)

    def _id(self, action: str, suffix: str = "", *, scope: str | None = None) -> str:
        where = identifier(self.gvk.group, self.gvk.version)
        return f"{action}{where}{self.scope if scope is None else scope}{self.gvk.kind}{suffix}"

    def collection(self) -> Iterator[PathItem]:
        """Yield list, create and deletecollection, and the list of all namespaces."""
        kind, verbs, listed = self.gvk.kind, self.definition.verbs, f"{self.kind_name}List"
        item = PathItem(self._root, parameters=self._shared)
        if "list" in verbs:
            text = f"list or watch objects of kind {kind}"
            item.operations.append(
                Operation(
                    "get", self._id("list"), "list", text, self.gvk, listed, (200,), _LIST, produces=_STREAM_TYPES
                )
            )
        if "create" in verbs:
            item.operations.append(
                Operation(
                    "post",
                    self._id("create"),
                    "post",
                    f"create an object of kind {kind}",
                    self.gvk,
                    self.kind_name,
                    (200, 201, 202),
                    _WRITE,
                    self.kind_name,
                    JSON_TYPES,
                )
            )
        if "deletecollection" in verbs:
            item.operations.append(
                Operation(
                    "delete",
                    self._id("deleteCollection", scope=f"Collection{self.scope}").replace("Collection", "", 1),
                    "deletecollection",
                    f"delete a collection of objects of kind {kind}",
                    self.gvk,
                    f"{META}.Status",
                    (200,),
                    (*_DELETE, *_LIST),
                    f"{META}.DeleteOptions",
                    JSON_TYPES,
                )
            )
        yield item
        if self.definition.namespaced and "list" in verbs:
            everywhere = PathItem(f"{self.base}/{self.definition.resource}", parameters=(PRETTY,))
            operation_id = self._id("list", "ForAllNamespaces", scope="")
            text = f"list or watch objects of kind {kind}"
            everywhere.operations.append(
                Operation("get", operation_id, "list", text, self.gvk, listed, (200,), _LIST, produces=_STREAM_TYPES)
            )
            yield everywhere

    def watches(self) -> Iterator[PathItem]:
        """Yield the deprecated paths that watch without a parameter. Custom resources have none."""
        plural = self.definition.resource
        below = "/namespaces/{namespace}" if self.definition.namespaced else ""
        root = f"{self.base}/watch{below}/{plural}"
        everything = f"watch all objects of kind {self.gvk.kind}; deprecated: list with the parameter watch"
        parameters = tuple(sorted({*_LIST, *self._shared}, key=lambda each: each.name))
        yield self._watch(root, "List", "watchlist", everything, parameters)
        if "get" in self.definition.verbs:
            one = f"watch one object of kind {self.gvk.kind}; deprecated: list with watch and a fieldSelector"
            yield self._watch(f"{root}/{{name}}", "", "watch", one, (*parameters, self._name))
        if self.definition.namespaced:
            parameters = tuple(sorted({*_LIST, PRETTY}, key=lambda each: each.name))
            path = f"{self.base}/watch/{plural}"
            yield self._watch(path, "ListForAllNamespaces", "watchlist", everything, parameters, scope="")

    def _watch(
        self,
        path: str,
        suffix: str,
        action: str,
        text: str,
        parameters: tuple[Parameter, ...],
        scope: str | None = None,
    ) -> PathItem:
        name = self._id("watch", suffix, scope=scope)
        operation = Operation("get", name, action, text, self.gvk, f"{META}.WatchEvent", produces=_STREAM_TYPES)
        return PathItem(path, [operation], parameters)

    def named(self) -> PathItem:
        """Return read, replace, patch and delete of an object."""
        item = self._writable(f"{self._root}/{{name}}", "", self.gvk, self.kind_name, self.definition.verbs)
        if "delete" in self.definition.verbs:
            item.operations.append(
                Operation(
                    "delete",
                    self._id("delete"),
                    "delete",
                    f"delete an object of kind {self.gvk.kind}",
                    self.gvk,
                    f"{META}.Status",
                    (200, 202),
                    _DELETE,
                    f"{META}.DeleteOptions",
                    JSON_TYPES,
                )
            )
        return item

    def subresources(self) -> Iterator[PathItem]:
        """Yield status and scale."""
        verbs = ("get", "update", "patch")
        if self.version.status:
            yield self._writable(f"{self._root}/{{name}}/status", "Status", self.gvk, self.kind_name, verbs)
        if self.version.scale is not None:
            gvk = GroupVersionKind("autoscaling", "v1", "Scale")
            yield self._writable(f"{self._root}/{{name}}/scale", "Scale", gvk, "io.k8s.api.autoscaling.v1.Scale", verbs)

    def subresource(self, subresource: SubresourceDefinition, verbs: tuple[str, ...], name_of: NameOf) -> PathItem:
        """Return a subresource with special rules. A create that creates no object returns a Status."""
        gvk, suffix = subresource.kind, subresource.name.capitalize()
        name = name_of(gvk)
        assert name is not None, f"{gvk} has no definition"
        item = self._writable(f"{self._root}/{{name}}/{subresource.name}", suffix, gvk, name, verbs)
        if "create" in verbs:
            text = f"create {subresource.name} of a {self.gvk.kind}"
            item.operations.append(
                Operation(
                    "post",
                    self._id("create", suffix),
                    "post",
                    text,
                    gvk,
                    f"{META}.Status",
                    (201,),
                    _WRITE,
                    name,
                    JSON_TYPES,
                )
            )
        return item

    def _writable(
        self, path: str, suffix: str, gvk: GroupVersionKind, kind_name: str, verbs: tuple[str, ...]
    ) -> PathItem:
        item = PathItem(path, parameters=(self._name, *self._shared))
        what = f"{suffix.lower()} of the specified {self.gvk.kind}" if suffix else f"the specified {gvk.kind}"
        if "get" in verbs:
            item.operations.append(Operation("get", self._id("read", suffix), "get", f"read {what}", gvk, kind_name))
        if "update" in verbs:
            item.operations.append(
                Operation(
                    "put",
                    self._id("replace", suffix),
                    "put",
                    f"replace {what}",
                    gvk,
                    kind_name,
                    (200, 201),
                    _WRITE,
                    kind_name,
                    JSON_TYPES,
                )
            )
        if "patch" in verbs:
            item.operations.append(
                Operation(
                    "patch",
                    self._id("patch", suffix),
                    "patch",
                    f"partially update {what}",
                    gvk,
                    kind_name,
                    (200, 201),
                    (*_WRITE, _FORCE),
                    f"{META}.Patch",
                    self.patch_types,
                )
            )
        return item
