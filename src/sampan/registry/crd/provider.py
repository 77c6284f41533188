"""Build the `ResourceDefinition` for a CRD object (hub version v1)."""

from typing import Any

from sampan.core.object import Object
from sampan.registry.crd.columns import columns_of
from sampan.registry.crd.custom_resource import CustomResourceStrategy
from sampan.registry.crd.reading import record_extractor, strategy_of
from sampan.registry.crd.version_schema import VersionSchema
from sampan.registry.crd.webhook_conversion import Converted, WebhookConversion, uncounted
from sampan.registry.definition import ResourceDefinition, ScalePaths, VersionDefinition
from sampan.registry.webhook.client import Connect
from sampan.registry.webhook.target import target_of
from sampan.schema.compile import SchemaCompiler
from sampan.schema.structural import Schema

VERBS = ("delete", "deletecollection", "get", "list", "patch", "create", "update", "watch")
CLEANUP_FINALIZER = "customresourcecleanup.apiextensions.k8s.io"


def storage_prefix(crd: Object) -> str:
    """Return the key prefix of the custom resources in the store."""
    spec = crd["spec"]
    return f"/registry/{spec['group']}/{spec['names']['plural']}/"


def definition_of(
    crd: Object,
    compiler: SchemaCompiler,
    object_meta: Schema,
    connect: Connect,
    *,
    rewritten_after: int = 0,
    converted: Converted = uncounted,
) -> ResourceDefinition:
    """Return the definition with all versions of a CRD and its accepted names. Schemas are compiled on first use.

    `connect` returns the client of the conversion webhook, if the CRD has one; `converted` records its calls.
    Rows up to the revision `rewritten_after` may have been written under another definition.
    """
    spec = crd["spec"]
    names = (crd.get("status") or {}).get("acceptedNames") or spec["names"]
    versions = {}
    for version in _by_preference(spec["versions"]):
        if version.get("served") or version.get("storage"):
            versions[version["name"]] = _version(crd, version, compiler, object_meta)
    storage = next(version["name"] for version in spec["versions"] if version.get("storage"))
    strategy = versions[storage].strategy
    assert strategy is not None
    definition = ResourceDefinition(
        group=spec["group"],
        resource=names["plural"],
        singular=names.get("singular", ""),
        kind=names["kind"],
        list_kind=names.get("listKind") or f"{names['kind']}List",
        namespaced=spec["scope"] == "Namespaced",
        verbs=VERBS,
        versions=versions,
        storage_version=storage,
        strategy=strategy,
        short_names=tuple(names.get("shortNames") or ()),
        categories=tuple(names.get("categories") or ()),
        builtin=False,
        storage_prefix=storage_prefix(crd),
        rewritten_after=rewritten_after,
    )
    definition.webhook = _webhook_conversion(spec, definition, connect, converted)
    definition.extract = record_extractor(definition)
    return definition


def weigh(definition: ResourceDefinition) -> None:
    """Compute the cost of validating an object for the schema of each version. This is slow for large schemas."""
    for version in definition.versions.values():
        strategy_of(version).schema.weigh()


def _webhook_conversion(
    spec: dict[str, Any], definition: ResourceDefinition, connect: Connect, converted: Converted
) -> WebhookConversion | None:
    conversion = spec.get("conversion") or {}
    if conversion.get("strategy") != "Webhook":
        return None
    prune = {
        version.api_version_of(definition.group): strategy_of(version).schema.prune
        for version in definition.versions.values()
    }
    webhook = conversion["webhook"]
    target = target_of(webhook["clientConfig"])
    versions = webhook["conversionReviewVersions"]
    return WebhookConversion(definition.kind, connect(target), versions, prune, converted)


def _version(crd: Object, version: dict[str, Any], compiler: SchemaCompiler, object_meta: Schema) -> VersionDefinition:
    spec = crd["spec"]
    subresources = version.get("subresources") or {}
    preserve = bool(spec.get("preserveUnknownFields"))
    schema = VersionSchema((version.get("schema") or {}).get("openAPIV3Schema"), preserve, object_meta, compiler)
    selectable = tuple(field["jsonPath"] for field in version.get("selectableFields") or ())
    strategy = CustomResourceStrategy(
        schema=schema,
        status="status" in subresources,
        scale=_scale(subresources),
        selectable=selectable,
    )
    return VersionDefinition(
        name=version["name"],
        schema=schema.get,
        compiled=lambda: schema.compiled,
        openapi=schema.openapi or {},
        served=bool(version.get("served")),
        deprecated=bool(version.get("deprecated")),
        deprecation_warning=_deprecation(spec, version),
        columns=columns_of(version),
        status="status" in subresources,
        scale=_scale(subresources),
        selectable_fields=selectable,
        strategy=strategy,
    )


def _scale(subresources: dict[str, Any]) -> ScalePaths | None:
    scale = subresources.get("scale")
    if scale is None:
        return None
    return ScalePaths(
        spec_replicas=scale["specReplicasPath"].lstrip("."),
        status_replicas=scale["statusReplicasPath"].lstrip("."),
        label_selector=(scale.get("labelSelectorPath") or "").lstrip("."),
    )


def _deprecation(spec: dict[str, Any], version: dict[str, Any]) -> str:
    if not version.get("deprecated"):
        return ""
    default = f"{spec['group']}/{version['name']} {spec['names']['kind']} is deprecated"
    newer = next((other for other in _by_preference(spec["versions"]) if _replaces(other, version)), None)
    if newer is not None:
        default += f"; use {spec['group']}/{newer['name']} {spec['names']['kind']}"
    text: str = version.get("deprecationWarning") or default
    return text


def _replaces(other: dict[str, Any], version: dict[str, Any]) -> bool:
    """Return True if a warning may recommend the version instead of a deprecated one: served, current and preferred."""
    if not other.get("served") or other.get("deprecated"):
        return False
    return version_priority(other["name"]) < version_priority(version["name"])


def _by_preference(versions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Sort by preference: GA, beta, alpha, then the higher number. Names of another form come last, alphabetically."""
    return sorted(versions, key=lambda version: version_priority(version["name"]))


def version_priority(name: str) -> tuple[int, int, int, str]:
    """Return the sort key of a version name.

    Source: apimachinery pkg/version/helpers.go CompareKubeAwareVersionStrings.
    """
    head, stage, minor = _parse_version(name)
    if head < 0:
        return (1, 0, 0, name)
    return (0, {"": 0, "beta": 1, "alpha": 2}[stage], -(head * 10_000 + minor), "")


def _parse_version(name: str) -> tuple[int, str, int]:
    for stage in ("beta", "alpha"):
        major, found, minor = name.partition(stage)
        if found and major[:1] == "v" and major[1:].isdigit() and minor.isdigit():
            return int(major[1:]), stage, int(minor)
    if name[:1] == "v" and name[1:].isdigit():
        return int(name[1:]), "", 0
    return -1, "", 0
