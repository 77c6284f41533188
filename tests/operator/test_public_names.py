"""Public names of the package."""

from types import ModuleType

from sampan import operator


def test_every_public_name_is_listed_and_there() -> None:
    there = {
        name for name, value in vars(operator).items() if not name.startswith("_") and not isinstance(value, ModuleType)
    }
    assert set(operator.__all__) == there
