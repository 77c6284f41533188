"""`@resource`: declares a kind of object in Python. CRDs, clients, informers and listers are derived from it.

    @resource(group="samplecrd.k8s.io", version="v1", short_names=("net",), columns=(Column("CIDR", ".spec.cidr"),))
    class Network(CustomResource):
        \"\"\"A network and its one subnet.\"\"\"

        spec: NetworkSpec
        status: NetworkStatus | None = None

A declared class is a msgspec Struct (derived from `CustomResource`) or a dataclass with a `metadata: ObjectMeta` field.
"""

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypedDict, TypeVar, Unpack, cast

import msgspec

from sampan.core.gvk import GroupVersionResource
from sampan.resource.info import ResourceInfo
from sampan.resource.lenient import LenientReader
from sampan.resource.meta import ObjectMeta, meta, remember_source, source_of
from sampan.resource.object_type import ObjectType
from sampan.resource.unknown_fields import with_unknown

T = TypeVar("T")


class CustomResource(msgspec.Struct, rename="camel", omit_defaults=True, kw_only=True):
    """Base of declared kinds. JSON field names are in camelCase; `apiVersion` and `kind` are added.

    Fields with their default value are not written. An update keeps fields that the class does not define,
    if the object still has the `metadata` it was read with. A new object has no such fields.
    """

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of `kubectl get`. With a `priority` above 0 it is only shown with `-o wide`."""

    name: str
    json_path: str
    type: str = "string"
    format: str = ""
    description: str = ""
    priority: int = 0


@dataclass(frozen=True, slots=True)
class Rule:
    """A CEL rule (`x-kubernetes-validations`).

    Exactly one of `message` and `message_expression` describes the error.
    """

    rule: str
    message: str = ""
    message_expression: str = ""
    field_path: str = ""
    reason: str = ""
    optional_old_self: bool | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the rule as it appears in a schema."""
        names = {
            "message_expression": "messageExpression",
            "field_path": "fieldPath",
            "optional_old_self": "optionalOldSelf",
        }
        fields = {names.get(name, name): value for name, value in dataclasses.asdict(self).items()}
        return {name: value for name, value in fields.items() if value not in ("", None)}


@dataclass(frozen=True, slots=True)
class Scale:
    """The scale subresource: paths of the numbers of replicas and of the selector."""

    spec_replicas_path: str = ".spec.replicas"
    status_replicas_path: str = ".status.replicas"
    label_selector_path: str = ""


@dataclass(frozen=True, slots=True)
class Declaration:
    """All arguments of `@resource`; `info` is the part that clients need."""

    info: ResourceInfo
    list_kind: str
    columns: tuple[Column, ...] = ()
    rules: tuple[Rule, ...] = ()
    selectable_fields: tuple[str, ...] = ()
    status: bool = False
    """True if there is a status subresource.

    Without it (`no_status`), a status field is written like any other field.
    """
    scale: Scale | None = None
    served: bool = True
    storage: bool = True
    """True if this is the stored version of the kind."""
    deprecated: bool = False
    deprecation_warning: str = ""
    api_approved: str = ""


class Declared(Protocol):
    """A class decorated with `@resource`."""

    __declaration__: Declaration
    __object_type__: ObjectType[Any]


class Options(TypedDict, total=False):
    """Optional arguments of `resource`. The names default to the class's name and its plural."""

    kind: str
    plural: str
    singular: str
    list_kind: str
    short_names: tuple[str, ...]
    categories: tuple[str, ...]
    namespaced: bool
    """False: the kind is cluster-scoped."""
    no_status: bool
    """Do not add a status subresource, although the class has a `status` field."""
    scale: Scale
    columns: tuple[Column, ...]
    rules: tuple[Rule, ...]
    """CEL rules on the whole object."""
    selectable_fields: tuple[str, ...]
    """JSON paths that field selectors may use: `.spec.cidr`."""
    served: bool
    storage: bool
    """False if objects are stored in another version of the kind; True by default."""
    deprecated: bool
    deprecation_warning: str
    api_approved: str
    """For a group under k8s.io or kubernetes.io: URL of the approval, or `unapproved, reason`."""
    lenient: bool
    """Read objects that do not fit the class as Go clients do, see `LenientReader`.

    For classes generated from a schema.
    """


