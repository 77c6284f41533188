"""Files of the pictures: descriptions in `descriptions/`, SVG in `docs/reading/pictures`, and those in Chinese."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from scripts.pictures.description import Picture, read
from scripts.pictures.draw import draw
from scripts.pictures.translate import read_texts, translated

DESCRIPTIONS: Final = Path(__file__).parent / "descriptions"
CHINESE: Final = Path(__file__).parent / "zh-CN.toml"
FOLDER: Final = Path(__file__).parents[2] / "docs" / "reading" / "pictures"
CHINESE_FOLDER: Final = Path(__file__).parents[2] / "docs" / "zh-CN" / "reading" / "pictures"


def pictures() -> Mapping[Path, Picture]:
    """Return file → picture, for all pictures in all languages."""
    english = {path.stem: read(path) for path in sorted(DESCRIPTIONS.glob("*.toml"))}
    chinese = {name: translated(english[name], texts) for name, texts in read_texts(CHINESE).items()}
    return {
        **{FOLDER / f"{name}.svg": picture for name, picture in english.items()},
        **{CHINESE_FOLDER / f"{name}.svg": picture for name, picture in chinese.items()},
    }


def drawn() -> Mapping[Path, str]:
    """Return the files of all pictures with their text."""
    return {path: draw(picture) for path, picture in pictures().items()}
