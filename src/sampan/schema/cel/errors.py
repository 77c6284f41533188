"""Errors of expressions: syntax errors, type errors and runtime errors."""

from dataclasses import dataclass


class CelError(Exception):
    """Base class of all errors of expressions."""


class CelCompileError(CelError):
    """The expression is invalid. `str()` returns the lines for clients, each with the source and a caret."""


class CelSyntaxError(CelCompileError):
    """The text is not an expression."""


class CelTypeError(CelCompileError):
    """The expression is well formed but its types do not match."""


class CelRuntimeError(CelError):
    """The evaluation of a well-typed expression failed: a missing key, an overflow, a division by zero."""


class CelBudgetExceeded(CelError):
    """The evaluation was stopped because it exceeded its cost limit."""


EVALUATION_ERRORS: tuple[type[Exception], ...] = (
    CelRuntimeError,
    TypeError,
    ValueError,
    KeyError,
    IndexError,
    AttributeError,
    ArithmeticError,
    RecursionError,
)
"""Errors that a closure may raise: declared ones, and Python's own for data that do not have their declared type."""


def as_runtime_error(error: Exception) -> CelRuntimeError:
    """Convert any of `EVALUATION_ERRORS` to the declared error."""
    return error if isinstance(error, CelRuntimeError) else CelRuntimeError("no such overload")


ISSUES_MAX = 100
"""Maximum number of issues that one error reports."""
_LINE_BYTES_MAX = 16_384
"""Maximum length of a line that is shown with an issue."""


@dataclass(frozen=True, slots=True)
class Issue:
    """Error in an expression: its position (offset in code points) and its message."""

    offset: int
    message: str


def _caret_line(line: str, column: int) -> str:
    marks = ["\uff0e" if ord(char) > 127 else "." for char in line[:column]]
    wide = column < len(line) and ord(line[column]) > 127
    return "".join(marks) + ("\uff3e" if wide else "^")


def _show(source: str, issue: Issue) -> tuple[tuple[int, int], str]:
    start = source.rfind("\n", 0, issue.offset) + 1
    number = source.count("\n", 0, issue.offset) + 1
    column = issue.offset - start
    end = source.find("\n", start)
    line = source[start : len(source) if end < 0 else end].replace("\t", " ")
    text = f"ERROR: <input>:{number}:{column + 1}: {issue.message}"
    if len(line.encode()) <= _LINE_BYTES_MAX:
        text += f"\n | {line}\n | {_caret_line(line, column)}"
    return (number, column), text


def render(source: str, issues: list[Issue]) -> str:
    """Format the issues in text order, each with its line and a caret. Source: cel-go common/errors.go."""
    shown = sorted((_show(source, issue) for issue in issues[:ISSUES_MAX]), key=lambda entry: entry[0])
    return "\n".join(text for _, text in shown)
