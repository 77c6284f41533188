"""Files of the pictures: descriptions in `descriptions/`, SVG in `docs/reading/pictures`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from scripts.pictures.description import read
from scripts.pictures.draw import draw

DESCRIPTIONS: Final = Path(__file__).parent / "descriptions"
FOLDER: Final = Path(__file__).parents[2] / "docs" / "reading" / "pictures"


def drawn() -> Mapping[Path, str]:
    """Return the files of all pictures with their text."""
    return {FOLDER / f"{path.stem}.svg": draw(read(path)) for path in sorted(DESCRIPTIONS.glob("*.toml"))}
