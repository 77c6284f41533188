"""From dataclasses to settings, and back."""

from dataclasses import dataclass

import pytest

from sampan.core.settings import build, nested, setting, settings_of, variants
from sampan.core.settings.kinds import one_of
from sampan.core.settings.tree import value_at


@dataclass(frozen=True)
class Wheel:
    size: int = setting(20, "Size.")
    spokes: int = 32

    def __post_init__(self) -> None:
        if self.size < 1:
            raise ValueError("too small")


@dataclass(frozen=True)
class Electric:
    name = "electric"
    power: int = setting(250, "Power.")


@dataclass(frozen=True)
class Muscle:
    name = "muscle"


@dataclass(frozen=True)
class Bicycle:
    wait_time_s: float = setting(1.0, "Time.", group="First")
    front: Wheel = nested(Wheel, prefix="front-", group="Wheels")
    rear: Wheel = nested(lambda: Wheel(28), prefix="rear-", group="Wheels")
    drive: object = variants(
        {"muscle": Muscle, "electric": Electric},
        "muscle",
        "Drive.",
        kind=one_of("muscle", "electric"),
        name="drive",
        group="Drive",
    )


SETTINGS = {each.name: each for each in settings_of(Bicycle())}


def test_settings_have_prefixes_and_groups_of_their_place() -> None:
    assert [(name, each.group) for name, each in SETTINGS.items()] == [
        ("wait-time", "First"),
        ("front-size", "Wheels"),
        ("rear-size", "Wheels"),
        ("drive", "Drive"),
        ("power", "Drive"),
    ]


def test_default_is_that_of_the_place() -> None:
    assert [SETTINGS[name].default_text for name in ("front-size", "rear-size", "wait-time")] == ["20", "28", "1s"]


def test_values_replace_defaults() -> None:
    values = {SETTINGS["rear-size"].path: 29, SETTINGS["drive"].path: "electric", SETTINGS["power"].path: 500}
    built = build(Bicycle(), values)
    assert built == Bicycle(rear=Wheel(29), drive=Electric(500))
    assert {path: value_at(built, path) for path in values} == values


def test_values_of_a_variant_that_is_not_selected_are_left_out() -> None:
    built = build(Bicycle(), {SETTINGS["power"].path: 500})
    assert built == Bicycle()
    with pytest.raises(LookupError, match="drive is muscle, not electric"):
        value_at(built, SETTINGS["power"].path)


def test_dataclass_can_refuse_a_value() -> None:
    with pytest.raises(ValueError, match="too small"):
        build(Bicycle(), {SETTINGS["front-size"].path: 0})
