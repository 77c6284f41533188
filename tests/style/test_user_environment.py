"""Tests run what users run with the variables of `tests.user_environment`."""

import re
from typing import Final

from tests.style.sources import ROOT

_FOLDERS: Final = ("blocks", "cli", "examples", "journeys", "project", "reading", "recipes", "symptoms")
_ALL: Final = re.compile(r"\*\*os\.environ|os\.environ\.(copy|items)\(|dict\(os\.environ")
_ALLOWED: Final = {
    "tests/journeys/previous.py",  # builds a wheel of an earlier commit
}


def test_no_program_of_a_user_gets_the_variables_of_the_test_run() -> None:
    files = [path for name in _FOLDERS for path in (ROOT / "tests" / name).rglob("*.py")]
    found = {str(path.relative_to(ROOT)) for path in files if _ALL.search(path.read_text())}
    assert found == _ALLOWED
