"""The names of loops, for those who do not load them."""

from sampan.controllers.catalogue import CONTROLLERS
from sampan.controllers.names import NAMES


def test_the_names_are_those_of_the_catalogue() -> None:
    assert tuple(CONTROLLERS) == NAMES
