"""One word, one meaning: few public classes of different modules have the same name, and their number only shrinks.

The remaining ones are one thing in several places: the fields of a Kubernetes type (`Pod`), plug-ins with Kubernetes'
names, or the options of a request.
`sampan.kinds` is left out: it is generated, and each of its modules has the types of one group and version.
"""

import ast
from collections import defaultdict
from typing import Final

import pytest

from tests.style.sources import GENERATED, SOURCES, name_of, parse, text_of

SHARED_MAX: Final = 63
"""Names that several modules have."""
MODULES_MAX: Final = 3
"""Modules that have one name."""


def modules_by_name() -> dict[str, list[str]]:
    """Return the modules of each public class name that several modules have."""
    modules: dict[str, list[str]] = defaultdict(list)
    for path in SOURCES:
        if not name_of(path).startswith(GENERATED):
            for name in class_names(text_of(path)):
                modules[name].append(name_of(path))
    return {name: found for name, found in modules.items() if len(found) > 1}


def class_names(text: str) -> set[str]:
    """Return the names of the public classes of a module."""
    return {each.name for each in parse(text).body if isinstance(each, ast.ClassDef) and not each.name.startswith("_")}


def test_few_class_names_are_in_several_modules() -> None:
    shared = modules_by_name()
    assert len(shared) <= SHARED_MAX, f"give a new class a name that only it has: {shared}"


def test_the_number_of_shared_names_is_lowered_with_them() -> None:
    assert len(modules_by_name()) == SHARED_MAX, "lower SHARED_MAX"


def test_no_class_name_is_in_four_modules() -> None:
    assert {name: found for name, found in modules_by_name().items() if len(found) > MODULES_MAX} == {}


@pytest.mark.parametrize(
    ("text", "names"),
    [("class A: ...\nclass _B: ...\n", {"A"}), ("def f():\n    class C: ...\n", set())],
    ids=["a private class does not count", "a class in a function does not count"],
)
def test_the_public_classes_of_a_module_count(text: str, names: set[str]) -> None:
    assert class_names(text) == names
