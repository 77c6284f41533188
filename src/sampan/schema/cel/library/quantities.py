"""Quantities: `quantity('1.5Gi')`. Source: apiserver pkg/cel/library/quantity.go (1.36)."""

from typing import Any

from sampan.core.numbers.quantity import Format, Quantity, parse
from sampan.schema.cel.declarations import Library, first_traversal, function, member, with_cost
from sampan.schema.cel.errors import CelRuntimeError
from sampan.schema.cel.types import BOOL, DOUBLE, INT, STRING, struct
from sampan.schema.cel.values import INT_MAX, INT_MIN, LibraryValue

QUANTITY = struct("kubernetes.Quantity")


class QuantityValue(LibraryValue):
    """Quantity as a value of expressions; compared by amount."""

    __slots__ = ("amount",)
    type_name = QUANTITY.name

    def __init__(self, amount: Quantity) -> None:
        self.amount = amount

    def __eq__(self, other: object) -> bool:
        return isinstance(other, QuantityValue) and self.amount.compare(other.amount) == 0

    def __hash__(self) -> int:
        return hash(self.amount)


def _quantity(text: str) -> QuantityValue:
    try:
        return QuantityValue(parse(text))
    except ValueError as error:
        raise CelRuntimeError(str(error)) from None


def _is_quantity(text: str) -> bool:
    try:
        parse(text)
    except ValueError:
        return False
    return True


def _sign(value: QuantityValue) -> int:
    return value.amount.compare(Quantity(0))


def _as_integer(value: QuantityValue) -> int:
    if not _is_integer(value):
        raise CelRuntimeError("cannot convert value to integer")
    return value.amount.value()


def _is_integer(value: QuantityValue) -> bool:
    whole = value.amount.value()
    return INT_MIN <= whole <= INT_MAX and value.amount.compare(Quantity(whole)) == 0


def _as_float(value: QuantityValue) -> float:
    return value.amount.scaled_value(-9) / 1e9


def _compare(left: QuantityValue, right: QuantityValue) -> int:
    return left.amount.compare(right.amount)


def _greater(left: QuantityValue, right: QuantityValue) -> bool:
    return left.amount.compare(right.amount) > 0


def _less(left: QuantityValue, right: QuantityValue) -> bool:
    return left.amount.compare(right.amount) < 0


def _amount(value: Any) -> Quantity:
    if isinstance(value, QuantityValue):
        return value.amount
    return Quantity(int(value), 0, Format.DECIMAL_EXPONENT)


def _add(left: QuantityValue, right: Any) -> QuantityValue:
    return QuantityValue(left.amount + _amount(right))


def _subtract(left: QuantityValue, right: Any) -> QuantityValue:
    return QuantityValue(left.amount - _amount(right))


QUANTITIES = Library(
    (
        *with_cost(
            first_traversal,
            (
                function("quantity", "string_to_quantity", (STRING,), QUANTITY, _quantity),
                function("isQuantity", "is_quantity_string", (STRING,), BOOL, _is_quantity),
            ),
        ),
        function("sign", "quantity_sign", (QUANTITY,), INT, _sign),
        member("isGreaterThan", "quantity_is_greater_than", (QUANTITY, QUANTITY), BOOL, _greater),
        member("isLessThan", "quantity_is_less_than", (QUANTITY, QUANTITY), BOOL, _less),
        member("compareTo", "quantity_compare_to", (QUANTITY, QUANTITY), INT, _compare),
        member("asApproximateFloat", "quantity_get_float", (QUANTITY,), DOUBLE, _as_float),
        member("asInteger", "quantity_get_int", (QUANTITY,), INT, _as_integer),
        member("isInteger", "quantity_is_integer", (QUANTITY,), BOOL, _is_integer),
        member("add", "quantity_add", (QUANTITY, QUANTITY), QUANTITY, _add),
        member("add", "quantity_add_int", (QUANTITY, INT), QUANTITY, _add),
        member("sub", "quantity_sub", (QUANTITY, QUANTITY), QUANTITY, _subtract),
        member("sub", "quantity_sub_int", (QUANTITY, INT), QUANTITY, _subtract),
    ),
    (QUANTITY,),
)
