"""Sets of completion indexes of indexed jobs, as text: `1,3-5,7`.

Source: pkg/apis/batch/validation/validation.go (1.36).
"""

from collections.abc import Iterator

from sampan.core.field import quote
from sampan.core.numbers.integers import parse_integer

Interval = tuple[int, int]


def _atoi(text: str) -> int:
    try:
        return parse_integer(text, function="Atoi")
    except ValueError:
        raise ValueError(f"cannot convert string to integer for index: {quote(text)}") from None


def parse_interval(text: str, completions: int) -> Interval:
    """Parse one index or a range of indexes below `completions`. Raises `ValueError` with Kubernetes' text."""
    limits = text.split("-")
    if len(limits) > 2:
        raise ValueError(
            f"the fragment {quote(text)} violates the requirement that an index interval can have at most two parts "
            "separated by '-'"
        )
    numbers = []
    for limit in limits:
        number = _atoi(limit)
        if number >= completions:
            raise ValueError(f"too large index: {quote(limit)}")
        numbers.append(number)
    first, last = numbers[0], numbers[-1]
    if len(numbers) == 2 and first >= last:
        raise ValueError(f"non-increasing order, previous: {first}, current: {last}")
    return first, last


def count_indexes(text: str, completions: int) -> int:
    """Return the number of indexes in the text, which must be in ascending order.

    Raises `ValueError` with Kubernetes' text.
    """
    total, previous = 0, -1
    for part in text.split(",") if text else ():
        first, last = parse_interval(part, completions)
        if previous >= first:
            raise ValueError(f"non-increasing order, previous: {previous}, current: {first}")
        total += last - first + 1
        previous = last
    return total


def _valid_intervals(text: str, completions: int) -> Iterator[Interval]:
    for part in text.split(","):
        try:
            yield parse_interval(part, completions)
        except ValueError:
            continue


def overlap(completed: str, failed: str, completions: int) -> int | None:
    """Return the first index that is in both sets, or None."""
    if not completed or not failed:
        return None
    left, right = _valid_intervals(completed, completions), _valid_intervals(failed, completions)
    one, other = next(left, None), next(right, None)
    while one is not None and other is not None:
        if one[0] <= other[1] and other[0] <= one[1]:
            return max(one[0], other[0])
        if one[0] <= other[0]:
            one = next(left, None)
        else:
            other = next(right, None)
    return None
