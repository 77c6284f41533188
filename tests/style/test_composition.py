"""A class is not cut into files by inheritance: a base class has several subclasses, or other users.

Found are the classes that nothing in `src` uses, except one class as its base. Interfaces (`Protocol`, `ABC`) and
errors are left out. Such a base class is a part of its subclass: it uses fields that the other file declares. Give the
class an object with these fields instead.
"""

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from tests.style.sources import SOURCES, parse, text_of

ACCEPTED: Final[Mapping[str, str]] = {
    "sampan.core.event_loop.watch.LoopWatch": "an operator's watch is one, with another log line",
    "sampan.operator.webhook.hooks.Hooks": "a WebhookServer inherits the public methods that add hooks",
    "sampan.storage.etcd.store.EtcdStore": "the target of a copy is a store; engines open it by its class methods",
}
"""Base classes that stay, with the reason. The list only shrinks."""
_INTERFACES: Final = frozenset({"Protocol", "ABC"})

Texts: TypeAlias = Mapping[str, str]
"""Texts of modules by their dotted names."""


class Place(NamedTuple):
    """A class: its module and its name."""

    module: str
    name: str

    def __str__(self) -> str:
        return f"{self.module}.{self.name}"


def module_texts() -> Texts:
    """Return the texts of all modules in `src`."""
    return {".".join(_dotted(path)): text_of(path) for path in SOURCES}


def _dotted(path: Path) -> tuple[str, ...]:
    parts = path.with_suffix("").parts
    parts = parts[parts.index("src") + 1 :]
    return parts[:-1] if parts[-1] == "__init__" else parts


def lone_bases(texts: Texts) -> dict[str, str]:
    """Return the base classes that only their one subclass uses, with that subclass."""
    classes = {Place(module, each.name): each for module, text in texts.items() for each in _classes(text)}
    subclasses: dict[Place, list[Place]] = defaultdict(list)
    used: set[Place] = set()
    for module, text in texts.items():
        imported = _imports(text)
        bases = {
            id(name): Place(module, each.name)
            for each in _classes(text)
            for base in each.bases
            for name in _names(base)
        }
        for node in ast.walk(parse(text)):
            if isinstance(node, ast.Name):
                place = _defined(imported.get(node.id, Place(module, node.id)), texts)
                if id(node) in bases:
                    subclasses[place].append(bases[id(node)])
                else:
                    used.add(place)
    return {
        str(base): str(found[0])
        for base, found in sorted(subclasses.items())
        if len(found) == 1 and base in classes and base not in used and not _is_interface_or_error(base, classes, texts)
    }


def _classes(text: str) -> Iterator[ast.ClassDef]:
    return (node for node in ast.walk(parse(text)) if isinstance(node, ast.ClassDef))


@cache
def _imports(text: str) -> Mapping[str, Place]:
    """Return where the names that a module imports come from."""
    found = [node for node in parse(text).body if isinstance(node, ast.ImportFrom) and node.module is not None]
    return {each.asname or each.name: Place(node.module or "", each.name) for node in found for each in node.names}


def _defined(place: Place, texts: Texts) -> Place:
    """Return where a name is defined that a package exports."""
    for _ in range(5):
        onward = _imports(texts[place.module]).get(place.name) if place.module in texts else None
        if onward is None:
            break
        place = onward
    return place


def _names(base: ast.expr) -> Iterator[ast.Name]:
    return (each for each in ast.walk(base) if isinstance(each, ast.Name))


def _is_interface_or_error(place: Place, classes: Mapping[Place, ast.ClassDef], texts: Texts) -> bool:
    bases = [ast.unparse(each).partition("[")[0].rpartition(".")[2] for each in classes[place].bases]
    if any(name in _INTERFACES or name.endswith(("Error", "Exception")) for name in bases):
        return True
    imported = _imports(texts[place.module])
    above = [_defined(imported.get(name, Place(place.module, name)), texts) for name in bases]
    return any(_is_interface_or_error(each, classes, texts) for each in above if each in classes and each != place)


def test_no_class_is_cut_into_files_by_inheritance() -> None:
    found = lone_bases(module_texts())
    assert {base: of for base, of in found.items() if base not in ACCEPTED} == {}, "compose: see the module's docstring"
    assert [base for base in ACCEPTED if base not in found] == [], "take these out of ACCEPTED"


def test_a_base_class_of_one_class_is_found_across_modules() -> None:
    texts = {
        "a": "class Half:\n    pass\n",
        "b": "from a import Half as Part\nclass Whole(Part): ...\n",
    }
    assert lone_bases(texts) == {"a.Half": "b.Whole"}


def test_a_base_class_with_other_users_is_not_found() -> None:
    texts = {
        "a": "class Half:\n    pass\nclass Error1(ValueError): ...\nclass Seam(Protocol): ...\n",
        "b": "from a import Half, Error1, Seam\nclass Whole(Half, Seam): ...\nclass E(Error1): ...\nhalf = Half()\n",
    }
    assert lone_bases(texts) == {}
