"""Fields that contain a number or a percentage.

Source: pkg/apis/apps/validation/validation.go (1.36).
"""

from sampan.core.field import Path, invalid
from sampan.core.numbers.integers import INT64_MAX, integer_or
from sampan.core.validation.values import percent_errors
from sampan.registry.rules.fields import Errors, check_not_negative

IntOrString = int | str


def check_int_or_percent(value: IntOrString, path: Path, errors: Errors) -> None:
    """Check a number that is not negative, or a percentage."""
    if isinstance(value, str):
        errors.extend(invalid(path, value, text) for text in percent_errors(value))
    else:
        check_not_negative(value, path, errors)


def _percentage(value: IntOrString) -> int | None:
    if isinstance(value, str) and not percent_errors(value):
        return integer_or(value[:-1], INT64_MAX)
    return None


def int_or_percent_value(value: IntOrString) -> int:
    """Return the number, or the number in a percentage. Other text is parsed as an integer; the result is 0 if that
    fails.
    """
    if isinstance(value, int):
        return value
    percentage = _percentage(value)
    if percentage is not None:
        return percentage
    return integer_or(value, 0)


def check_at_most_100_percent(value: IntOrString, path: Path, errors: Errors) -> None:
    """Check that a percentage is at most 100. Numbers have no limit."""
    percentage = _percentage(value)
    if percentage is not None and percentage > 100:
        errors.append(invalid(path, value, "must not be greater than 100%"))
