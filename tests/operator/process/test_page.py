"""docs/operator-process.md names what exists."""

import re
from pathlib import Path

from sampan.core.settings import settings_of
from sampan.operator import OperatorSettings

PAGE = (Path(__file__).parents[3] / "docs" / "operator-process.md").read_text()
[BLOCK] = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def test_the_page_names_every_flag_and_no_other() -> None:
    rows = [line for line in PAGE.splitlines() if line.startswith("| `--")]
    named = set(re.findall(r"`--([\w-]+)`", " ".join(row.split(" | ")[0] for row in rows)))
    assert named == {each.name for each in settings_of(OperatorSettings())}


def test_the_program_sets_up() -> None:
    found: dict[str, object] = {"__name__": "boats.main"}
    exec(compile(BLOCK, "docs/operator-process.md", "exec"), found)
    assert callable(found["set_up"])
