"""Expand macros: calls that are replaced by a comprehension or a presence test.

Source: cel-go parser/macro.go, ext/comprehensions.go, ext/lists.go (sortBy), cel/library.go (optMap).
"""

import copy
from collections.abc import Callable

from sampan.schema.cel.errors import Issue
from sampan.schema.cel.syntax.ast import Call, Comprehension, Expr, Ident, ListNode, Literal, MapNode, Select

_ACCUMULATOR = "@result"


class MacroError(Exception):
    """The arguments of a macro are invalid."""

    def __init__(self, offset: int, message: str) -> None:
        super().__init__(message)
        self.issue = Issue(offset, message)


def _name(node: Expr, message: str) -> str:
    if not isinstance(node, Ident):
        raise MacroError(node.offset, message)
    if node.name == "__result__":
        raise MacroError(node.offset, "iteration variable overwrites accumulator variable")
    return node.name


def _names(args: list[Expr], count: int, message: str) -> tuple[str, str]:
    first = _name(args[0], message)
    if count == 1:
        return first, ""
    second = _name(args[1], message)
    if first == second:
        raise MacroError(args[1].offset, f"duplicate variable name: {first}")
    return first, second


def _quantifier(offset: int, kind: str, target: Expr, args: list[Expr]) -> Expr:
    variables = len(args) - 1
    first, second = _names(args, variables, "argument must be a simple name")
    body = args[-1]
    node = Comprehension(offset, kind, iter_range=target, iter_var=first, iter_var2=second)
    node.predicate = body
    accu = Ident(offset, _ACCUMULATOR)
    node.result = accu
    if kind == "all":
        node.accu_init = Literal(offset, True)
        node.condition = Call(offset, "@not_strictly_false", [Ident(offset, _ACCUMULATOR)])
        node.step = Call(offset, "_&&_", [Ident(offset, _ACCUMULATOR), body])
    elif kind == "exists":
        node.accu_init = Literal(offset, False)
        negated = Call(offset, "!_", [Ident(offset, _ACCUMULATOR)])
        node.condition = Call(offset, "@not_strictly_false", [negated])
        node.step = Call(offset, "_||_", [Ident(offset, _ACCUMULATOR), body])
    else:
        node.accu_init = Literal(offset, 0)
        node.condition = Literal(offset, True)
        more = Call(offset, "_+_", [Ident(offset, _ACCUMULATOR), Literal(offset, 1)])
        node.step = Call(offset, "_?_:_", [body, more, Ident(offset, _ACCUMULATOR)])
        node.result = Call(offset, "_==_", [accu, Literal(offset, 1)])
    return node


def _fold(node: Comprehension, init: Expr, step: Expr) -> Expr:
    """Complete the comprehension of a transformation. Its step runs only for elements for which the predicate
    is true.
    """
    offset = node.offset
    node.accu_init = init
    node.condition = Literal(offset, True)
    if node.predicate is not None:
        step = Call(offset, "_?_:_", [node.predicate, step, Ident(offset, _ACCUMULATOR)])
    node.step = step
    node.result = Ident(offset, _ACCUMULATOR)
    return node


def _to_list(offset: int, kind: str, target: Expr, args: list[Expr], *, variables: int = 1) -> Expr:
    message = "argument is not an identifier" if variables == 1 else "argument must be a simple name"
    first, second = _names(args, variables, message)
    node = Comprehension(offset, kind, iter_range=target, iter_var=first, iter_var2=second)
    node.transform = args[-1]
    if len(args) == variables + 2:
        node.predicate = args[variables]
    appended = ListNode(offset, [node.transform])
    return _fold(node, ListNode(offset, []), Call(offset, "_+_", [Ident(offset, _ACCUMULATOR), appended]))


def _all(offset: int, target: Expr, args: list[Expr]) -> Expr:
    return _quantifier(offset, "all", target, args)


def _exists(offset: int, target: Expr, args: list[Expr]) -> Expr:
    return _quantifier(offset, "exists", target, args)


def _exists_one(offset: int, target: Expr, args: list[Expr]) -> Expr:
    return _quantifier(offset, "exists_one", target, args)


def _map(offset: int, target: Expr, args: list[Expr]) -> Expr:
    return _to_list(offset, "map", target, args)


def _transform_list(offset: int, target: Expr, args: list[Expr]) -> Expr:
    return _to_list(offset, "map", target, args, variables=2)


def _filter(offset: int, target: Expr, args: list[Expr]) -> Expr:
    name, _ = _names(args, 1, "argument is not an identifier")
    node = Comprehension(offset, "map", iter_range=target, iter_var=name)
    node.predicate = args[1]
    node.transform = args[0]
    appended = ListNode(offset, [args[0]])
    return _fold(node, ListNode(offset, []), Call(offset, "_+_", [Ident(offset, _ACCUMULATOR), appended]))


