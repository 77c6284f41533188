"""Large expressions compile in linear time, and their errors stay small."""

import contextvars
import time

import pytest

from sampan.core.event_loop import offload
from sampan.core.event_loop.offload import INLINE_STEPS_MAX, Offload, RequestWork, TakeThread
from sampan.schema.cel import Budget, CelCompileError, Environment
from sampan.schema.cel.checking.unification import Assignments, assign
from sampan.schema.cel.types import BOOL, INT, STRING, param

ENVIRONMENT = Environment({})


def compile_s(lists: int) -> float:
    """Processor time in which an expression with this many lists compiles."""
    chain = "[1]" + "+[1]" * 99
    expression = f"[{','.join([chain] * (lists // 100))}] == []"
    began = time.thread_time()
    ENVIRONMENT.compile(expression)
    return time.thread_time() - began


def test_four_times_the_expression_takes_about_four_times_as_long() -> None:
    small = min(compile_s(5_000) for _ in range(3))
    assert compile_s(20_000) < 8 * small


@pytest.mark.parametrize(
    ("length", "shown"), [(16_384, True), (16_385, False), (90_000, False)], ids=["longest", "longer", "long"]
)
def test_a_long_line_is_not_shown_with_its_error(length: int, shown: bool) -> None:
    expression = "x".ljust(length)
    with pytest.raises(CelCompileError) as raised:
        ENVIRONMENT.compile(expression)
    text = str(raised.value)
    assert text.startswith("ERROR: <input>:1:1: undeclared reference to 'x' (in container '')")
    assert (f"\n | {expression}\n | ^" in text) is shown


def test_a_hundred_errors_in_a_long_line_are_no_large_message() -> None:
    with pytest.raises(CelCompileError) as raised:
        ENVIRONMENT.compile(f"[{','.join(['x'] * 45_000)}] == []")
    assert len(str(raised.value)) < 20_000


def test_many_matches_are_found_in_a_thread() -> None:
    program = Environment({"self": STRING}).compile("self.findAll('a').size() == self.size() && self.find('a') == 'a'")
    work = RequestWork(Offload(), steps_left=INLINE_STEPS_MAX)
    context = contextvars.copy_context()
    context.run(offload._current.set, work)
    assert context.run(program.evaluate, {"self": "a" * 500}, Budget()) is True
    with pytest.raises(TakeThread):
        context.run(program.evaluate, {"self": "a" * 30_000}, Budget())
    assert program.evaluate({"self": "a" * 30_000}, Budget()) is True


def test_a_failed_assignment_changes_nothing() -> None:
    mapping = Assignments()
    assert assign(mapping, [(INT, param("a"))])
    assert not assign(mapping, [(STRING, param("b")), (STRING, BOOL)])
    assert mapping == {"a": INT}
