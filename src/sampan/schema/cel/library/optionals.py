"""Optional values. Source: cel-go cel/library.go (OptionalTypes, 0.26)."""

from typing import Any

from sampan.schema.cel import operators
from sampan.schema.cel.declarations import Library, function, member
from sampan.schema.cel.errors import CelRuntimeError
from sampan.schema.cel.types import BOOL, DYN, INT, STRING, list_of, map_of, optional_of, param
from sampan.schema.cel.values import ABSENT, NONE, OptionalValue, is_zero

_K, _V = param("K"), param("V")
_OPTIONAL, _LIST, _MAP = optional_of(_V), list_of(_V), map_of(_K, _V)


def _of_non_zero(value: Any) -> OptionalValue:
    return NONE if is_zero(value) else OptionalValue(value)


def _none() -> OptionalValue:
    return NONE


def _value(optional: OptionalValue) -> Any:
    if optional.value is ABSENT:
        raise CelRuntimeError("optional.none() dereference")
    return optional.value


def _has_value(optional: OptionalValue) -> bool:
    return optional.value is not ABSENT


def _or(left: OptionalValue, right: OptionalValue) -> OptionalValue:
    return right if left.value is ABSENT else left


def _or_value(left: OptionalValue, right: Any) -> Any:
    return right if left.value is ABSENT else left.value


def _first(items: list[Any]) -> OptionalValue:
    return OptionalValue(items[0]) if items else NONE


def _last(items: list[Any]) -> OptionalValue:
    return OptionalValue(items[-1]) if items else NONE


def _unwrap(items: list[Any]) -> list[Any]:
    for item in items:
        if not isinstance(item, OptionalValue):
            raise CelRuntimeError(f"value {operators.show(item)} is not optional")
    return [item.value for item in items if item.value is not ABSENT]


OPTIONALS = Library(
    (
        function("optional.of", "optional_of", (_V,), _OPTIONAL, OptionalValue),
        function("optional.ofNonZeroValue", "optional_ofNonZeroValue", (_V,), _OPTIONAL, _of_non_zero),
        function("optional.none", "optional_none", (), _OPTIONAL, _none),
        member("value", "optional_value", (_OPTIONAL,), _V, _value),
        member("hasValue", "optional_hasValue", (_OPTIONAL,), BOOL, _has_value),
        member("or", "optional_or_optional", (_OPTIONAL, _OPTIONAL), _OPTIONAL, _or),
        member("orValue", "optional_orValue_value", (_OPTIONAL, _V), _V, _or_value),
        function("_?._", "select_optional_field", (DYN, STRING), _OPTIONAL, operators.optional_index),
        function("_[?_]", "list_optindex_optional_int", (_LIST, INT), _OPTIONAL, operators.optional_index),
        function(
            "_[?_]",
            "optional_list_optindex_optional_int",
            (optional_of(_LIST), INT),
            _OPTIONAL,
            operators.optional_index,
        ),
        function("_[?_]", "map_optindex_optional_value", (_MAP, _K), _OPTIONAL, operators.optional_index),
        function(
            "_[?_]",
            "optional_map_optindex_optional_value",
            (optional_of(_MAP), _K),
            _OPTIONAL,
            operators.optional_index,
        ),
        function("_[_]", "optional_list_index_int", (optional_of(_LIST), INT), _OPTIONAL, operators.optional_index),
        function("_[_]", "optional_map_index_value", (optional_of(_MAP), _K), _OPTIONAL, operators.optional_index),
        member("first", "list_first", (_LIST,), _OPTIONAL, _first),
        member("last", "list_last", (_LIST,), _OPTIONAL, _last),
        function("optional.unwrap", "optional_unwrap", (list_of(_OPTIONAL),), _LIST, _unwrap),
        member("unwrapOpt", "optional_unwrapOpt", (list_of(_OPTIONAL),), _LIST, _unwrap),
    ),
    (_OPTIONAL,),
)
