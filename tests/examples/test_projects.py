"""Examples that are projects, as `sampan init` makes them: their own tests pass, and they are small."""

import ast
import io
import json
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.examples.operator_process import EXAMPLES
from tests.user_environment import user_environment

PROJECTS = sorted(path.parent for path in EXAMPLES.glob("1*/.sampan"))
LINES_MAX = 250
NEAREST = {"kopf": "nolar/kopf", "controller-runtime": "kubernetes-sigs/controller-runtime", "kube-rs": "kube-rs/kube"}
_NO_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


def code_lines(text: str) -> Iterator[str]:
    """Yield the lines of a module without comments, docstrings and empty lines."""
    numbers: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _NO_CODE:
            numbers.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            numbers -= set(range(node.lineno, (node.end_lineno or 0) + 1))
    lines = text.splitlines()
    yield from (lines[number - 1].strip() for number in sorted(numbers))


def own_lines(project: Path) -> list[str]:
    """Return the lines of code of a project that no command wrote."""
    written = {
        line.strip()
        for file in (project / ".sampan/base").glob("*.json")
        for text in json.loads(file.read_text())["files"].values()
        for line in text.splitlines()
    }
    return [
        line for file in (project / "src").rglob("*.py") for line in code_lines(file.read_text()) if line not in written
    ]


@pytest.mark.parametrize("project", PROJECTS, ids=lambda path: path.name)
def test_an_example_has_at_most_250_lines_of_code_that_no_command_wrote(project: Path) -> None:
    assert len(own_lines(project)) <= LINES_MAX


@pytest.mark.parametrize("project", PROJECTS, ids=lambda path: path.name)
def test_an_example_names_its_nearest_code_in_other_projects_and_counts_lines(project: Path) -> None:
    _, _, section = (project / "README.md").read_text().partition("## In other words\n")
    [count] = re.findall(r"This example\nhas (\d+) of them", section)
    assert int(count) == len(own_lines(project))
    rows = re.findall(
        r"^\| ([\w-]+) \| \[`[^`]+`\]\(https://github\.com/(\S+?)/blob/[0-9a-f]{40}/\S+\) \| \d+ \| .+ \|$",
        section,
        re.M,
    )
    assert dict(rows).items() <= NEAREST.items()
    assert {"kopf", "controller-runtime"} <= dict(rows).keys()


@pytest.mark.parametrize("project", PROJECTS, ids=lambda path: path.name)
def test_the_own_tests_of_an_example_pass(project: Path) -> None:
    """Explorations of faults included: a sample of them, or as many as SAMPAN_PLANS has."""
    environment = user_environment()
    environment.setdefault("SAMPAN_PLANS", "8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:asyncio"],
        cwd=project,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
