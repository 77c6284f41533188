"""Pages of the kinds that a server has from the start: their fields, verbs and names; and of the types they use."""

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import groupby
from typing import Final, NamedTuple

from scripts.site.reference import fields
from scripts.site.reference.inline_schema import inline_sections
from scripts.site.reference.markdown import anchor, code, document, link, plain, table
from scripts.site.reference.server import logical_server
from scripts.site.reference.types import SIMPLE_PAGE, TYPES, Types, file_name, short_name

from sampan.core.gvk import GroupVersionKind
from sampan.registry.crd.hub_resource import hub_conversion_crd
from sampan.registry.crd.provider import definition_of
from sampan.registry.definition import ResourceDefinition, VersionDefinition
from sampan.schema.builtin import Definitions

FOLDER: Final = "reference/kinds"
INDEX: Final = f"{FOLDER}/index.md"
_CORE: Final = "core"
_OBJECT_META: Final = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
_SCALE: Final = GroupVersionKind("autoscaling", "v1", "Scale")
_USERS_MAX: Final = 12


class Served(NamedTuple):
    """A kind in one version."""

    resource: ResourceDefinition
    version: VersionDefinition
    name: str
    """Name of its definition; empty for a custom resource, and for a version that Kubernetes no longer serves."""

    @property
    def page(self) -> str:
        """Path of the page; empty if the version has none."""
        if self.name:
            return f"{FOLDER}/{file_name(self.name)}.md"
        group = self.resource.group.partition(".")[0]
        return f"{FOLDER}/{group}-{self.version.name}-{self.resource.kind.lower()}.md" if self.version.openapi else ""

    @property
    def api_version(self) -> str:
        """`apiVersion` of its objects."""
        return self.version.api_version_of(self.resource.group)


@cache
def schemas() -> Definitions:
    """Return the definitions of the built-in types."""
    return Definitions()


@cache
def served() -> tuple[Served, ...]:
    """Return every kind of a new server in every served version, in the order of discovery."""
    return tuple(
        Served(resource, version, schemas().name_for_kind(_gvk(resource, version)) or "")
        for resource in (*logical_server().cluster.registry.definitions(), _hub_conversions())
        for version in resource.versions.values()
        if version.served
    )


def _hub_conversions() -> ResourceDefinition:
    """Return the definition of the custom resource that a server adds when it starts."""
    cluster = logical_server().cluster
    object_meta = schemas().schema(_OBJECT_META)
    return definition_of(hub_conversion_crd(), cluster.compiler, object_meta, cluster.connect)


def _gvk(resource: ResourceDefinition, version: VersionDefinition) -> GroupVersionKind:
    return GroupVersionKind(resource.group, version.name, resource.kind)


@cache
def types() -> Types:
    """Return the types of all kinds, and of the bodies of their subresources."""
    parts = [part for each in served() for part in each.resource.subresources.values()]
    bodies = [schemas().name_for_kind(kind) for kind in (_SCALE, *(part.kind for part in parts))]
    return Types([each.name for each in served() if each.name], filter(None, bodies), schemas())


def pages() -> dict[str, str]:
    """Return the pages of all kinds and types by their paths, and the indexes."""
    found = {INDEX: document(_index())}
    found |= {each.page: document(_kind(each)) for each in served() if each.page}
    found |= {types().page(name): document(_type(name)) for name in types().shared}
    return {**found, f"{TYPES}/index.md": document(_types_index()), SIMPLE_PAGE: document(_simple())}


def _index() -> Iterator[str]:
    yield from ("# Kinds", "", "The kinds of a new server, by API group. `kubectl explain` shows the same fields.", "")
    ordered = sorted(served(), key=lambda each: (each.resource.group, each.resource.kind))
    for group, members in groupby(ordered, key=lambda each: each.resource.group):
        found = list(members)
        yield from (f"## {group or _CORE}", "", f"`apiVersion`: {_codes(dict.fromkeys(_versions(found)))}.", "")
        yield from (*table(("kind", "scope", "resource"), [_index_row(each) for each in found]), "")
    yield f"Several kinds share {link('types', f'{TYPES}/index.md', INDEX)}."


def _versions(kinds: Iterable[Served]) -> Iterator[str]:
    """Yield the `apiVersion` of each kind."""
    return (each.api_version for each in kinds)


def _index_row(each: Served) -> tuple[str, ...]:
    resource = each.resource
    name = link(resource.kind, each.page, INDEX) if each.page else resource.kind
    if len(resource.versions) > 1:
        name += f" {code(each.version.name)}"
    return name, "namespace" if resource.namespaced else "cluster", _codes((resource.resource, *resource.short_names))


def _kind(each: Served) -> Iterator[str]:
    yield from (f"# {_title(each)}", "")
    openapi = each.version.openapi
    node = openapi if openapi else types().node(each.name)
    yield from (plain(" ".join(fields.sentences_of(str(node.get("description", ""))))), "")
    yield from (*table(("property", "value"), _facts(each)), "")
    if openapi:
        yield from inline_sections(openapi)
        return
    yield from _described(each.name, each.page)


