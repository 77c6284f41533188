"""`@resource`: declares a kind of object in Python. CRDs, clients, informers and listers are derived from it.

    @resource(group="samplecrd.k8s.io", version="v1", short_names=("net",), columns=(Column("CIDR", ".spec.cidr"),))
    class Network(CustomResource):
        \"\"\"A network and its one subnet.\"\"\"

        spec: NetworkSpec
        status: NetworkStatus | None = None

A declared class is a msgspec Struct (derived from `CustomResource`) or a dataclass with a `metadata: ObjectMeta` field.
"""

import dataclasses
import sys
import typing
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, cast

import msgspec

from sampan.core.gvk import GroupVersionResource
from sampan.resource.default_values import check_defaults
from sampan.resource.info import ResourceInfo
from sampan.resource.lenient import LenientReader
from sampan.resource.meta import ObjectMeta, meta, remember_source, source_of
from sampan.resource.object_type import ObjectType, dynamic
from sampan.resource.unknown_fields import with_unknown

T = TypeVar("T")
_PACKAGE = "sampan.kinds."


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


def resource(
    *,
    group: str,
    version: str,
    kind: str = "",
    plural: str = "",
    singular: str = "",
    list_kind: str = "",
    short_names: tuple[str, ...] = (),
    categories: tuple[str, ...] = (),
    namespaced: bool = True,
    no_status: bool = False,
    scale: Scale | None = None,
    columns: tuple[Column, ...] = (),
    rules: tuple[Rule, ...] = (),
    selectable_fields: tuple[str, ...] = (),
    served: bool = True,
    storage: bool = True,
    deprecated: bool = False,
    deprecation_warning: str = "",
    api_approved: str = "",
    lenient: bool = False,
) -> Callable[[type[T]], type[T]]:
    """Declare a class as a kind.

    - `kind`, `plural`, `singular`, `list_kind`: by default from the name of the class
    - `namespaced`: False for a cluster-scoped kind. `no_status`: ignore the field `status`: no status subresource
    - `rules`: CEL rules on the whole object. `selectable_fields`: JSON paths for field selectors: `.spec.cidr`
    - `storage`: False if objects are stored in another version of the kind
    - `api_approved`: for a group under k8s.io or kubernetes.io, the URL of the approval, or `unapproved, reason`
    - `lenient`: read objects that do not fit the class as Go clients do (`LenientReader`); for generated classes

    Raises `TypeError` for a class that cannot be a kind, and for a default that breaks the constraints of its field.
    """

    def declare(cls: type[T]) -> type[T]:
        name = kind or cls.__name__
        status = _has_status(cls) and not no_status
        gvr = GroupVersionResource(group, version, plural or plural_of(name))
        subresources = frozenset(each for each, exists in (("status", status), ("scale", scale)) if exists)
        names = (name, namespaced, singular or name.lower(), short_names, categories)
        info = ResourceInfo(gvr, *names, subresources=subresources)
        declared = cast(Declared, cls)
        shown = (list_kind or f"{name}List", columns, rules, selectable_fields)
        deprecation = (deprecated, deprecation_warning, api_approved)
        declared.__declaration__ = Declaration(info, *shown, status, scale, served, storage, *deprecation)
        declared.__object_type__ = _object_type(cls, info, lenient=lenient)
        return cls

    return declare


def _has_status(cls: type[Any]) -> bool:
    fields = _field_names(cls)
    if "metadata" not in fields:
        raise TypeError(f"{cls.__name__} needs a field metadata: ObjectMeta (derive it from CustomResource)")
    return "status" in fields


def declaration(cls: type[Any]) -> Declaration:
    """Return the declaration of a class. Raises `TypeError` if it is not declared."""
    found = getattr(cls, "__declaration__", None)
    if not isinstance(found, Declaration):
        raise TypeError(f"{cls.__name__} is not a declared kind: decorate it with @resource")
    return found


def object_type(cls: type[T]) -> ObjectType[T]:
    """Return the object type of a declared class, or of a kind in `sampan.kinds`, whose objects are dicts.

    Raises `TypeError` for other classes.
    """
    builtin = _builtin_resource(cls)
    if builtin is not None:
        return cast("ObjectType[T]", dynamic(builtin))
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
    # A class from a schema reads the objects that exist, whatever its defaults are.
    if not lenient:
        check_defaults(cls)
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


def _builtin_resource(cls: type[Any]) -> ResourceInfo | None:
    """Return the resource of a TypedDict of `sampan.kinds`, such as `apps_v1.Deployment`; None for other classes."""
    if not typing.is_typeddict(cls) or not cls.__module__.startswith(_PACKAGE):
        return None
    module: Any = sys.modules[cls.__module__]
    row = getattr(module, "RESOURCES", {}).get(cls.__name__)
    if row is None:
        return None
    resource, namespaced = row
    group, version = module.GROUP_VERSION
    return ResourceInfo(GroupVersionResource(group, version, resource), cls.__name__, namespaced)
