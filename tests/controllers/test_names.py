"""Tests of the names of loops."""

from sampan.controllers.catalogue import CONTROLLERS
from sampan.controllers.names import NAMES


def test_names_match_the_catalogue() -> None:
    assert tuple(CONTROLLERS) == NAMES
