"""Types of the built-in kinds: which have a page of their own, and which are described where they are used.

A type that is used in one place is a section of the page of its user. A type that several others use has a page.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from sampan.schema.builtin import Definitions

Json = Mapping[str, Any]

TYPES: Final = "reference/types"
SIMPLE_PAGE: Final = f"{TYPES}/simple-types.md"
_COMPONENTS: Final = "#/components/schemas/"


def definition_of(node: Json) -> str:
    """Return the name of the definition that a node of OpenAPI v3 refers to; "" if it refers to none."""
    for found in (node, *node.get("allOf", ())):
        if "$ref" in found:
            return str(found["$ref"]).removeprefix(_COMPONENTS)
    return ""


def short_name(name: str) -> str:
    """Return the last part of a definition's name: Deployment."""
    return name.rpartition(".")[2]


def file_name(name: str) -> str:
    """Return the name of a page: apps-v1-deployment. The last three parts of definitions' names are unique."""
    return "-".join(name.split(".")[-3:]).lower()


@dataclass(frozen=True, slots=True)
class Use:
    """Use of a definition by a field, or by the items of a list or map."""

    user: str
    field: str
    name: str


class Types:
    """The definitions that are reachable from those of kinds, `roots`, and of bodies of their subresources."""

    def __init__(self, roots: Iterable[str], bodies: Iterable[str], definitions: Definitions) -> None:
        self._definitions = definitions
        self.roots = list(dict.fromkeys(roots))
        self.bodies = list(dict.fromkeys(bodies))
        self._nodes: dict[str, Json] = {}
        self._uses: list[Use] = []
        for name in [*self.roots, *self.bodies]:
            self._load(name)

    def node(self, name: str) -> Json:
        """Return a definition as the server publishes it."""
        return self._nodes[name]

    def is_object(self, name: str) -> bool:
        """Return True if the definition has fields."""
        return bool(self._nodes[name].get("properties"))

    @cached_property
    def shared(self) -> list[str]:
        """Definitions with a page of their own, sorted: objects that are used in several places, or in themselves."""
        counts = Counter(use.name for use in self._uses)
        several = {name for name, count in counts.items() if count > 1 and self.is_object(name)}
        return sorted(
            (several | {*self.bodies} | self._recursive()) - {*self.roots}, key=lambda name: (short_name(name), name)
        )

    @cached_property
    def simple(self) -> list[str]:
        """Definitions without fields, sorted: Quantity, Time and the like."""
        return sorted((name for name in self._nodes if not self.is_object(name)), key=short_name)

    def users(self, name: str) -> list[Use]:
        """Return the uses of a definition."""
        return [use for use in self._uses if use.name == name]

    def page(self, name: str) -> str:
        """Return the path of the page, with an anchor, that describes a definition other than a kind."""
        if not self.is_object(name):
            return f"{SIMPLE_PAGE}#{short_name(name).lower()}"
        if name in self.shared:
            return f"{TYPES}/{file_name(name)}.md"
        return ""

    def sections(self, name: str) -> list[str]:
        """Return a definition and those that its page describes too, in the order of their use."""
        found = [name]
        for field in self._nodes[name].get("properties", {}).values():
            for used in _references(field):
                if self.is_object(used) and used not in self.shared and used not in self.roots:
                    found += [each for each in self.sections(used) if each not in found]
        return found

    def _load(self, name: str) -> None:
        if name in self._nodes:
            return
        self._nodes[name] = node = self._definitions.raw(name)
        for field, child in node.get("properties", {}).items():
            for used in _references(child):
                self._uses.append(Use(name, field, used))
                self._load(used)

    def _recursive(self) -> set[str]:
        """Return the definitions that use themselves through others that have no page."""
        return {use.name for use in self._uses if use.user == use.name}


def _references(node: Json) -> Iterator[str]:
    """Yield the definitions that a field refers to, also by its items."""
    name = definition_of(node)
    if name:
        yield name
    for key in ("items", "additionalProperties"):
        if isinstance(node.get(key), dict):
            yield from _references(node[key])
