"""Read the recipes of docs/recipes.md, and apply one to a copy of the repository."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
DOCUMENT: Final = ROOT / "docs" / "recipes.md"

_SECTION = re.compile(r"^## (Add [^\n]*)\n(.*?)(?=^##|\Z)", re.MULTILINE | re.DOTALL)
_BLOCK = re.compile(r"^```(python|diff)\n ?# (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(r'^make test ARGS="([^"]*)"$', re.MULTILINE)
_GAP = re.compile(r"^ …\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Block:
    """A block of a recipe: a new file, or changes of an existing one."""

    path: str
    is_diff: bool
    text: str

    def apply(self, root: Path) -> None:
        """Write the file below a repository's root. Raises `AssertionError` if a change does not fit the file."""
        path = root / self.path
        assert path.exists() == self.is_diff, f"{self.path}: a diff needs an existing file, other blocks a new one"
        path.write_text(self._changed(path.read_text()) if self.is_diff else self.text)

    def _changed(self, text: str) -> str:
        for hunk in _GAP.split(self.text):
            lines = hunk.splitlines()
            old = "\n".join(line[1:] for line in lines if line[0] in " -")
            new = "\n".join(line[1:] for line in lines if line[0] in " +")
            assert text.count(old) == 1, f"{self.path} has these lines {text.count(old)} times:\n{old}"
            text = text.replace(old, new)
        return text


@dataclass(frozen=True, slots=True)
class Recipe:
    """The blocks of a recipe, and the arguments of `make test` that it gives."""

    blocks: list[Block]
    arguments: list[str]

    @property
    def tests(self) -> list[str]:
        """The paths of the test modules that the recipe adds."""
        return [block.path for block in self.blocks if "/test_" in block.path]


def recipes() -> dict[str, Recipe]:
    """Return the recipes by their titles."""
    found = {}
    for title, body in _SECTION.findall(DOCUMENT.read_text()):
        blocks = [Block(path, kind == "diff", text) for kind, path, text in _BLOCK.findall(body)]
        found[title] = Recipe(blocks, [word for line in _COMMAND.findall(body) for word in line.split()])
    return found