def _title(each: Served) -> str:
    """Return the kind, with the `apiVersion` if several pages have the same kind."""
    same = [other for other in served() if other.page and other.resource.kind == each.resource.kind]
    return f"{each.resource.kind} ({each.api_version})" if len(same) > 1 else each.resource.kind


def _described(name: str, page: str) -> Iterator[str]:
    """Yield the fields of a type, and the sections of the types that its page describes."""
    link_of = _Links(page, types().sections(name))
    yield from ("## Fields", "", *fields.field_table(types().node(name), link_of), "")
    yield from fields.sections(link_of.sections[1:], types().node, link_of)


class _Links:
    """Links from a page to types. `sections`: the types that this page describes."""

    def __init__(self, page: str, sections: list[str]) -> None:
        self._page = page
        self.sections = sections

    def __call__(self, name: str) -> str:
        """Return the link to a type."""
        text = short_name(name)
        if name in self.sections:
            return f"[{text}](#{'fields' if name == self.sections[0] else anchor(text)})"
        return link(text, kind_pages().get(name) or types().page(name), self._page)


@cache
def kind_pages() -> dict[str, str]:
    """Return the page of each kind by the name of its definition."""
    return {each.name: each.page for each in served() if each.name}


def _facts(each: Served) -> Iterator[tuple[str, str]]:
    resource, version = each.resource, each.version
    yield "API version", code(each.api_version)
    yield "resource", code(resource.resource)
    yield "scope", "namespace" if resource.namespaced else "cluster"
    yield from ((label, _codes(names)) for label, names in _names(resource) if names)
    yield "verbs", _codes(sorted(resource.verbs))
    for name, verbs, kind in _subresources(each):
        yield f"subresource {code(name)}", _codes(sorted(verbs)) + (f", body {kind}" if kind else "")
    versions = [other for other in served() if other.resource is resource and other.version is not version]
    if versions:
        yield "other versions", ", ".join(_other_version(other, each.page) for other in versions)
    if version.selectable_fields or version.deprecation_warning:
        yield "note", version.deprecation_warning or _codes(version.selectable_fields)


def _other_version(other: Served, page: str) -> str:
    name = code(other.api_version)
    return link(name, other.page, page) if other.page else f"{name} (for old manifests)"


def _names(resource: ResourceDefinition) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return ("short names", resource.short_names), ("categories", resource.categories)


def _subresources(each: Served) -> Iterator[tuple[str, tuple[str, ...], str]]:
    """Yield name, verbs and the link to the kind of the body, if it is another kind."""
    changes = ("get", "patch", "update")
    if each.version.status:
        yield "status", changes, ""
    parts = [(part.name, part.verbs, part.kind) for part in each.resource.subresources.values()]
    for name, verbs, kind in [*([("scale", changes, _SCALE)] if each.version.scale else []), *parts]:
        body = schemas().name_for_kind(kind) if kind.kind != each.resource.kind else None
        yield name, verbs, link(kind.kind, types().page(body), each.page) if body and types().page(body) else ""


def _type(name: str) -> Iterator[str]:
    page = types().page(name)
    yield from (f"# {_title_of_type(name)}", "")
    node = types().node(name)
    if node.get("description"):
        yield from (plain(fields.short(node["description"])), "")
    users = Counter(use.user for use in types().users(name))
    shown = [link(short_name(user), _place(user), page) for user in list(users)[:_USERS_MAX]]
    if shown:
        more = f" and {len(users) - _USERS_MAX} more" if len(users) > _USERS_MAX else ""
        yield from (f"Used by {', '.join(shown)}{more}.", "")
    yield from _described(name, page)


def _title_of_type(name: str) -> str:
    """Return the short name, with the group and version if several pages have the same name."""
    text = short_name(name)
    group, version = name.split(".")[-3:-1]
    return f"{text} ({group}/{version})" if [*map(short_name, types().shared)].count(text) > 1 else text


def _place(name: str) -> str:
    """Return the page, with an anchor, that describes a type."""
    found = kind_pages().get(name) or types().page(name)
    if found:
        return found
    owner = next(each for each in [*kind_pages(), *types().shared] if name in types().sections(each))
    return f"{kind_pages().get(owner) or types().page(owner)}#{anchor(short_name(name))}"


def _types_index() -> Iterator[str]:
    page = f"{TYPES}/index.md"
    yield from ("# Types", "", f"Types that several {link('kinds', INDEX, page)} share.", "")
    rows = [
        (
            link(_title_of_type(name), types().page(name), page),
            plain(fields.short(types().node(name).get("description", ""))),
        )
        for name in [*types().shared, *types().simple]
    ]
    yield from table(("type", "meaning"), rows)


def _simple() -> Iterator[str]:
    yield from ("# Simple types", "", "Types without fields.", "")
    for name in types().simple:
        node = types().node(name)
        form = fields.type_of(node, short_name)
        yield from (f"## {short_name(name)}", "", f"In JSON: {form}.", "")
        yield from (plain(fields.short(node.get("description", ""))), "")


def _codes(names: Iterable[str]) -> str:
    return ", ".join(map(code, names))
