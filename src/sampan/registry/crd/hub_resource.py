"""Resource `hubconversions.conversion.sampan.dev`, served like a custom resource but with a dedicated strategy."""

from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

from sampan.core.errors import internal_error
from sampan.core.event_loop.offload import Offload
from sampan.core.field import FieldError, Path, invalid
from sampan.core.json.values import same
from sampan.core.object import Object
from sampan.registry.crd.custom_resource import CustomResourceStrategy
from sampan.registry.crd.hub.losses import losses
from sampan.registry.crd.hub.rules import read_rules
from sampan.registry.crd.provider import definition_of
from sampan.registry.crd.reading import strategy_of
from sampan.registry.definition import ObjectConversion, ResourceDefinition
from sampan.registry.reader import CacheReader
from sampan.registry.strategy import Context, ObjectReader, Release
from sampan.registry.webhook.client import Connect
from sampan.schema.compile import SchemaCompiler
from sampan.schema.structural import Schema
from sampan.wire import json as wire_json

GROUP, VERSION, RESOURCE = "conversion.sampan.dev", "v1alpha1", "hubconversions"
_CRDS = ("apiextensions.k8s.io", "customresourcedefinitions")
_RESULTS_MAX = 64
_STRING: dict[str, Any] = {"type": "string"}


def _object(description: str, properties: dict[str, Any], *needed: str) -> dict[str, Any]:
    required = {"required": list(needed)} if needed else {}
    return {"type": "object", "description": description, "properties": properties, **required}


def _list_of(item: dict[str, Any], key: str = "") -> dict[str, Any]:
    keyed = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": [key]} if key else {}
    return {"type": "array", "items": item, **keyed}


def _text(description: str) -> dict[str, Any]:
    return {**_STRING, "description": description}


