"""What can go wrong with an expression: when it is read, when it is checked, when it runs."""

from dataclasses import dataclass


class CelError(Exception):
    """The root of all faults of expressions."""


class CelCompileError(CelError):
    """An expression that cannot be used. `str()` gives the lines that clients see, each with the source and a caret."""


class CelSyntaxError(CelCompileError):
    """The text is no expression."""


class CelTypeError(CelCompileError):
    """The expression is well formed but its parts do not fit together."""


class CelRuntimeError(CelError):
    """A well-typed expression has no value for these data: a missing key, an overflow, a division by zero."""


class CelBudgetExceeded(CelError):
    """The evaluation was stopped because it cost more than it may."""


EVALUATION_FAULTS: tuple[type[Exception], ...] = (
    CelRuntimeError,
    TypeError,
    ValueError,
    KeyError,
    IndexError,
    AttributeError,
    ArithmeticError,
    RecursionError,
)
"""What a closure may raise: declared errors, and what Python raises when data do not have their declared type."""


def as_runtime_error(error: Exception) -> CelRuntimeError:
    """Any fault of `EVALUATION_FAULTS` as the declared error."""
    return error if isinstance(error, CelRuntimeError) else CelRuntimeError("no such overload")


@dataclass(frozen=True, slots=True)
class Issue:
    """One fault of an expression: where (offset in code points) and what."""

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
    line = source[start:].split("\n", 1)[0].replace("\t", " ")
    text = f"ERROR: <input>:{number}:{column + 1}: {issue.message}\n | {line}\n | {_caret_line(line, column)}"
    return (number, column), text


def render(source: str, issues: list[Issue]) -> str:
    """The issues in the order of the text, each with its line and a caret. Source: cel-go common/errors.go."""
    shown = sorted((_show(source, issue) for issue in issues[:100]), key=lambda entry: entry[0])
    return "\n".join(text for _, text in shown)
