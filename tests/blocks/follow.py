"""`follow`: runs the commands of a document on a new machine."""

from collections.abc import Sequence
from pathlib import Path

from tests.blocks.coverage import steps_here
from tests.journeys.page import Command, Machine, Page
from tests.journeys.stand_ins import DOCUMENTS
from tests.journeys.walk import Differing, walk


def page_of(document: str) -> Page:
    """Return the machine and the steps of a document. Raises `ValueError` with the line of an error."""
    found = steps_here(document)
    folder = Path(document).parent.as_posix()
    is_entered = any(isinstance(step, Command) and folder in step.text for step in found)
    if folder.startswith("examples") and not is_entered and found:
        found = [Command("", f"cd {folder}", [], 0, False, 0), *found]
    return Page([Machine("machine", [DOCUMENTS])], found)


def follow(document: str, root: Path) -> Sequence[Differing]:
    """Run the commands of a document, and return those with another output. `root`: an empty directory.

    Raises `JourneyError` if a command fails.
    """
    differing: list[Differing] = []
    walk(page_of(document), root, differing)
    return differing