def resource(*, group: str, version: str, **options: Unpack[Options]) -> Callable[[type[T]], type[T]]:
    """Declare a class as a kind. A class with a `status` field has a status subresource, unless `no_status` is set.

    Raises `TypeError` for a class that cannot be a kind.
    """

    def declare(cls: type[T]) -> type[T]:
        made = _declare(cls, group, version, options)
        declared = cast(Declared, cls)
        declared.__declaration__ = made
        declared.__object_type__ = _object_type(cls, made.info, lenient=options.get("lenient", False))
        return cls

    return declare


def _declare(cls: type[Any], group: str, version: str, options: Options) -> Declaration:
    fields = _field_names(cls)
    if "metadata" not in fields:
        raise TypeError(f"{cls.__name__} needs a field metadata: ObjectMeta (derive it from CustomResource)")
    kind = options.get("kind") or cls.__name__
    status = "status" in fields and not options.get("no_status", False)
    scale = options.get("scale")
    subresources = {"status": status, "scale": scale is not None}
    info = ResourceInfo(
        GroupVersionResource(group, version, options.get("plural") or plural_of(kind)),
        kind,
        options.get("namespaced", True),
        options.get("singular") or kind.lower(),
        options.get("short_names", ()),
        options.get("categories", ()),
        subresources=frozenset(name for name, exists in subresources.items() if exists),
    )
    return Declaration(
        info,
        options.get("list_kind") or f"{kind}List",
        options.get("columns", ()),
        options.get("rules", ()),
        options.get("selectable_fields", ()),
        status,
        scale,
        options.get("served", True),
        options.get("storage", True),
        options.get("deprecated", False),
        options.get("deprecation_warning", ""),
        options.get("api_approved", ""),
    )


def declaration(cls: type[Any]) -> Declaration:
    """Return the declaration of a class. Raises `TypeError` if it is not declared."""
    found = getattr(cls, "__declaration__", None)
    if not isinstance(found, Declaration):
        raise TypeError(f"{cls.__name__} is not a declared kind: decorate it with @resource")
    return found


def object_type(cls: type[T]) -> ObjectType[T]:
    """Return the object type of a declared class. Raises `TypeError` if it is not declared."""
    declaration(cls)
    return cast("ObjectType[T]", cast(Declared, cls).__object_type__)


def plural_of(kind: str) -> str:
    """Return the usual plural of a kind, as a resource name: `networks`, `policies`, `ingresses`."""
    lower = kind.lower()
    if lower.endswith(("s", "x", "z", "ch", "sh")):
        return f"{lower}es"
    if lower.endswith("y") and lower[-2:-1] not in "aeiou":
        return f"{lower[:-1]}ies"
    return f"{lower}s"


def _field_names(cls: type[Any]) -> tuple[str, ...]:
    if isinstance(cls, type) and issubclass(cls, msgspec.Struct):
        return cls.__struct_fields__
    if dataclasses.is_dataclass(cls):
        return tuple(field.name for field in dataclasses.fields(cls))
    raise TypeError(f"{cls.__name__} is neither a msgspec Struct nor a dataclass")


def _object_type(cls: type[T], info: ResourceInfo, *, lenient: bool) -> ObjectType[T]:
    prefix = msgspec.json.encode({"apiVersion": info.api_version, "kind": info.kind})[:-1]
    decoder = msgspec.json.Decoder(cls)
    encoder = msgspec.json.Encoder()
    is_struct = issubclass(cls, msgspec.Struct)
    reader: LenientReader | None = None

    def decode(body: bytes) -> T:
        nonlocal reader
        try:
            obj = decoder.decode(body)
        except msgspec.ValidationError:
            if not lenient:
                raise
            reader = reader or LenientReader(cls)
            obj = cast(T, reader.read(msgspec.json.decode(body)))
        remember_source(meta(obj), body)
        return obj

    def encode(obj: T) -> bytes:
        body = encoder.encode(obj) if is_struct else encoder.encode(_without_none(msgspec.to_builtins(obj)))
        return prefix + b"," + body[1:]

    def encode_update(obj: T) -> bytes:
        source = source_of(meta(obj))
        if source is None:
            return encode(obj)
        read, before, after = (msgspec.json.decode(body) for body in (source, encode(decode(source)), encode(obj)))
        return msgspec.json.encode(with_unknown(read, before, after))

    return ObjectType(info, decode, encode, encode_update)


def _without_none(value: Any) -> Any:
    """Remove fields that are None: a dataclass encodes them as null, but Kubernetes' JSON leaves them out."""
    if isinstance(value, dict):
        return {name: _without_none(item) for name, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_without_none(item) for item in value]
    return value
