"""Stale output is replaced, and nothing else."""

from tests.blocks.document import blocks
from tests.blocks.shell import steps
from tests.blocks.update import update
from tests.journeys.page import Command
from tests.journeys.walk import Differing

PAGE = """# Boats

    true
    kubectl get boats
    # NAME   HOME
    # junk   Wuhan

```console
$ sampan \\
> --version
old
more
$ true
```
"""


def differing(text: str, output: str) -> list[Differing]:
    found = [step for step in steps(blocks(PAGE.splitlines())) if isinstance(step, Command) and step.text == text]
    return [Differing(step, output) for step in found]


def test_output_of_an_indented_block_is_replaced() -> None:
    changed = update(PAGE, differing("kubectl get boats", "NAME   HOME\n"))
    assert changed == PAGE.replace("    # junk   Wuhan\n", "")


def test_output_of_a_console_block_is_replaced() -> None:
    changed = update(PAGE, differing("sampan \\\n--version", "new\nlines\nof it\n"))
    assert changed == PAGE.replace("old\nmore\n", "new\nlines\nof it\n")
