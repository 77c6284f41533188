"""`sorted_by`: the order of `--sort-by`.

Source: kubectl pkg/cmd/get/sorter.go (1.36).
"""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from sampan.cli.objects.custom_columns import relaxed_path
from sampan.core.numbers.quantity import Quantity

T = TypeVar("T")


def sorted_by(items: Iterable[T], path: str, object_of: Callable[[T], Any]) -> list[T]:
    """Return the items sorted by the values at `path`; items without a value come first.

    Numbers and quantities are compared by value, other texts by characters. Raises `ValueError` for a malformed path.
    """
    compiled = relaxed_path(path)
    return sorted(items, key=lambda item: _key(compiled.first(object_of(item))))


def _key(value: Any) -> tuple[int, Any]:
    if value is None:
        return 0, 0
    if isinstance(value, bool):
        return 1, value
    if isinstance(value, int | float | str):
        value = str(value)
        try:
            return 1, Quantity.parse(value)
        except ValueError:
            return 2, value
    raise ValueError("the field of --sort-by is not a number or text")
