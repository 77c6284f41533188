"""Public Python names: all that the documents and examples import is in the API reference."""

import re
from collections.abc import Iterator
from pathlib import Path

from scripts.reference.definitions import definition_of, file_of, public_names
from scripts.reference.packages import PACKAGES
from scripts.reference.pages import FOLDER

ROOT = Path(__file__).parents[2]
NOT_PUBLIC = Path(__file__).parent / "not_public.txt"
"""Names that documents or examples import though they are in no reference. May only shrink."""
IMPORT = re.compile(r"^ *from (sampan[\w.]*) import (\([^)]*\)|[^\n]*)", re.MULTILINE)
INTERNAL = ("docs/adr/", "docs/reading/", "docs/recipes.md", "docs/zh-CN/reading/")
"""Documents about the insides of Sampan."""


def imported() -> Iterator[tuple[str, str, str]]:
    """Yield file, package and name of each import in documents and examples."""
    files = [*(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.py"), *(ROOT / "examples").rglob("*.md")]
    for file in files:
        place = file.relative_to(ROOT).as_posix()
        if not place.startswith(INTERNAL):
            for package, names in IMPORT.findall(file.read_text()):
                for each in re.findall(r"[A-Za-z_]\w*(?: as \w+)?", names.partition("#")[0]):
                    yield place, package, each.partition(" as ")[0]


def is_documented(package: str, name: str) -> bool:
    """Return True if a public package exports what a module or package defines, or it is a module of built-in types."""
    if package == "sampan.kinds":
        # docs/built-in-types.md names the modules. Kubernetes' own reference has their types.
        return file_of(f"{package}.{name}").is_file()
    try:
        found = definition_of(package, name)
    except LookupError:
        return False
    return any(
        found.name in public_names(each) and definition_of(each, found.name).module == found.module for each in PACKAGES
    )


def test_all_that_documents_and_examples_import_is_in_the_reference() -> None:
    found = {(package, name) for _, package, name in imported()}
    assert len(found) > 100
    lacking = {f"{package}.{name}" for package, name in found if not is_documented(package, name)}
    listed = set(NOT_PUBLIC.read_text().splitlines())
    assert lacking - listed == set(), "import a public name"
    assert listed - lacking == set(), f"remove the name from {NOT_PUBLIC.name}"


def test_the_reference_has_a_section_for_each_public_name() -> None:
    for package in PACKAGES:
        text = (FOLDER / f"{package}.md").read_text()
        assert [name for name in public_names(package) if f"\n## {name}\n" not in text] == []
