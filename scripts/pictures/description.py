"""`Picture`: a description of boxes, lanes and arrows, read from TOML. Lengths are in units of 20 pixels."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

BOX_SIZE: Final = (9.0, 3.0)
STYLES: Final = ("code", "object", "store", "outside", "accent")
"""Colours of boxes: code, objects of the API, stored data, programs outside, the point of the picture."""


@dataclass(frozen=True)
class Box:
    """A rectangle with a text, and smaller texts below it. `at` is its upper left corner."""

    id: str
    at: tuple[float, float]
    size: tuple[float, float]
    text: str
    notes: Sequence[str]
    style: str


@dataclass(frozen=True)
class Lane:
    """A frame around boxes, with a label in its upper left corner."""

    at: tuple[float, float]
    size: tuple[float, float]
    text: str


@dataclass(frozen=True)
class Arrow:
    """A line from one box to another. Its sides follow from the places of the boxes, unless they are given."""

    start: str
    end: str
    text: str
    is_dashed: bool
    sides: tuple[str, str] | None
    shift: float
    """Distance from the middle of the common edge."""
    offset: tuple[float, float]
    """Distances of the ends from the middles of their edges, for arrows with given sides."""
    label_at: float
    """Place of the text, from 0 (start) to 1 (end of the longest part)."""


@dataclass(frozen=True)
class Picture:
    """A picture of a page."""

    name: str
    title: str
    description: str
    """The content of the picture in words, for readers that cannot see it."""
    boxes: Mapping[str, Box]
    lanes: Sequence[Lane]
    arrows: Sequence[Arrow]


def read(path: Path) -> Picture:
    """Read a description. Raises `ValueError` for a style that does not exist, `KeyError` for a missing field."""
    data = tomllib.loads(path.read_text())
    boxes = {row["id"]: _box(row) for row in data["box"]}
    return Picture(
        name=path.stem,
        title=data["title"],
        description=data["description"],
        boxes=boxes,
        lanes=[Lane(_pair(row["at"]), _pair(row["size"]), row["text"]) for row in data.get("lane", [])],
        arrows=[_arrow(row, boxes) for row in data.get("arrow", [])],
    )


def _box(row: Mapping[str, Any]) -> Box:
    style = row.get("style", "code")
    if style not in STYLES:
        raise ValueError(f"box {row['id']}: unknown style {style}")
    notes = row.get("note", [])
    size = _pair(row.get("size", BOX_SIZE))
    return Box(row["id"], _pair(row["at"]), size, row["text"], [notes] if isinstance(notes, str) else notes, style)


def _arrow(row: Mapping[str, Any], boxes: Mapping[str, Box]) -> Arrow:
    for end in ("from", "to"):
        if row[end] not in boxes:
            raise ValueError(f"arrow {end} {row[end]}: no such box")
    sides = row.get("sides")
    return Arrow(
        start=row["from"],
        end=row["to"],
        text=row.get("text", ""),
        is_dashed=row.get("dashed", False),
        sides=(sides[0], sides[1]) if sides else None,
        shift=row.get("shift", 0.0),
        offset=_pair(row.get("offset", (0.0, 0.0))),
        label_at=row.get("label_at", 0.5),
    )


def _pair(value: Sequence[float]) -> tuple[float, float]:
    x, y = value
    return float(x), float(y)