def hub_conversion_crd() -> Object:
    """Return the CRD, which is not stored."""
    rule = _object(
        "A field of the hub, and the field of this version with the same meaning.",
        {
            "hub": _text("Path of the field in the hub version, like .spec.cidr or .spec.ports[].number."),
            "field": _text("Path of the field in this version. Default: the path in the hub."),
            "default": {
                "x-kubernetes-preserve-unknown-fields": True,
                "description": "Value in the hub if this version has no such field.",
            },
            "toHub": _text("CEL expression that returns the value in the hub. `self` is the value in this version."),
            "fromHub": _text("CEL expression that returns the value in this version. `self` is the value in the hub."),
        },
        "hub",
    )
    version = _object(
        "Differences of a version from the hub. Fields without a rule are kept as they are.",
        {"name": _text("Name of the version in the CustomResourceDefinition."), "fields": _list_of(rule)},
        "name",
    )
    spec = _object(
        "Rules of the conversion.",
        {
            "hubVersion": _text("Version through which all others are converted. Default: the storage version."),
            "versions": _list_of(version, "name"),
        },
    )
    names = ("type", "status", "reason", "message", "lastTransitionTime")
    fields = {**dict.fromkeys(names, _STRING), "observedGeneration": {"type": "integer"}}
    condition = _object("Ready: the rules fit the current CustomResourceDefinition.", fields, "type")
    status = _object("State of the conversion.", {"conditions": _list_of(condition, "type")})
    schema = _object(
        "Rules that convert between the versions of the CustomResourceDefinition of the same name, without loss.",
        {"spec": spec, "status": status},
        "spec",
    )
    ready = {"name": "Ready", "type": "string", "jsonPath": '.status.conditions[?(@.type=="Ready")].status'}
    names_of = {
        "plural": RESOURCE,
        "singular": "hubconversion",
        "kind": "HubConversion",
        "listKind": "HubConversionList",
    }
    made = {"name": VERSION, "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    age = {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}
    made |= {"subresources": {"status": {}}, "additionalPrinterColumns": [ready, age]}
    return {"spec": {"group": GROUP, "scope": "Cluster", "names": names_of, "versions": [made]}}


class HubConversionStrategy(CustomResourceStrategy):
    """Strategy that refuses conversions with losses."""

    reader: CacheReader
    compiler: SchemaCompiler
    object_meta: Schema
    connect: Connect
    offload: Offload
    _results: OrderedDict[bytes, list[FieldError]]
    """Latest results, by a digest of everything that they depend on."""

    def validate(self, ctx: Context, obj: Object) -> list[FieldError]:
        """Check the schema, then the rules against the CRD's schemas."""
        return super().validate(ctx, obj) or self.faults(obj)

    def validate_update(self, ctx: Context, obj: Object, old: Object) -> list[FieldError]:
        """Check as for create."""
        found = super().validate_update(ctx, obj, old)
        if found or same(obj.get("spec"), old.get("spec")):
            return found
        return self.faults(obj)

    async def begin_create(self, ctx: Context, obj: Object, reader: ObjectReader, allocation: Any) -> Release | None:
        """Compute the result that `validate` needs in a thread."""
        if not super().validate(ctx, obj):
            await self.check_rules(obj)
        return None

    async def begin_update(
        self, ctx: Context, obj: Object, old: Object, reader: ObjectReader, allocation: Any
    ) -> Release | None:
        """Compute the result as for create."""
        if not same(obj.get("spec"), old.get("spec")) and not super().validate_update(ctx, obj, old):
            await self.check_rules(obj)
        return None

    async def check_rules(self, obj: Object) -> list[FieldError]:
        """Return the faults like `faults`, computed in a thread."""
        digest = self._digest(obj)
        found = self._results.get(digest)
        if found is None:
            crd = self.reader.get(*_CRDS, "", obj["metadata"].get("name", ""))
            found = await self.offload.run(len(digest), lambda: list(self._findings(obj, crd)))
            self._results[digest] = found
            if len(self._results) > _RESULTS_MAX:
                self._results.popitem(last=False)
        return found

    def faults(self, obj: Object) -> list[FieldError]:
        """Return the faults of a conversion against the current CRD."""
        found = self._results.get(self._digest(obj))
        if found is not None:
            return list(found)
        return list(self._findings(obj, self.reader.get(*_CRDS, "", obj["metadata"].get("name", ""))))

    def _digest(self, obj: Object) -> bytes:
        """Return a digest of everything that the faults depend on."""
        name = obj["metadata"].get("name", "")
        crd = self.reader.get(*_CRDS, "", name)
        return wire_json.encode([name, obj.get("spec"), None if crd is None else crd["spec"]])

    def _findings(self, obj: Object, crd: Object | None) -> Iterator[FieldError]:
        """Yield the faults."""
        name = obj["metadata"].get("name", "")
        if crd is None:
            yield invalid(Path("metadata", "name"), name, "must be the name of a CustomResourceDefinition")
            return
        if (crd["spec"].get("conversion") or {}).get("strategy", "None") != "None":
            text = "the CustomResourceDefinition must have spec.conversion.strategy None"
            yield invalid(Path("metadata", "name"), name, text)
            return
        every = {**crd, "spec": {**crd["spec"], "versions": [{**v, "served": True} for v in crd["spec"]["versions"]]}}
        definition = definition_of(every, self.compiler, self.object_meta, self.connect)
        found: list[FieldError] = []
        draft = read_rules(obj, definition.versions, definition.storage_version, found)
        yield from found or losses(draft, definition.group, definition.kind, self.compiler)

    async def conversion(self, obj: Object, definition: ResourceDefinition) -> ObjectConversion:
        """Return the conversion for a CRD, compiled in a thread. A conversion with faults refuses every object that is
        not yet in the requested version.
        """
        found = await self.check_rules(obj)
        if found:
            return _Refusal(definition.kind, str(found[0]))
        return await self.offload.run(0, self._compiled, obj, definition)

    def _compiled(self, obj: Object, definition: ResourceDefinition) -> ObjectConversion:
        found: list[FieldError] = []
        draft = read_rules(obj, definition.versions, definition.storage_version, found)
        return _Refusal(definition.kind, str(found[0])) if found else draft.conversion(definition.group)


class _Refusal:
    """Conversion that refuses to convert, because an error is better than a wrong object."""

    def __init__(self, kind: str, reason: str) -> None:
        self._kind, self._reason = kind, reason

    def convert(self, obj: Object, api_version: str) -> Object:
        """Return the object if it has the version. Raises `StatusError` 500 otherwise."""
        if obj["apiVersion"] == api_version:
            return obj
        raise internal_error(
            f"hub conversion for {obj['apiVersion']}, Kind={self._kind} cannot be used: {self._reason}"
        )


def hub_conversions(
    reader: CacheReader, compiler: SchemaCompiler, object_meta: Schema, connect: Connect, offload: Offload
) -> tuple[ResourceDefinition, HubConversionStrategy]:
    """Return the definition that serves HubConversions, and its strategy."""
    definition = definition_of(hub_conversion_crd(), compiler, object_meta, connect)
    version = definition.versions[VERSION]
    plain = strategy_of(version)
    strategy = HubConversionStrategy(schema=plain.schema, status=True, scale=None, selectable=())
    strategy.reader, strategy.compiler = reader, compiler
    strategy.object_meta, strategy.connect = object_meta, connect
    strategy.offload = offload
    strategy._results = OrderedDict()
    version.strategy = definition.strategy = strategy
    return definition, strategy
