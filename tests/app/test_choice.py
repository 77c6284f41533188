"""Selection of controllers with `--controllers`."""

import pytest

from sampan.app.controller_manager.choice import UnknownController, chosen_controllers

KNOWN = ("deployment-controller", "job-controller", "namespace-controller")


@pytest.mark.parametrize(
    ("sent", "chosen"),
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
def test_the_choice(sent: str, chosen: tuple[str, ...]) -> None:
    assert chosen_controllers(sent, KNOWN) == chosen


@pytest.mark.parametrize("sent", ["nonsense", "*,-nonsense"])
def test_an_unknown_name_is_refused(sent: str) -> None:
    with pytest.raises(UnknownController, match="'nonsense' is no controller: known controllers are deployment"):
        chosen_controllers(sent, KNOWN)
