from dataclasses import dataclass, field

__all__ = [
    "build",
    "ValueKind",
    "ListOf",
    "nested",
    "Setting",
    "setting",
    "settings_of",
    "variants",
]

def build(root: Any, values: Mapping[Path, Any]) -> Any:
    ...

@dataclass(frozen=True, slots=True)
class ValueKind:
    metavar: str
    read: Callable[[str], Any]
    write: Callable[[Any], str] = str
    relocate: Callable[[Any, Path], Any] = lambda value, directory: value
    choices: tuple[str, ...] = ()
    completion: str = ''
    content: str = ''
    flag_value: str = ''

@dataclass(frozen=True, slots=True)
class ListOf(ValueKind):
    metavar: str
    read: Callable[[str], Any]
    write: Callable[[Any], str] = str
    relocate: Callable[[Any, Path], Any] = lambda value, directory: value
    choices: tuple[str, ...] = ()
    completion: str = ''
    content: str = ''
    flag_value: str = ''
    item: ValueKind | None = None
    separator: str = ','
    repeat: bool = False
    check: Callable[[tuple[Any, ...]], None] = lambda items: None

    def split(self, text: str) -> list[str]:
        ...

    def read_items(self, texts: Sequence[str]) -> tuple[Any, ...]:
        ...

    def write_items(self, items: tuple[Any, ...]) -> list[str]:
        ...

def nested(make: Callable[[], Any], *, prefix: str='', group: str='') -> Any:
    ...

@dataclass(frozen=True, slots=True)
class Setting:
    path: Path
    name: str
    aliases: tuple[str, ...]
    kind: ValueKind
    help: str
    group: str
    default: Any
    default_text: str
    negative: bool = False
    hidden: bool = False
    is_flag: bool = False

    def read(self, texts: Sequence[str]) -> Any:
        ...

def setting(value: object, help: str, *, kind: ValueKind | None=None, name: str='', aliases: tuple[str, ...]=(), group: str='', default: str='', negative: bool=False) -> Any:
    ...

def settings_of(root: Any) -> tuple[Setting, ...]:
    ...

def variants(classes: Mapping[str, Callable[[], Any]], default: str, help: str, *, kind: ValueKind, name: str, group: str='') -> Any:
    ...
