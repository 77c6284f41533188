"""Folders inside a package form layers: no folder imports another one that imports it, at any depth.

The children of a package are its nodes: each folder with everything in it, each module next to the folders, and the
package's `__init__`. A node imports another one if any of its modules does, even inside a function or for type checks.
A circle is a set of nodes that import each other, directly or through others.
"""

import ast
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

import pytest

from tests.style.sources import ROOT, SOURCES, parse, text_of


class Module(NamedTuple):
    """A module: its text, and whether it is the `__init__` of a package."""

    text: str
    is_package: bool = False


Graph: TypeAlias = dict[str, set[str]]


def modules_of(paths: list[Path], root: Path) -> dict[str, Module]:
    """Return modules by their dotted names."""
    found = {}
    for path in paths:
        parts = path.relative_to(root).with_suffix("").parts
        is_package = parts[-1] == "__init__"
        found[".".join(parts[:-1] if is_package else parts)] = Module(text_of(path), is_package)
    return found


def imported_by(name: str, modules: Mapping[str, Module]) -> Iterator[str]:
    """Yield the modules of `modules` that one of them imports."""
    package = name.split(".") if modules[name].is_package else name.split(".")[:-1]
    for node in ast.walk(parse(modules[name].text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            source = ".".join([*above, *([node.module] if node.module else [])])
            for alias in node.names:
                yield from [each for each in (f"{source}.{alias.name}", source) if each in modules][:1]


def graphs_of(modules: Mapping[str, Module]) -> dict[str, Graph]:
    """Return for each package which of its children imports which."""
    graphs: dict[str, Graph] = defaultdict(lambda: defaultdict(set))
    for name in modules:
        for other in imported_by(name, modules):
            ours, theirs = [*name.split("."), "__init__"], [*other.split("."), "__init__"]
            depth = next((at for at, pair in enumerate(zip(ours, theirs, strict=False)) if len(set(pair)) > 1), None)
            if depth is not None:
                graphs[".".join(ours[:depth])][ours[depth]].add(theirs[depth])
    return graphs


def reached_from(node: str, graph: Graph) -> set[str]:
    """Return the nodes to which a path of one or more imports leads."""
    reached: set[str] = set()
    ahead = [node]
    while ahead:
        new = graph.get(ahead.pop(), set()) - reached
        reached |= new
        ahead.extend(new)
    return reached


def circles_in(modules: Mapping[str, Module]) -> set[str]:
    """Return every circle as the package and its nodes in alphabetical order."""
    found = set()
    for package, graph in graphs_of(modules).items():
        reached = {node: reached_from(node, graph) for node in graph}
        for node in graph:
            if circle := sorted(each for each in reached[node] if node in reached.get(each, ())):
                found.add(f"{package}: {' '.join(circle)}")
    return found


def test_no_folder_imports_another_one_that_imports_it() -> None:
    assert circles_in(modules_of(SOURCES, ROOT / "src")) == set()


CASES: Final = {
    "one direction": ({"p.a.x": "import p.b.x", "p.b.x": ""}, set()),
    "two folders": ({"p.a.x": "import p.b.x", "p.a.y": "", "p.b.x": "import p.a.y"}, {"p: a b"}),
    "three folders": ({"p.a.x": "import p.b.x", "p.b.x": "import p.c.x", "p.c.x": "import p.a.x"}, {"p: a b c"}),
    "deeper folders": ({"p.q.a.x": "import p.q.b.x", "p.q.b.x": "import p.q.a.x"}, {"p.q: a b"}),
    "a module next to a folder": ({"p.a.x": "import p.m", "p.a.y": "", "p.m": "import p.a.y"}, {"p: a m"}),
    "two modules": ({"p.m": "import p.n", "p.n": "import p.m"}, {"p: m n"}),
    "inside one folder": ({"p.a.x": "import p.a.y", "p.a.y": ""}, set()),
    "a module from its folder": ({"p.a.x": "from p.b import x", "p.b.x": "from p.a.x import f"}, {"p: a b"}),
    "relative": ({"p.a.x": "from ..b import x", "p.b.x": "from ..a.x import f"}, {"p: a b"}),
    "for the type checker": ({"p.a.x": "if TYPED:\n    import p.b.x", "p.b.x": "import p.a.x"}, {"p: a b"}),
    "in a function": ({"p.a.x": "def f():\n    import p.b.x", "p.b.x": "import p.a.x"}, {"p: a b"}),
}


@pytest.mark.parametrize(("texts", "circles"), CASES.values(), ids=CASES.keys())
def test_circles_are_found(texts: dict[str, str], circles: set[str]) -> None:
    assert circles_in({name: Module(text) for name, text in texts.items()}) == circles


def test_the_init_of_a_package_that_its_children_import_is_a_node() -> None:
    modules = {"p": Module("from p.a.x import f", is_package=True), "p.a.x": Module("from p import f")}
    assert circles_in(modules) == {"p: __init__ a"}


PACKAGES: Final = ("app", "node", "operator", "registry", "server", "testing")
CONTRACTS: Final[dict[str, list[str]]] = {
    contract["containers"][0]: contract["layers"]
    for contract in tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    if "containers" in contract
}
"""Layers inside packages by the contracts of import-linter, highest first."""


@pytest.mark.parametrize("package", PACKAGES)
def test_each_folder_of_a_large_package_has_a_place_in_its_contract(package: str) -> None:
    folders = {path.parent.name for path in (ROOT / "src/sampan" / package).glob("*/__init__.py")}
    assert folders - {name for layer in CONTRACTS[f"sampan.{package}"] for name in layer.split(" | ")} == set()


@pytest.mark.parametrize("package", PACKAGES)
def test_the_drawing_of_the_architecture_shows_each_layer_of_a_contract(package: str) -> None:
    lines = re.findall(r"│ (\w+(?:  \w+)*) *│", (ROOT / "ARCHITECTURE.md").read_text())
    assert [layer for layer in CONTRACTS[f"sampan.{package}"] if layer.replace(" | ", "  ") not in lines] == []


def test_no_folder_in_the_list_of_layers_imports_a_later_one() -> None:
    drawing = (ROOT / "ARCHITECTURE.md").read_text().split("```text\n")[1].split("```")[0]
    places = {name: at for at, line in enumerate(drawing.splitlines()) for name in re.findall(r"(\w+)/ ", line)}
    imports = graphs_of(modules_of(SOURCES, ROOT / "src"))["sampan"]
    folders = {path.parent.name for path in (ROOT / "src/sampan").glob("*/__init__.py")}
    assert folders - set(places) == set()
    assert [
        f"{name} imports {other}"
        for name in folders
        for other in imports[name] & folders - {name}
        if places[other] >= places[name]
    ] == []
