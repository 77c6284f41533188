from dataclasses import dataclass, field

__all__ = [
    "build_object",
    "companions",
    "invalid_objects",
    "InvalidObject",
    "Meanings",
    "NeedsHypothesis",
    "NotGenerated",
    "objects",
    "Subject",
    "subject_of",
    "UnknownKind",
    "USUAL",
]

def build_object(what: Any, name: str='', *, definitions: Iterable[ResourceDefinition]=(), **fields: Any) -> Any:
    ...

def companions(obj: Object, namespace: str='default') -> Sequence[Object]:
    ...

def invalid_objects(what: Any, *, base: Object | None=None, meanings: Meanings=USUAL) -> list[InvalidObject]:
    ...

@dataclass(frozen=True, slots=True)
class InvalidObject:
    obj: Object
    field: str
    reason: str
    fault: str

@dataclass(frozen=True, slots=True, eq=False)
class Meanings:
    meanings: tuple[Meaning, ...] = ()

    def with_field(self, name: str, make: Make) -> 'Meanings':
        ...

    def of(self, name: str, schema: Schema) -> Make | None:
        ...

class NeedsHypothesis(ImportError):
    ...

class NotGenerated(ValueError):
    ...

def objects(what: Any, *, base: Object | None=None, meanings: Meanings=USUAL, size: int=60) -> Any:
    ...

@dataclass(frozen=True, slots=True, eq=False)
class Subject:
    definition: ResourceDefinition
    version: VersionDefinition
    compiled: CompiledSchema

    @property
    def api_version(self) -> str:
        ...

    @property
    def kind(self) -> str:
        ...

    @property
    def is_custom(self) -> bool:
        ...

    @property
    def schema(self) -> Schema:
        ...

    def faults(self, obj: Object) -> list[FieldError]:
        ...

def subject_of(what: Any, definitions: Iterable[ResourceDefinition]=()) -> Subject:
    ...

class UnknownKind(LookupError):
    ...

USUAL: Final = ...