def _to_map(offset: int, kind: str, target: Expr, args: list[Expr]) -> Expr:
    first, second = _names(args, 2, "argument must be a simple name")
    node = Comprehension(offset, kind, iter_range=target, iter_var=first, iter_var2=second)
    node.transform = args[-1]
    if len(args) == 4:
        node.predicate = args[2]
    inserted: list[Expr] = [Ident(offset, _ACCUMULATOR), node.transform]
    if kind == "transform_map":
        inserted.insert(1, Ident(offset, first))
    return _fold(node, MapNode(offset, []), Call(offset, "cel.@mapInsert", inserted))


def _transform_map(offset: int, target: Expr, args: list[Expr]) -> Expr:
    return _to_map(offset, "transform_map", target, args)


def _transform_map_entry(offset: int, target: Expr, args: list[Expr]) -> Expr:
    return _to_map(offset, "transform_map_entry", target, args)


def _bind(offset: int, name: str, value: Expr, body: Expr) -> Comprehension:
    node = Comprehension(offset, "bind", iter_range=ListNode(offset, []), iter_var="#unused")
    node.accu_var = name
    node.accu_init = value
    node.condition = Literal(offset, False)
    node.step = Ident(offset, name)
    node.result = body
    return node


def _optional(offset: int, function: str, target: Expr, args: list[Expr]) -> Expr:
    if not isinstance(args[0], Ident):
        raise MacroError(args[0].offset, f"{function}() variable name must be a simple identifier")
    value = Call(offset, "value", [], copy.deepcopy(target))
    mapped: Expr = _bind(offset, args[0].name, value, args[1])
    if function == "optMap":
        mapped = Call(offset, "optional.of", [mapped])
    present = Call(offset, "hasValue", [], target)
    return Call(offset, "_?_:_", [present, mapped, Call(offset, "optional.none", [])])


def _opt_map(offset: int, target: Expr, args: list[Expr]) -> Expr:
    return _optional(offset, "optMap", target, args)


def _opt_flat_map(offset: int, target: Expr, args: list[Expr]) -> Expr:
    return _optional(offset, "optFlatMap", target, args)


def _sort_by(offset: int, target: Expr, args: list[Expr]) -> Expr:
    if isinstance(target, Literal | MapNode):
        message = "sortBy can only be applied to a list, identifier, comprehension, call or select expression"
        raise MacroError(target.offset, message)
    name = "@__sortBy_input__"
    keys = _map(offset, Ident(offset, name), args)
    return _bind(offset, name, target, Call(offset, "@sortByAssociatedKeys", [keys], Ident(offset, name)))


_RECEIVER: dict[tuple[str, int], Callable[[int, Expr, list[Expr]], Expr]] = {
    ("all", 2): _all,
    ("all", 3): _all,
    ("exists", 2): _exists,
    ("exists", 3): _exists,
    ("exists_one", 2): _exists_one,
    ("exists_one", 3): _exists_one,
    ("existsOne", 3): _exists_one,
    ("map", 2): _map,
    ("map", 3): _map,
    ("filter", 2): _filter,
    ("transformList", 3): _transform_list,
    ("transformList", 4): _transform_list,
    ("transformMap", 3): _transform_map,
    ("transformMap", 4): _transform_map,
    ("transformMapEntry", 3): _transform_map_entry,
    ("transformMapEntry", 4): _transform_map_entry,
    ("optMap", 2): _opt_map,
    ("optFlatMap", 2): _opt_flat_map,
    ("sortBy", 2): _sort_by,
}


def expand(offset: int, function: str, target: Expr | None, args: list[Expr], *, bindings: bool = False) -> Expr | None:
    """Return the expansion of a call if it is a macro (`cel.bind` only with `bindings`), else None.

    **Raises** MacroError.
    """
    if target is not None:
        if bindings and function == "bind" and len(args) == 3 and isinstance(target, Ident) and target.name == "cel":
            if not isinstance(args[0], Ident):
                raise MacroError(args[0].offset, "cel.bind() variable names must be simple identifiers")
            return _bind(offset, args[0].name, args[1], args[2])
        expander = _RECEIVER.get((function, len(args)))
        return expander(offset, target, args) if expander else None
    if function != "has" or len(args) != 1:
        return None
    operand = args[0]
    if not isinstance(operand, Select) or operand.test_only or operand.optional:
        raise MacroError(operand.offset, "invalid argument to has() macro")
    return Select(offset, operand.operand, operand.field, test_only=True)
