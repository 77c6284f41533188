"""The tests in the pages of the toolkit pass, as they are printed."""

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest

from sampan.testing import Cluster, ClusterOptions, virtual_time

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ("operator-events.md", "operator-webhooks.md")
REAL_TIME = frozenset({"operator-webhooks.md"})
"""Pages whose operators have connections."""


def blocks_of(page: str) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", (DOCS / page).read_text(), re.MULTILINE | re.DOTALL)


def module_of(page: str) -> dict[str, Any]:
    """Run all blocks of a page as one module."""
    names: dict[str, Any] = {"__name__": page.removesuffix(".md").replace("-", "_")}
    exec(compile("".join(blocks_of(page)), str(DOCS / page), "exec"), names)
    return names


TESTS = [
    (page, name) for page in PAGES for name in re.findall(r"^async def (test_\w+)", "".join(blocks_of(page)), re.M)
]


@pytest.mark.parametrize(("page", "name"), TESTS)
def test_the_tests_of_a_page_pass(page: str, name: str) -> None:
    async def run() -> None:
        async with Cluster(ClusterOptions(virtual=page not in REAL_TIME)) as cluster:
            await module_of(page)[name](cluster)

    if page in REAL_TIME:
        asyncio.run(run())
    else:
        virtual_time(run)()


@pytest.mark.parametrize("page", PAGES)
def test_every_page_has_a_test(page: str) -> None:
    assert page in {found for found, _ in TESTS}
