"""Counts in messages of the programs agree with their nouns: `1 problem`, `2 problems`."""

import re

import pytest

from sampan.core.numbers.counts import counted
from tests.style.sources import ROOT

FOLDERS = ("app", "cli", "storage")
NOUNS = "keys|objects|problems|servers|nodes|files|failures|rows|tests|certificates|errors|faults|tokens|days|warnings"
_BARE = re.compile(rf"(\{{(?!counted)[^{{}}]+\}}|%d) ({NOUNS})\b")


@pytest.mark.parametrize(("number", "text"), [(0, "0 keys"), (1, "1 key"), (2, "2 keys")])
def test_a_noun_has_the_number_of_its_count(number: int, text: str) -> None:
    assert counted(number, "key") == text


def test_an_irregular_plural_can_be_given() -> None:
    assert counted(2, "entry", "entries") == "2 entries"


@pytest.mark.parametrize("folder", FOLDERS)
def test_messages_count_with_the_function(folder: str) -> None:
    found = [
        f"{file.relative_to(ROOT)}:{number}"
        for file in sorted((ROOT / "src/sampan" / folder).rglob("*.py"))
        for number, line in enumerate(file.read_text().splitlines(), 1)
        if _BARE.search(line)
    ]
    assert found == [], "use sampan.core.numbers.counts.counted"
