"""docs/toolkit-features.md: every row names a page or a test, and the tests exist."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "toolkit-features.md").read_text()
ROWS = [[cell.strip() for cell in line.split(" | ")] for line in PAGE.splitlines() if re.match(r"\| \d+ \|", line)]
TESTS = re.findall(r"`(tests/\S+\.py)::(\w+)`", PAGE)


def test_the_table_has_fifty_rows_that_are_shown() -> None:
    assert [row[0] for row in ROWS] == [f"| {number}" for number in range(1, 51)]
    assert [row[1] for row in ROWS if "](" not in row[3] and "::" not in row[3]] == []


def test_only_what_the_command_for_bundles_will_do_is_in_part() -> None:
    assert [row[0] for row in ROWS if row[2] != "✔"] == ["| 45"]


@pytest.mark.parametrize(("file", "name"), TESTS, ids=[name for _, name in TESTS])
def test_the_named_test_exists(file: str, name: str) -> None:
    defined = {node.name for node in ast.walk(ast.parse((ROOT / file).read_text())) if hasattr(node, "name")}
    assert name in defined
