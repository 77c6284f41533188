"""Types of the discovery documents of backends.

The documents are decoded to these types, and only their fields are published. A value of another type in one backend's
document would stop all clients, because they decode the documents of all groups together.

Source: api apidiscovery/v2/types.go, apimachinery pkg/apis/meta/v1/types.go (1.36).
"""

from typing import Any

import msgspec

Text = str | None
Texts = list[str] | None


class ResponseKind(msgspec.Struct):
    """Group, version and kind that a resource or subresource returns."""

    group: Text = ""
    version: Text = ""
    kind: Text = ""


class SubresourceDiscovery(msgspec.Struct, rename="camel"):
    """Subresource in an APIGroupDiscoveryList."""

    subresource: Text = ""
    response_kind: ResponseKind | None = None
    accepted_types: list[ResponseKind] | None = None
    verbs: Texts = None


class ResourceDiscovery(msgspec.Struct, rename="camel"):
    """Resource in an APIGroupDiscoveryList."""

    resource: Text = ""
    response_kind: ResponseKind | None = None
    scope: Text = ""
    singular_resource: Text = ""
    verbs: Texts = None
    short_names: Texts = None
    categories: Texts = None
    subresources: list[SubresourceDiscovery] | None = None


class VersionDiscovery(msgspec.Struct):
    """Version in an APIGroupDiscoveryList."""

    version: Text = ""
    resources: list[ResourceDiscovery] | None = None


class GroupMetadata(msgspec.Struct):
    """Metadata of a group; its name."""

    name: Text = ""


class GroupDiscovery(msgspec.Struct):
    """Group in an APIGroupDiscoveryList."""

    metadata: GroupMetadata | None = None
    versions: list[VersionDiscovery] | None = None


class GroupDiscoveryList(msgspec.Struct):
    """Aggregated discovery of a server: its groups, versions and resources in one document."""

    items: list[GroupDiscovery] | None = None


class ApiResource(msgspec.Struct, rename="camel"):
    """Entry of an APIResourceList: a resource or a subresource."""

    name: str
    singular_name: Text = ""
    namespaced: bool | None = False
    group: Text = ""
    version: Text = ""
    kind: Text = ""
    verbs: Texts = None
    short_names: Texts = None
    categories: Texts = None


class ApiResourceList(msgspec.Struct):
    """Resources of one group version, from a server without aggregated discovery."""

    resources: list[ApiResource] | None = None


def document_of(resource: ResourceDiscovery) -> dict[str, Any]:
    """Return the JSON value. It and its subresources have a `responseKind`, because clients require this field."""
    document: dict[str, Any] = {
        "resource": resource.resource or "",
        "responseKind": _kind(resource.response_kind),
        "scope": resource.scope or "",
        "singularResource": resource.singular_resource or "",
        "verbs": resource.verbs or [],
    }
    if resource.short_names:
        document["shortNames"] = resource.short_names
    if resource.categories:
        document["categories"] = resource.categories
    if resource.subresources:
        document["subresources"] = [_subresource(each) for each in resource.subresources]
    return document


def _subresource(part: SubresourceDiscovery) -> dict[str, Any]:
    document: dict[str, Any] = {"subresource": part.subresource or "", "responseKind": _kind(part.response_kind)}
    if part.accepted_types:
        document["acceptedTypes"] = [_kind(each) for each in part.accepted_types]
    return {**document, "verbs": part.verbs or []}


def _kind(kind: ResponseKind | None) -> dict[str, str]:
    kind = kind or ResponseKind()
    return {"group": kind.group or "", "version": kind.version or "", "kind": kind.kind or ""}
