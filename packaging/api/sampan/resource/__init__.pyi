from dataclasses import dataclass, field

__all__ = [
    "AnyObject",
    "atomic",
    "Column",
    "CustomResource",
    "Declaration",
    "declaration",
    "doc",
    "dynamic",
    "immutable",
    "IntOrString",
    "list_map",
    "list_set",
    "meta",
    "Metadata",
    "nullable",
    "Object",
    "object_type",
    "ObjectMeta",
    "ObjectType",
    "one_of",
    "OwnerReference",
    "plural_of",
    "Quantity",
    "resource",
    "ResourceInfo",
    "Rule",
    "rule",
    "rules",
    "Scale",
    "schema_part",
    "text_format",
]

AnyObject = ...

def atomic() -> msgspec.Meta:
    ...

@dataclass(frozen=True, slots=True)
class Column:
    name: str
    json_path: str
    type: str = 'string'
    format: str = ''
    description: str = ''
    priority: int = 0

class CustomResource(msgspec.Struct, rename='camel', omit_defaults=True, kw_only=True):
    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)

@dataclass(frozen=True, slots=True)
class Declaration:
    info: ResourceInfo
    list_kind: str
    columns: tuple[Column, ...] = ()
    rules: tuple[Rule, ...] = ()
    selectable_fields: tuple[str, ...] = ()
    status: bool = False
    scale: Scale | None = None
    served: bool = True
    storage: bool = True
    deprecated: bool = False
    deprecation_warning: str = ''
    api_approved: str = ''

def declaration(cls: type[Any]) -> Declaration:
    ...

def doc(text: str) -> msgspec.Meta:
    ...

def dynamic(info: ResourceInfo) -> ObjectType[Object]:
    ...

def immutable(message: str='field is immutable') -> msgspec.Meta:
    ...

IntOrString = Annotated[int | str, schema_part(**{'x-kubernetes-int-or-string': True})]

def list_map(*keys: str) -> msgspec.Meta:
    ...

def list_set() -> msgspec.Meta:
    ...

def meta(obj: Any) -> Metadata:
    ...

class Metadata(Protocol):
    name: str
    namespace: str
    generate_name: str
    uid: str
    resource_version: str
    generation: int
    creation_timestamp: str | None
    deletion_timestamp: str | None
    deletion_grace_period_seconds: int | None
    labels: dict[str, str]
    annotations: dict[str, str]
    finalizers: list[str]
    owner_references: list[OwnerReference]
    managed_fields: list[dict[str, Any]]

def nullable() -> msgspec.Meta:
    ...

Object = dict[str, Any]

def object_type(cls: type[T]) -> ObjectType[T]:
    ...

class ObjectMeta(msgspec.Struct, rename='camel', omit_defaults=True, dict=True):
    name: str = ''
    namespace: str = ''
    generate_name: str = ''
    uid: str = ''
    resource_version: str = ''
    generation: int = 0
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    deletion_grace_period_seconds: int | None = None
    labels: dict[str, str] = msgspec.field(default_factory=dict)
    annotations: dict[str, str] = msgspec.field(default_factory=dict)
    finalizers: list[str] = msgspec.field(default_factory=list)
    owner_references: list[OwnerReference] = msgspec.field(default_factory=list)
    managed_fields: list[dict[str, Any]] = msgspec.field(default_factory=list)

@dataclass(frozen=True, slots=True)
class ObjectType(Generic[T]):
    info: ResourceInfo
    decode: Callable[[bytes], T]
    encode: Callable[[T], bytes]
    encode_update: Callable[[T], bytes] = None

def one_of(values: Sequence[Any]) -> msgspec.Meta:
    ...

class OwnerReference(msgspec.Struct, rename='camel', omit_defaults=True):
    api_version: str = ''
    kind: str = ''
    name: str = ''
    uid: str = ''
    controller: bool = False
    block_owner_deletion: bool = False

def plural_of(kind: str) -> str:
    ...

Quantity = ...

def resource(*, group: str, version: str, kind: str='', plural: str='', singular: str='', list_kind: str='', short_names: tuple[str, ...]=(), categories: tuple[str, ...]=(), namespaced: bool=True, no_status: bool=False, scale: Scale | None=None, columns: tuple[Column, ...]=(), rules: tuple[Rule, ...]=(), selectable_fields: tuple[str, ...]=(), served: bool=True, storage: bool=True, deprecated: bool=False, deprecation_warning: str='', api_approved: str='', lenient: bool=False) -> Callable[[type[T]], type[T]]:
    ...

@dataclass(frozen=True, slots=True)
class ResourceInfo:
    gvr: GroupVersionResource
    kind: str
    namespaced: bool
    singular: str = ''
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    verbs: frozenset[str] = frozenset()
    subresources: frozenset[str] = frozenset()

    @property
    def gvk(self) -> GroupVersionKind:
        ...

    @property
    def api_version(self) -> str:
        ...

    def path(self, namespace: str='', name: str='', subresource: str='') -> str:
        ...

@dataclass(frozen=True, slots=True)
class Rule:
    rule: str
    message: str = ''
    message_expression: str = ''
    field_path: str = ''
    reason: str = ''
    optional_old_self: bool | None = None

    def to_dict(self) -> dict[str, Any]:
        ...

def rule(rule: str, message: str='', *, message_expression: str='', reason: str='') -> msgspec.Meta:
    ...

def rules(*several: Rule) -> msgspec.Meta:
    ...

@dataclass(frozen=True, slots=True)
class Scale:
    spec_replicas_path: str = '.spec.replicas'
    status_replicas_path: str = '.status.replicas'
    label_selector_path: str = ''

def schema_part(**keywords: Any) -> msgspec.Meta:
    ...

def text_format(name: str) -> msgspec.Meta:
    ...
