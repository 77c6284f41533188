"""Pictures of the documentation: up to date, legible and accessible."""

import re
from itertools import combinations
from xml.etree import ElementTree

import pytest
from scripts.pictures.description import Box, Picture, read
from scripts.pictures.draw import UNIT, draw
from scripts.pictures.files import CHINESE, CHINESE_FOLDER, DESCRIPTIONS, FOLDER, drawn, pictures
from scripts.pictures.translate import Texts, read_texts, translated

DESCRIBED = sorted(DESCRIPTIONS.glob("*.toml"))
PICTURES = pictures()
TEXT_CONTRAST_MIN = 4.5
"""Limit of WCAG 2.2 AA."""
LETTER_PX = {"title": 8.2, "note": 6.6}
WIDE_LETTER_PX = {"title": 15.0, "note": 12.5}

each_picture = pytest.mark.parametrize(
    "picture", PICTURES.values(), ids=["/".join(path.parts[-4:]).removesuffix(".svg") for path in PICTURES]
)


@pytest.fixture(scope="module", params=["light", "dark"])
def colours(request: pytest.FixtureRequest) -> dict[str, str]:
    """Colours of a scheme."""
    light, dark = re.findall(r":root \{(.*?)\}", draw(read(DESCRIBED[0])), re.DOTALL)
    return dict(re.findall(r"--([\w-]+): (#\w{6})", light if request.param == "light" else dark))


def test_the_pictures_are_up_to_date() -> None:
    stale = [path.name for path, text in drawn().items() if not path.exists() or path.read_text() != text]
    assert stale == [], "run `make pictures`"


def test_each_picture_has_a_description() -> None:
    assert {path.stem for path in FOLDER.glob("*.svg")} == {path.stem for path in DESCRIBED}


def test_each_picture_in_chinese_has_its_texts() -> None:
    assert {path.stem for path in CHINESE_FOLDER.glob("*.svg")} == set(read_texts(CHINESE))


def test_a_translation_has_no_texts_that_its_picture_lacks() -> None:
    for name, texts in read_texts(CHINESE).items():
        text = (DESCRIPTIONS / f"{name}.toml").read_text().replace("\\n", "\n")
        assert [each for each in texts.texts if f'"{each}"' not in text] == []


def test_a_text_of_a_picture_without_translation_is_an_error() -> None:
    with pytest.raises(KeyError, match="Store"):
        translated(read(DESCRIPTIONS / "watch.toml"), Texts("", "", {}))


@each_picture
def test_a_picture_has_a_title_and_a_description_for_screen_readers(picture: Picture) -> None:
    root = ElementTree.fromstring(draw(picture))
    names = {element.get("id"): element.text for element in root if element.get("id")}
    assert root.get("role") == "img"
    assert all(names[each] for each in (root.get("aria-labelledby") or "").split())


@each_picture
def test_boxes_do_not_overlap(picture: Picture) -> None:
    boxes = picture.boxes.values()
    assert [(a.id, b.id) for a, b in combinations(boxes, 2) if overlap(a, b)] == []


@each_picture
def test_texts_fit_into_their_boxes(picture: Picture) -> None:
    assert list(too_long(picture)) == []


@each_picture
def test_a_picture_is_narrow_enough_for_a_page(picture: Picture) -> None:
    root = ElementTree.fromstring(draw(picture))
    assert float(root.get("width") or 0) <= 760


def test_texts_have_enough_contrast_in_light_and_dark(colours: dict[str, str]) -> None:
    surfaces = ("card", "code", "object", "store", "outside", "accent")
    weak = [
        (text, surface)
        for text in ("ink", "soft")
        for surface in surfaces
        if contrast(colours[text], colours[surface]) < TEXT_CONTRAST_MIN
    ]
    assert weak == []


def test_lines_have_enough_contrast_in_light_and_dark(colours: dict[str, str]) -> None:
    assert contrast(colours["line"], colours["card"]) >= 3


def overlap(a: Box, b: Box) -> bool:
    return all(a.at[axis] < b.at[axis] + b.size[axis] and b.at[axis] < a.at[axis] + a.size[axis] for axis in (0, 1))


def too_long(picture: Picture) -> list[str]:
    texts = [
        (box, style, text)
        for box in picture.boxes.values()
        for style, text in [("title", box.text), *(("note", note) for note in box.notes)]
    ]
    return [text for box, style, text in texts if width_px(style, text) > box.size[0] * UNIT - 8]


def width_px(style: str, text: str) -> float:
    return sum(LETTER_PX[style] if ord(letter) < 0x2E80 else WIDE_LETTER_PX[style] for letter in text)


def contrast(a: str, b: str) -> float:
    light, dark = sorted((luminance(a), luminance(b)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
