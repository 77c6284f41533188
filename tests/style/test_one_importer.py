"""Small modules that only one module of their folder imports are few: most are a part of their importer.

Merge such a module with its importer, if a reader must open both to understand one of them. It stays if it has a
separate name and tests, is one of several plug-ins, or is a table.
"""

from collections import defaultdict
from typing import Final

from tests.style.sources import GENERATED, ROOT, SOURCES, name_of
from tests.style.test_layers import Module, imported_by, modules_of

LINES_MAX: Final = 60
MODULES_MAX: Final = 95
"""Number of such modules. It only falls."""
LEFT_MAX: Final = 10
"""Number by which the limit may be too high. Then it is lowered."""


def lone_parts(modules: dict[str, Module]) -> dict[str, str]:
    """Return the small modules with one importer, which is in the same folder, with that importer."""
    importers: dict[str, set[str]] = defaultdict(set)
    for name in modules:
        for other in imported_by(name, modules):
            importers[other].add(name)
    found = {}
    for name, module in modules.items():
        if len(importers[name]) == 1 and not module.is_package and module.text.count("\n") < LINES_MAX:
            [importer] = importers[name]
            folder = importer if modules[importer].is_package else importer.rpartition(".")[0]
            if name.rpartition(".")[0] == folder:
                found[name] = importer
    return found


def test_few_small_modules_have_one_importer_in_their_folder() -> None:
    sources = [path for path in SOURCES if not name_of(path).startswith(GENERATED)]
    found = lone_parts(modules_of(sources, ROOT / "src"))
    assert len(found) <= MODULES_MAX, f"merge a module with its importer: {found}"
    assert len(found) >= MODULES_MAX - LEFT_MAX, "lower MODULES_MAX"


def test_a_small_module_with_one_importer_in_its_folder_is_found() -> None:
    modules = {
        "p": Module("", is_package=True),
        "p.a": Module("from p.b import f\nfrom p.c import g\nfrom p.q.d import h\n"),
        "p.b": Module("def f(): ...\n"),
        "p.c": Module("x = 1\n" * LINES_MAX),
        "p.e": Module("from p.q.f import i\n"),
        "p.q.d": Module("from p.q.f import i\n"),
        "p.q.f": Module("def i(): ...\n"),
    }
    assert lone_parts(modules) == {"p.b": "p.a"}
