"""`translated`: a picture with the texts of another language, from a file such as `zh-CN.toml`."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from scripts.pictures.description import Picture


@dataclass(frozen=True)
class Texts:
    """Texts of a picture in another language."""

    title: str
    description: str
    texts: Mapping[str, str]
    """Text in English → text in the other language."""


def read_texts(path: Path) -> Mapping[str, Texts]:
    """Return name of a picture → its texts. Raises `TypeError` for a missing or unknown field."""
    return {name: Texts(**fields) for name, fields in tomllib.loads(path.read_text()).items()}


def translated(picture: Picture, texts: Texts) -> Picture:
    """Return a picture with other texts. Raises `KeyError` with a text that has no translation."""
    words = {"": "", **texts.texts}
    return replace(
        picture,
        title=texts.title,
        description=texts.description,
        boxes={
            name: replace(box, text=words[box.text], notes=[words[note] for note in box.notes])
            for name, box in picture.boxes.items()
        },
        lanes=[replace(lane, text=words[lane.text]) for lane in picture.lanes],
        arrows=[replace(arrow, text=words[arrow.text]) for arrow in picture.arrows],
    )
