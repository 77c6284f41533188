"""Estimate single calls: their maximum cost and the size of their results.

Source: apiserver pkg/cel/library/cost.go (1.36); cel-go checker/cost.go, ext/{lists,sets}.go (0.26).
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from sampan.schema.cel.cost.range import ONE, UNBOUNDED, UNKNOWN, ZERO, Range, fixed
from sampan.schema.cel.declarations import (
    LIST_CREATE_COST,
    REGEX_FACTOR,
    SELECTOR_REQUIREMENT_COST,
    SELECTOR_REQUIREMENT_LENGTH_MIN,
    STRING_FACTOR,
)
from sampan.schema.cel.library.formats import FORMAT_SIZE_MAX, REGEX_SIZE_MAX
from sampan.schema.cel.types import CelType, same


class Operand(NamedTuple):
    """Argument: its type, its size if known, and the kind and declared size of its elements."""

    type: CelType
    size: Range | None
    item_kind: str = ""
    item_size: Range | None = None
    literal: Any = None

    def bound(self) -> Range:
        """Return the size, or the unbounded range if it is unknown."""
        return self.size or UNKNOWN


class CallEstimate(NamedTuple):
    """Cost of a call without its arguments, and the size of its result if known."""

    cost: Range
    size: Range | None = None


_Estimate = Callable[[str, Operand | None, list[Operand]], CallEstimate | None]


def _nominal(overload: str, target: Operand | None, args: list[Operand]) -> CallEstimate:
    return CallEstimate(ONE)


def _authorization(overload: str, target: Operand | None, args: list[Operand]) -> CallEstimate:
    # Kubernetes' figure: 28 checks fit into the cost limit of one expression (10,000,000).
    return CallEstimate(fixed(350_000))


def _selector(overload: str, target: Operand | None, args: list[Operand]) -> CallEstimate | None:
    """Estimate the parser of a selector: the text, and as many requirements as it may have."""
    if len(args) != 1:
        return None
    length = args[0].bound()
    requirements = length.scaled(1 / SELECTOR_REQUIREMENT_LENGTH_MIN).scaled(SELECTOR_REQUIREMENT_COST)
    return CallEstimate(fixed(LIST_CREATE_COST).plus(length.scaled(STRING_FACTOR)).plus(requirements))


def _scan(overload: str, target: Operand | None, args: list[Operand]) -> CallEstimate | None:
    """Estimate a scan: lists are compared element by element, strings are traversed."""
    if target is None:
        return None
    if not target.item_kind:
        return CallEstimate(target.bound().scaled(STRING_FACTOR))
    element = ONE
    if target.item_kind in ("string", "bytes"):
        element = element.plus((target.item_size or UNKNOWN).scaled(STRING_FACTOR))
    return CallEstimate(target.bound().times(element))


def _first_text(overload: str, target: Operand | None, args: list[Operand]) -> CallEstimate | None:
    return CallEstimate(args[0].bound().scaled(STRING_FACTOR)) if args else None


def _same_size_of_first(overload: str, target: Operand | None, args: list[Operand]) -> CallEstimate | None:
    return CallEstimate(args[0].bound().scaled(STRING_FACTOR), args[0].bound()) if len(args) == 1 else None


def _same_size(overload: str, target: Operand | None, args: list[Operand]) -> CallEstimate | None:
    return CallEstimate(target.bound().scaled(STRING_FACTOR), target.bound()) if target is not None else None


def _replacements(text: int, old: int, new: int, *, most: bool) -> tuple[int, int]:
    """Return how often a text is replaced, and how much of the original text remains: for the largest result if `most`
    is set, otherwise for the smallest.
    """
    # An empty text is found before each character and at the end.
    if old == 0:
        return (text + 1 if text < UNBOUNDED else text), text
    # For the largest result, a shorter replacement is best not used at all; for the smallest, a longer one.
    if (new <= old) if most else (old <= new):
        return 0, text
    return math.ceil(text / old), 0


def _replace(overload: str, target: Operand | None, args: list[Operand]) -> CallEstimate | None:
    if target is None or len(args) < 2:
        return None
    text, old, new = target.bound(), args[0].bound(), args[1].bound()
    most, most_kept = _replacements(text.high, old.low, new.high, most=True)
    least, least_kept = _replacements(text.low, old.high, new.low, most=False)
    size = Range(least, most).times(new).plus(Range(least_kept, most_kept))
    # Twice: the text is searched and the result is written.
    return CallEstimate(text.scaled(2 * STRING_FACTOR), size)


def _split(overload: str, target: Operand | None, args: list[Operand]) -> CallEstimate | None:
    if target is None:
        return None
    most = target.bound().high
    if len(args) > 1 and type(args[1].literal) is int:
        # A negative limit means no limit, as in Go's `strings.SplitN`.
        most = args[1].literal if args[1].literal >= 0 else UNBOUNDED
    return CallEstimate(target.bound().scaled(2 * STRING_FACTOR), Range(0, most))


def _join(overload: str, target: Operand | None, args: list[Operand]) -> CallEstimate | None:
    if target is None:
        return None
    count = target.bound()
    size = count.times(target.item_size or UNKNOWN) if target.item_kind else ZERO
    if args:
        size = size.plus(args[0].bound().times(Range(max(count.low - 1, 0), max(count.high - 1, 0))))
    return CallEstimate(size.scaled(STRING_FACTOR), size)


def _pattern(text: Range, pattern: Range) -> Range:
    # Plus one, because an empty text still costs a run of the pattern.
    return text.plus(ONE).scaled(STRING_FACTOR).times(pattern.scaled(REGEX_FACTOR))


def _find(overload: str, target: Operand | None, args: list[Operand]) -> CallEstimate | None:
    if target is None or not args:
        return None
    return CallEstimate(_pattern(target.bound(), args[0].bound()), Range(0, target.bound().high))


def _ip(overload: str, target: Operand | None, args: list[Operand]) -> CallEstimate | None:
    return CallEstimate(ONE) if overload == "cidr_ip" else _first_text(overload, target, args)


def _canonical_ip(overload: str, target: Operand | None, args: list[Operand]) -> CallEstimate | None:
    return CallEstimate(args[0].bound().scaled(2 * STRING_FACTOR)) if args else None


# Bytes of an IPv4 and of an IPv6 address.
_ADDRESS = Range(4, 16)


def _contains_ip(overload: str, target: Operand | None, args: list[Operand]) -> CallEstimate | None:
    cost = _ADDRESS.plus(_ADDRESS).scaled(STRING_FACTOR)
    if overload == "cidr_contains_ip_string":
        cost = cost.plus(args[0].bound().scaled(STRING_FACTOR))
    return CallEstimate(cost)


def _contains_cidr(overload: str, target: Operand | None, args: list[Operand]) -> CallEstimate | None:
    cost = _ADDRESS.plus(_ADDRESS).scaled(STRING_FACTOR).plus(_ADDRESS.scaled(STRING_FACTOR)).plus(ONE)
    if overload == "cidr_contains_cidr_string":
        cost = cost.plus(args[0].bound().scaled(STRING_FACTOR))
    return CallEstimate(cost)


def _validate(overload: str, target: Operand | None, args: list[Operand]) -> CallEstimate | None:
    return CallEstimate(args[0].bound().scaled(STRING_FACTOR).scaled(REGEX_SIZE_MAX * REGEX_FACTOR))


_CONSTANT_EQUALITY = frozenset(("net.IP", "net.CIDR", "kubernetes.Quantity", "kubernetes.Semver"))


def _equality(overload: str, target: Operand | None, args: list[Operand]) -> CallEstimate | None:
    if len(args) != 2 or not same(args[0].type, args[1].type):
        return None
    name = args[0].type.name
    if name in _CONSTANT_EQUALITY or name.startswith("kubernetes.authorization."):
        return CallEstimate(ONE)
    if name == "kubernetes.NamedFormat":
        return CallEstimate(Range(1, FORMAT_SIZE_MAX).scaled(STRING_FACTOR))
    if name == "kubernetes.URL":
        return CallEstimate(Range(1, args[1].size.high if args[1].size else 1).scaled(STRING_FACTOR))
    return None


_BY_FUNCTION: dict[str, _Estimate] = {
    "check": _authorization,
    "fieldSelector": _selector,
    "labelSelector": _selector,
    **dict.fromkeys(("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"), _scan),
    **dict.fromkeys(("url", "jsonpatch.escapeKey"), _same_size_of_first),
    **dict.fromkeys(("lowerAscii", "upperAscii", "substring", "trim"), _same_size),
    "replace": _replace,
    "split": _split,
    "join": _join,
    **dict.fromkeys(("find", "findAll"), _find),
    **dict.fromkeys(("cidr", "isIP", "isCIDR", "quantity", "isQuantity", "semver", "isSemver"), _first_text),
    "ip": _ip,
    "ip.isCanonical": _canonical_ip,
    "containsIP": _contains_ip,
    "containsCIDR": _contains_cidr,
    "validate": _validate,
    "_==_": _equality,
}


def _allocating(factor: float, size: Range) -> CallEstimate:
    return CallEstimate(size.scaled(factor).plus(ONE).plus(fixed(LIST_CREATE_COST)), size)


def _literal_int(operand: Operand, default: int) -> int:
    return max(operand.literal, 0) if type(operand.literal) is int else default


def _slice(overload: str, target: Operand | None, args: list[Operand]) -> CallEstimate | None:
    assert target is not None
    start = _literal_int(args[0], 0)
    end = _literal_int(args[1], target.bound().high)
    return _allocating(1, fixed((end - start) % (UNBOUNDED + 1)))


def _range(overload: str, target: Operand | None, args: list[Operand]) -> CallEstimate | None:
    return _allocating(1, fixed(_literal_int(args[0], UNBOUNDED)))


def _reverse(overload: str, target: Operand | None, args: list[Operand]) -> CallEstimate | None:
    assert target is not None
    return _allocating(1, target.bound())


def _flatten(overload: str, target: Operand | None, args: list[Operand]) -> CallEstimate | None:
    assert target is not None
    depth = _literal_int(args[0], UNBOUNDED) if args else 1
    return _allocating(float(depth), target.bound())


def _compare_all(overload: str, target: Operand | None, args: list[Operand]) -> CallEstimate | None:
    assert target is not None
    compared = (args[0] if args else target).bound()
    factor = 2.0
    if overload.startswith(("list_string_sort", "list_bytes_sort")):
        factor += STRING_FACTOR
    return _allocating(factor, compared.times(compared))


def _sets(factor: float) -> _Estimate:
    def estimate(overload: str, target: Operand | None, args: list[Operand]) -> CallEstimate | None:
        return CallEstimate(args[0].bound().times(args[1].bound()).scaled(factor).plus(ONE))

    return estimate


def _format(overload: str, target: Operand | None, args: list[Operand]) -> CallEstimate | None:
    return CallEstimate(target.bound().scaled(STRING_FACTOR)) if target is not None else None


def _to_bytes(overload: str, target: Operand | None, args: list[Operand]) -> CallEstimate | None:
    size = args[0].bound()
    # UTF-8 has one to four bytes for each character.
    return CallEstimate(size.scaled(STRING_FACTOR), Range(size.low, min(size.high * 4, UNBOUNDED)))


def _from_bytes(overload: str, target: Operand | None, args: list[Operand]) -> CallEstimate | None:
    size = args[0].bound()
    return CallEstimate(size.scaled(STRING_FACTOR), Range(size.low // 4, size.high))


def _quote(overload: str, target: Operand | None, args: list[Operand]) -> CallEstimate | None:
    size = args[0].bound()
    # Two quotes, and in the worst case a backslash for each character.
    return CallEstimate(size.scaled(STRING_FACTOR), Range(size.low + 2, min(size.high * 2 + 2, UNBOUNDED)))


def _in_list(overload: str, target: Operand | None, args: list[Operand]) -> CallEstimate | None:
    return CallEstimate(args[1].bound())


def _matches(overload: str, target: Operand | None, args: list[Operand]) -> CallEstimate | None:
    return CallEstimate(_pattern(target.bound(), args[0].bound())) if target is not None else None


def _contains(overload: str, target: Operand | None, args: list[Operand]) -> CallEstimate | None:
    if target is None:
        return None
    return CallEstimate(target.bound().scaled(STRING_FACTOR).times(args[0].bound().scaled(STRING_FACTOR)))


def _add_list(overload: str, target: Operand | None, args: list[Operand]) -> CallEstimate | None:
    return CallEstimate(ONE, args[0].bound().plus(args[1].bound()))


def _add_text(overload: str, target: Operand | None, args: list[Operand]) -> CallEstimate | None:
    size = args[0].bound().plus(args[1].bound())
    return CallEstimate(size.scaled(STRING_FACTOR), size)


def _compare(overload: str, target: Operand | None, args: list[Operand]) -> CallEstimate | None:
    # A comparison ends with the shorter operand.
    most = min(args[0].bound().high, args[1].bound().high)
    return CallEstimate(Range(min(most, 1), most).scaled(STRING_FACTOR))


_BY_OVERLOAD: dict[str, _Estimate] = {
    "list_slice": _slice,
    "lists_range": _range,
    "list_reverse": _reverse,
    "list_flatten": _flatten,
    "list_flatten_int": _flatten,
    "list_distinct": _compare_all,
    "list_sets_contains_list": _sets(1),
    "list_sets_intersects_list": _sets(1),
    "list_sets_equivalent_list": _sets(2),
    "string_format": _format,
    "string_to_bytes": _to_bytes,
    "bytes_to_string": _from_bytes,
    "strings_quote": _quote,
    "starts_with_string": _first_text,
    "ends_with_string": _first_text,
    "in_list": _in_list,
    "matches_string": _matches,
    "contains_string": _contains,
    "add_list": _add_list,
    "add_string": _add_text,
    "add_bytes": _add_text,
    **{
        f"{order}_{kind}": _compare
        for order in ("less", "less_equals", "greater", "greater_equals")
        for kind in ("string", "bytes")
    },
    "equals": _compare,
    "not_equals": _compare,
}


def _by_overload(overload: str) -> _Estimate | None:
    if overload.endswith(("_sort", "_sortByAssociatedKeys")):
        return _compare_all
    return _BY_OVERLOAD.get(overload)


def call_estimate(
    function: str, overload: str, target: Operand | None, args: list[Operand], arg_costs: list[Range]
) -> CallEstimate:
    """Estimate a call including its arguments, without its receiver."""
    if function in ("_&&_", "_||_"):
        left, right = arg_costs
        # At the minimum, the second operand is not evaluated.
        return CallEstimate(Range(left.low, left.plus(right).high))
    if function == "_?_:_":
        size = args[1].bound().union(args[2].bound())
        return CallEstimate(arg_costs[0].plus(arg_costs[1].union(arg_costs[2])), size)
    found: CallEstimate | None = None
    for estimate in (_BY_FUNCTION.get(function), _by_overload(overload), _nominal):
        found = estimate(overload, target, args) if estimate is not None else None
        if found is not None:
            break
    assert found is not None
    total = found.cost
    for cost in arg_costs:
        total = total.plus(cost)
    return CallEstimate(total, found.size)
