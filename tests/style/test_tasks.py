"""Every task has a parent: only `TaskScope` and task groups create tasks."""

import ast

import pytest

from tests.style.sources import SOURCES, name_of, parse, text_of

ALLOWED = {"src/sampan/core/event_loop/task_scope.py"}
"""The parent type itself."""
LOOPS = {"asyncio", "loop", "_loop", "get_running_loop", "get_event_loop"}


def last_name(node: ast.expr) -> str:
    """Return `b` for the expressions `b`, `a.b` and `a.b()`."""
    if isinstance(node, ast.Call):
        return last_name(node.func)
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def orphans(text: str) -> list[int]:
    """Return the lines that create a task without a parent."""
    return [
        node.lineno
        for node in ast.walk(parse(text))
        if isinstance(node, ast.Attribute)
        and (node.attr == "ensure_future" or (node.attr == "create_task" and last_name(node.value) in LOOPS))
    ]


def test_every_task_has_a_parent() -> None:
    found = [f"{name_of(path)}:{line}" for path in SOURCES for line in orphans(text_of(path))]
    assert [each for each in found if each.rpartition(":")[0] not in ALLOWED] == []


@pytest.mark.parametrize(
    "text",
    [
        "asyncio.create_task(work())",
        "asyncio.ensure_future(work())",
        "self.loop.create_task(work())",
        "asyncio.get_running_loop().create_task(work())",
    ],
)
def test_a_task_without_a_parent_is_found(text: str) -> None:
    assert orphans(text) == [1]


def test_a_task_of_a_group_has_a_parent() -> None:
    assert orphans("group.create_task(work())") == []
