"""`sampan errors`, and the texts that name it."""

import io
import sys

import pytest

from sampan.cli.main import main
from sampan.client.errors import TransportTimeout, api_error
from sampan.core.explanations import entries
from sampan.core.explanations.entries import Explanation, explanations, explanations_of, hint, short
from sampan.testing import NotSettled


def output(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    """Run `sampan errors` and return what it prints."""
    with pytest.raises(SystemExit) as ended:
        main(["errors", *arguments])
    assert ended.value.code == code
    return "".join(capsys.readouterr())


@pytest.mark.parametrize("name", explanations())
def test_each_error_is_explained_by_its_name(capsys: pytest.CaptureFixture[str], name: str) -> None:
    assert explanations()[name].cure in output(capsys, name)


def test_the_last_part_of_a_name_in_any_case_is_enough(capsys: pytest.CaptureFixture[str]) -> None:
    assert output(capsys, "notsettled").startswith("sampan.testing.NotSettled\n\nCause: ")


def test_two_errors_of_one_name_are_both_explained(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Explanation("example.PlanError", "Another plan cannot be used.", "Correct it.")
    both = {**explanations(), other.name: other}
    monkeypatch.setattr(entries, "explanations", lambda: both)
    assert output(capsys, "PlanError").count("Cause: ") == len(explanations_of("PlanError")) == 2


def test_without_a_name_all_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert output(capsys).split() == list(explanations())


def test_a_mistyped_name_gets_a_suggestion(capsys: pytest.CaptureFixture[str]) -> None:
    assert "did you mean Conflict?" in output(capsys, "Conflit", code=2)


CONFLICT = api_error({"reason": "Conflict", "code": 409, "message": "changed"})


@pytest.mark.parametrize(
    ("error", "name"),
    [
        (CONFLICT, "Conflict"),
        (NotSettled("busy"), "NotSettled"),
        (TransportTimeout("slow", sent=True), "TransportTimeout"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_error_names_the_command_that_explains_it(error: Exception, name: str) -> None:
    assert hint(error) == f"sampan errors {name} explains the error"


def test_every_command_in_a_text_works() -> None:
    assert [name for name in explanations() if not explanations_of(short(name))] == []


class ForeignError(Exception):
    reason = "Conflict"


@pytest.mark.parametrize("error", [ValueError("x"), ForeignError()], ids=["built in", "with a reason"])
def test_errors_of_other_projects_have_no_hint(error: Exception) -> None:
    assert hint(error) == ""


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("stream", "expected"), [(Terminal, True), (io.StringIO, False)], ids=["terminal", "file"])
def test_only_a_terminal_gets_the_hint(
    monkeypatch: pytest.MonkeyPatch, stream: type[io.StringIO], expected: bool
) -> None:
    err = stream()
    monkeypatch.setattr(sys, "stderr", err)
    with pytest.raises(SystemExit):
        main(["get", "pods", "--server", "http://127.0.0.1:1"])
    assert ("sampan errors TransportError explains the error" in err.getvalue()) is expected
