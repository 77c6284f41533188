"""Differences between built-in types and custom resources that clients can observe.

Kubernetes serves the two with different code. Built-in types are Go types, decoded by a scheme, and go-restful routes
each of their paths and methods (apiserver pkg/endpoints/installer.go). Custom resources are maps without a Go type,
and one handler dispatches all their requests (apiextensions pkg/apiserver/customresource_handler.go).

`Dialect` has one field for each difference, so that verbs use the field and need not know which code path Kubernetes
has. All sources are of Kubernetes 1.36.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from sampan.core import errors
from sampan.core.errors import StatusError
from sampan.core.gvk import GroupResource, package_of
from sampan.core.object import Object
from sampan.patch.media_types import APPLY_PATCH, JSON_PATCH, MERGE_PATCH, STRATEGIC_MERGE_PATCH
from sampan.schema.compile import CompiledSchema
from sampan.schema.decoding.go_nulls import with_nulls
from sampan.schema.structural import Schema
from sampan.wire.json_syntax import Duplicates
from sampan.wire.negotiation import CUSTOM_OFFERED, OFFERED, unsupported_media_type


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """One of the two ways in which Kubernetes serves resources: `BUILTIN` or `CUSTOM`. The text below a flag describes
    the behavior if the flag is True.
    """

    media_types: tuple[str, ...]
    """Media types of objects and lists, the preferred one first.

    Custom resources have no protobuf form. Source: apiextensions customresource_handler.go
    unstructuredNegotiatedSerializer.
    """

    router_checks_accept: bool
    """A request that accepts no media type of the resource gets the router's 406, and no metric counts it.

    The handler of custom resources returns its own 406. Source: go-restful v3 jsr311.go detectRoute.
    """

    accepts_head: bool
    """HEAD is served like GET.

    Routes of built-in types exist for GET alone. The handler of custom resources selects by the request's verb, and the
    verb of HEAD is `get` or `list`. Source: apiserver pkg/endpoints/request/requestinfo.go.
    """

    unknown_subresource: Callable[[GroupResource, str], StatusError]
    """Returns the 404 error for a subresource that does not exist, from the resource and the object's name.

    No route matches for built-in types; custom resources report the object. Source: apiextensions
    customresource_handler.go ServeHTTP.
    """

    refused_method: Callable[[GroupResource, str], StatusError]
    """Returns the 405 error for a verb that the resource does not support, from the resource and the verb.

    Source: apimachinery pkg/api/errors NewGenericServerResponse (built-in types), NewMethodNotSupported (custom ones).
    """

    routes_all_namespaces: bool
    """A write to the path over all namespaces gets 405, because there is a route to list.

    Without routes, the path is unknown: 404. Source: apiserver pkg/endpoints/installer.go; apiextensions
    customresource_handler.go ServeHTTP.
    """

    checks_name_in_handler: bool
    """An update or patch without a name reaches the handler, which refuses it with 400.

    Built-in types have no such route. Source: apiserver pkg/endpoints/handlers/namer.go.
    """

    metrics_use_request_info: bool
    """Metrics take their labels from the parsed path. The labels for built-in types come from the route.

    Source: apiserver pkg/endpoints/metrics/metrics.go InstrumentRouteFunc, InstrumentHandlerFunc.
    """

    patch_types: tuple[str, ...]
    """Media types of patches, in the order in which errors list them.

    Custom resources have no Go type whose tags strategic merge could use. Source: apiextensions
    customresource_handler.go serveResource.
    """

    unsupported_patch: Callable[[tuple[str, ...]], StatusError]
    """Returns the 415 error for an unsupported media type of a patch, from the supported media types.

    Source: go-restful v3 jsr311.go detectRoute (built-in types); apiserver
    pkg/endpoints/handlers/negotiation/errors.go (custom ones).
    """

    requires_kind: bool
    """A body must have a kind. In a body of a built-in type, kind and apiVersion default to the values from the path.

    Source: apimachinery pkg/apis/meta/v1/unstructured/helpers.go; pkg/runtime/serializer/json/json.go.
    """

    has_scheme: bool
    """A body is decoded by a scheme: kinds that the scheme does not have are refused before the version is compared.

    Custom resources compare the version first. Source: apimachinery pkg/runtime/serializer/versioning/versioning.go;
    apiextensions customresource_handler.go schemaCoercingDecoder.
    """

    package: Callable[[str, str], str]
    """Go package of the type, from its group and version, in the error for a body of another kind.

    An object without a Go type shows its version instead. Source: apimachinery pkg/runtime/error.go.
    """

    validates_patched_type: bool
    """A patch that changes kind or apiVersion fails validation (422) instead of decoding (400).

    Source: apiextensions pkg/registry/customresource/validator.go ValidateTypeMeta.
    """

    has_internal_version: bool
    """Strategies and admission get objects in one version, the hub, independent of the version of the request.

    Custom resources stay in the version of the request. Source: apiserver pkg/endpoints/groupversion.go; apiextensions
    customresource_handler.go getOrCreateServingInfoFor.
    """

    read: Callable[[CompiledSchema, Object, list[str] | None], None]
    """Check and prune a body in place; append the paths of unknown fields. Raises `DecodeError`.

    Values of custom resources are checked later, by validation. Source: apiextensions pkg/apiserver/schema/pruning.
    """

    read_applied: Callable[[CompiledSchema, Object], None]
    """Decode the result of a server-side apply in place. Raises `DecodeError`.

    Nulls in custom resources stay, so that validation refuses them where the schema does not allow them. Source:
    apiserver pkg/endpoints/handlers/patch.go applyPatcher.
    """

    default: Callable[[CompiledSchema, Object], None]
    """Set the schema's defaults in place, after `read` or `read_applied`.

    Decoding has already set the defaults of built-in types. Source: apiextensions pkg/apiserver/schema/defaulting.
    """

    strict_faults: Callable[[list[str], list[str]], list[str]]
    """Returns the error texts of strict decoding, from the texts for duplicate fields and the paths of unknown fields.

    One pass finds both in a built-in type, in text order. For custom resources, pruning finds unknown fields after
    decoding. Source: sigs.k8s.io/json; apiextensions customresource_handler.go schemaCoercingDecoder.
    """

    admission_refuses_unknown_fields: bool
    """A mutating admission policy must not add unknown fields; in custom resources they are dropped.

    Source: apiserver pkg/admission/plugin/policy/mutating/patch.
    """

    as_encoded: Callable[[Schema, Object], Object]
    """An object as Go encodes it, for the audit log: fields without `omitempty` are null.

    Source: Go encoding/json.
    """

    selects_by_version: bool
    """Selectable fields differ between versions. Source: apiextensions `spec.versions[*].selectableFields`."""

    labels_namespace_of_cluster_scoped: bool
    """`metadata.namespace` is a field label of cluster-scoped resources too.

    Source: apimachinery pkg/runtime/conversion.go; apiextensions pkg/apiserver/conversion/converter.go.
    """

    unsupported_field_label: Callable[[str, bool], str]
    """Error text for a field label, and whether the resource has more labels than name and namespace.

    Source: apimachinery pkg/runtime/conversion.go DefaultMetaV1FieldSelectorConversion.
    """

    items_have_type: bool
    """List items have kind and apiVersion. Go encodes items of a typed list without them.

    Source: apimachinery pkg/apis/meta/v1/unstructured/unstructured_list.go.
    """

    lists_have_continue: bool
    """The metadata of a list always contains `continue`, even if it is empty.

    Source: apimachinery pkg/apis/meta/v1/unstructured/unstructured_list.go SetContinue.
    """

    scale_requires_replicas: bool
    """A GET of /scale fails if the object has no replicas; a built-in type has zero.

    Source: apiextensions pkg/registry/customresource/etcd.go scaleFromCustomResource.
    """

    validates_scale: bool
    """A Scale is validated before its object is. Otherwise, only the object's schema validates the replicas.

    Source: kubernetes pkg/apis/autoscaling/validation ValidateScale.
    """

    sorts_discovery: bool
    """Discovery sorts the verbs and subresources of a resource.

    Source: apiserver pkg/endpoints/installer.go; apiextensions customresource_discovery_controller.go.
    """

    discovery_repeats_version: bool
    """Aggregated discovery names group and version in `responseKind`, even if they equal the resource's group and
    version.

    Source: apiextensions customresource_discovery_controller.go.
    """

    documents_watch_paths: bool
    """OpenAPI documents the deprecated `/watch/` paths.

    Source: apiserver pkg/endpoints/installer.go; apiextensions pkg/controller/openapi/builder/builder.go.
    """


def _no_route(resource: GroupResource, name: str) -> StatusError:
    return errors.no_such_resource()


def _no_route_for_method(resource: GroupResource, verb: str) -> StatusError:
    return errors.method_not_allowed()


def _no_route_for_patch(supported: tuple[str, ...]) -> StatusError:
    return StatusError(errors.Reason.UNSUPPORTED_MEDIA_TYPE, 415, "415: Unsupported Media Type", details={})


def _decode(compiled: CompiledSchema, obj: Object, unknown: list[str] | None) -> None:
    compiled.decode(obj, unknown=unknown)


def _decode_applied(compiled: CompiledSchema, obj: Object) -> None:
    compiled.decode(obj)


def _prune(compiled: CompiledSchema, obj: Object, unknown: list[str] | None) -> None:
    compiled.prune(obj, unknown=unknown)


def _prune_nothing(compiled: CompiledSchema, obj: Object) -> None:
    compiled.read_metadata(obj)


def _default(compiled: CompiledSchema, obj: Object) -> None:
    compiled.default(obj)


def _default_nothing(compiled: CompiledSchema, obj: Object) -> None:
    """Do nothing, because decoding has already set the defaults."""


def _in_text_order(duplicates: list[str], unknown: list[str]) -> list[str]:
    # Protobuf bodies have no duplicates to report and come as a plain list.
    return duplicates.with_unknown(unknown) if isinstance(duplicates, Duplicates) else _in_turn(duplicates, unknown)


def _in_turn(duplicates: list[str], unknown: list[str]) -> list[str]:
    return [*duplicates, *(f'unknown field "{path}"' for path in unknown)]


def _unchanged(schema: Schema, obj: Object) -> Object:
    return obj


def _version_as_package(group: str, version: str) -> str:
    return version


def _package_of_group(group: str, version: str) -> str:
    return package_of(group)


def _unknown_label(label: str, has_more: bool) -> str:
    if has_more:
        return _not_supported(label, has_more)
    return f'"{label}" is not a known field selector: only "metadata.name", "metadata.namespace"'


def _not_supported(label: str, has_more: bool) -> str:
    return f"field label not supported: {label}"


BUILTIN: Final = Dialect(
    media_types=OFFERED,
    router_checks_accept=True,
    accepts_head=False,
    unknown_subresource=_no_route,
    refused_method=_no_route_for_method,
    routes_all_namespaces=True,
    checks_name_in_handler=False,
    metrics_use_request_info=False,
    patch_types=(JSON_PATCH, MERGE_PATCH, STRATEGIC_MERGE_PATCH, APPLY_PATCH),
    unsupported_patch=_no_route_for_patch,
    requires_kind=False,
    has_scheme=True,
    package=_package_of_group,
    validates_patched_type=False,
    has_internal_version=True,
    read=_decode,
    read_applied=_decode_applied,
    default=_default_nothing,
    strict_faults=_in_text_order,
    admission_refuses_unknown_fields=True,
    as_encoded=with_nulls,
    selects_by_version=False,
    labels_namespace_of_cluster_scoped=True,
    unsupported_field_label=_unknown_label,
    items_have_type=False,
    lists_have_continue=False,
    scale_requires_replicas=False,
    validates_scale=True,
    sorts_discovery=True,
    discovery_repeats_version=False,
    documents_watch_paths=True,
)
"""Built-in types."""

CUSTOM: Final = Dialect(
    media_types=CUSTOM_OFFERED,
    router_checks_accept=False,
    accepts_head=True,
    unknown_subresource=errors.not_found,
    refused_method=errors.method_not_supported,
    routes_all_namespaces=False,
    checks_name_in_handler=True,
    metrics_use_request_info=True,
    patch_types=(JSON_PATCH, MERGE_PATCH, APPLY_PATCH),
    unsupported_patch=unsupported_media_type,
    requires_kind=True,
    has_scheme=False,
    package=_version_as_package,
    validates_patched_type=True,
    has_internal_version=False,
    read=_prune,
    read_applied=_prune_nothing,
    default=_default,
    strict_faults=_in_turn,
    admission_refuses_unknown_fields=False,
    as_encoded=_unchanged,
    selects_by_version=True,
    labels_namespace_of_cluster_scoped=False,
    unsupported_field_label=_not_supported,
    items_have_type=True,
    lists_have_continue=True,
    scale_requires_replicas=True,
    validates_scale=False,
    sorts_discovery=False,
    discovery_repeats_version=True,
    documents_watch_paths=False,
)
"""Custom resources, and resources of other extension API servers."""
