"""`Subject`: a kind whose objects are generated, with the server's own validation as the judge.

The judge runs the steps of a create that compute: decoding, defaults, preparation and validation. Admission and the
allocation of addresses are not part of it.
"""

from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from sampan.core.errors import StatusError
from sampan.core.field import ErrorType, FieldError
from sampan.core.object import Object
from sampan.core.time import SystemClock
from sampan.patch.copying import copy_json
from sampan.registry.builtins import Builtins
from sampan.registry.crd.provider import definition_of
from sampan.registry.definition import ResourceDefinition, VersionDefinition
from sampan.registry.rest.metadata import fill_system_fields, metadata_of
from sampan.registry.rest.metadata_faults import object_faults
from sampan.registry.strategy import Context
from sampan.resource import ResourceInfo
from sampan.resource.crd import crd_of
from sampan.resource.declare import declaration
from sampan.schema.compile import CompiledSchema, DecodeError, SchemaCompiler
from sampan.schema.structural import Schema
from sampan.testing.generated.required_fields import NAMELESS
from sampan.testing.object_verbs import objects_of
from sampan.testing.servers.logical_server import template

NAMESPACE: Final = "default"
_META: Final = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
_CRD: Final = "CustomResourceDefinition"


class UnknownKind(LookupError):
    """No kind has this name. The message lists the alternatives."""


@dataclass(frozen=True, slots=True, eq=False)
class Subject:
    """One version of a kind."""

    definition: ResourceDefinition
    version: VersionDefinition
    compiled: CompiledSchema

    @property
    def api_version(self) -> str:
        """The `apiVersion` of its objects."""
        return self.version.api_version_of(self.definition.group)

    @property
    def kind(self) -> str:
        """The `kind` of its objects."""
        return self.definition.kind

    @property
    def is_custom(self) -> bool:
        """True if a CRD defines the kind: its schema has all rules."""
        return not self.definition.builtin

    @property
    def schema(self) -> Schema:
        """The root schema."""
        return self.version.schema()

    def faults(self, obj: Object) -> list[FieldError]:
        """Return the reasons why a server refuses to create the object; empty: it accepts it."""
        obj = copy_json(obj)
        strategy = self.version.strategy or self.definition.strategy
        unknown: list[str] = []
        context = Context(
            namespace=NAMESPACE if self.definition.namespaced else "", name=obj["metadata"].get("name", "")
        )
        if self.definition.namespaced:
            obj["metadata"].setdefault("namespace", NAMESPACE)
        try:
            if self.is_custom:
                self.compiled.prune(obj, unknown)
                self.compiled.default(obj)
            else:
                self.compiled.decode(obj, unknown=unknown)
            if self.version.conversion is not None:
                obj = self.version.conversion.to_hub(obj)
            strategy.default(obj)
            fill_system_fields(metadata_of(obj), SystemClock())
            obj["metadata"]["generation"] = 1
            strategy.prepare_for_create(context, obj)
            found = strategy.validate(context, obj)
            if self.definition.group not in NAMELESS:
                found = [*object_faults(strategy, obj["metadata"], namespaced=self.definition.namespaced), *found]
        except (DecodeError, StatusError) as error:
            return [FieldError(ErrorType.INVALID, "", None, str(error))]
        return [*(FieldError(ErrorType.FORBIDDEN, each, None, "unknown field") for each in unknown), *found]


def subject_of(what: Any, definitions: Iterable[ResourceDefinition] = ()) -> Subject:
    """Return the subject of a declared class, a CRD (dict, path or text), an object or the name of a kind.

    Names are as in kubectl (`deploy`, `deployments.apps`), or that of the kind. `definitions` are those of a cluster;
    the built-in kinds are always known. Raises `UnknownKind`.
    """
    if isinstance(what, Subject):
        return what
    if isinstance(what, type):
        return _of_crd(crd_of(what), declaration(what).info.gvr.version)
    if isinstance(what, ResourceInfo):
        return _named(f"{what.gvr.resource}.{what.gvr.group}", definitions, what.gvr.version)
    if isinstance(what, Mapping):
        if what.get("kind") == _CRD and "versions" in (what.get("spec") or {}):
            return _of_crd(what)
        group, _, version = str(what["apiVersion"]).rpartition("/")
        return _named(f"{what['kind']}.{group}", definitions, version)
    if isinstance(what, Path) or "\n" in what or "/" in what or what.endswith((".yaml", ".yml", ".json")):
        crds = [each for each in objects_of(what) if each.get("kind") == _CRD]
        if len(crds) != 1:
            raise UnknownKind(f"{what} has {len(crds)} CustomResourceDefinitions, and one is needed: pass it as a dict")
        return _of_crd(crds[0])
    return _named(what, definitions)


@cache
def _builtins() -> tuple[ResourceDefinition, ...]:
    parts = template().parts
    return tuple(Builtins(parts.schemas, parts.builtins).definitions)


@cache
def _compiler() -> SchemaCompiler:
    return SchemaCompiler(template().parts.schemas)


def _of_crd(crd: Mapping[str, Any], version: str = "") -> Subject:
    made: dict[str, Any] = deepcopy(dict(crd))
    # Objects are generated and judged in one version, so nothing is converted.
    made["spec"].pop("conversion", None)
    # Files of controller-gen have a status with empty names.
    made.pop("status", None)
    definition = definition_of(made, _compiler(), template().parts.schemas.schema(_META), _no_webhook)
    return _subject(definition, version)


def _no_webhook(target: Any) -> Any:
    raise AssertionError("objects are judged in one version")


def _subject(definition: ResourceDefinition, version: str = "") -> Subject:
    served = [each for each in definition.versions.values() if each.served]
    chosen = next((each for each in served if each.name == version), served[0])
    compiled = chosen.compiled() if chosen.compiled is not None else _compiler().compile(chosen.schema())
    return Subject(definition, chosen, compiled)


def _named(name: str, definitions: Iterable[ResourceDefinition], version: str = "") -> Subject:
    word, _, group = name.partition(".")
    for each in (*definitions, *_builtins()):
        words = {each.kind, each.kind.lower(), each.resource, each.singular, *each.short_names}
        if word in words and (not group or group == each.group) and "create" in each.verbs:
            return _subject(each, version)
    raise UnknownKind(f"{name!r} is no kind that can be created: use a name as in kubectl, a declared class or a CRD")
