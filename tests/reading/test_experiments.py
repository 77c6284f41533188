"""The experiments of the reading guide print what their pages show."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.journeys.shown import matches
from tests.reading.guide import PAGES
from tests.user_environment import user_environment

TIMEOUT_S = 300.0
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.timeout(900)
@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_the_experiment_of_a_page_prints_what_it_shows(page: Path, tmp_path: Path) -> None:
    blocks = _BLOCK.findall(page.read_text())
    for _, text in blocks:
        if named := re.match(r"# ([\w./-]+)\n", text):
            (tmp_path / named[1]).write_text(text[named.end() :])
    commands = [each for kind, text in blocks if kind == "console" for each in re.split(r"^\$ ", text, flags=re.M)[1:]]
    for each in commands:
        command, _, shown = each.partition("\n")
        output = run(command, tmp_path)
        assert matches(shown.splitlines(), output), f"$ {command}\n{output}"


def run(command: str, folder: Path) -> str:
    """Run a command with the programs of this environment, and return what it prints."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=folder,
        env=user_environment(PATH=path, HOME=str(folder)),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    return done.stdout
