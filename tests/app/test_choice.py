"""Selection of controllers with `--controllers`."""

import pytest

from sampan.app.loops.choice import UnknownController, chosen_controllers

KNOWN = ("deployment-controller", "job-controller", "namespace-controller")


@pytest.mark.parametrize(
    ("said", "chosen"),
    [
        ("*", KNOWN),
        ("", ()),
        ("job-controller", ("job-controller",)),
        ("*,-job-controller", ("deployment-controller", "namespace-controller")),
        ("-job-controller", ()),
        (" namespace-controller , job-controller ", ("job-controller", "namespace-controller")),
        ("*,job-controller", KNOWN),
        ("-job-controller,job-controller", ()),
    ],
)
def test_the_choice(said: str, chosen: tuple[str, ...]) -> None:
    assert chosen_controllers(said, KNOWN) == chosen


@pytest.mark.parametrize("said", ["nonsense", "*,-nonsense"])
def test_an_unknown_name_is_refused(said: str) -> None:
    with pytest.raises(UnknownController, match="'nonsense': known controllers are deployment-controller, job"):
        chosen_controllers(said, KNOWN)
