"""Type checker: sets the type of every node and the overloads of every call.

Source: cel-go checker/checker.go (0.26).
"""

from collections.abc import Mapping as MappingOf

from sampan.schema.cel.checking import unification
from sampan.schema.cel.checking.unification import is_dyn_or_error, most_general, substitute
from sampan.schema.cel.declarations import Overload
from sampan.schema.cel.errors import CelTypeError, Issue, render
from sampan.schema.cel.messages import MESSAGES
from sampan.schema.cel.syntax.ast import (
    Call,
    Comprehension,
    Expr,
    Ident,
    ListNode,
    Literal,
    MapNode,
    Select,
    StructNode,
    qualified_name,
    spine,
    walk,
)
from sampan.schema.cel.syntax.escaping import RESERVED
from sampan.schema.cel.types import (
    ANY,
    BOOL,
    BYTES,
    DOUBLE,
    DYN,
    ERROR,
    INT,
    NULL,
    STRING,
    UINT,
    CelType,
    list_of,
    map_of,
    optional_of,
    param,
    unwrap_optional,
)
from sampan.schema.cel.values import TypeValue, UInt

_LITERALS: dict[type, CelType] = {
    type(None): NULL,
    bool: BOOL,
    int: INT,
    UInt: UINT,
    float: DOUBLE,
    str: STRING,
    bytes: BYTES,
}


def _signature(args: list[CelType], *, is_member: bool) -> str:
    shown = [str(arg) for arg in args]
    return f"{shown[0]}.({', '.join(shown[1:])})" if is_member else f"({', '.join(shown)})"


class Checker:
    """Type checker of one expression. The environment declares variables, named types and functions."""

    def __init__(
        self,
        variables: MappingOf[str, CelType],
        types: MappingOf[str, CelType],
        functions: MappingOf[str, list[Overload]],
    ) -> None:
        self._scopes: list[MappingOf[str, CelType]] = [variables]
        self._types = types
        self._functions = functions
        self._mapping = unification.Assignments()
        self._fresh = 0
        self._checked: set[Expr] = set()
        """Operands that are checked before the node that they belong to."""
        self.issues: list[Issue] = []

    def check(self, root: Expr) -> CelType:
        """Return the type of the expression; unbound type parameters become dyn. Errors are added to `issues`."""
        self._check(root)
        for node in walk(root):
            node.type = substitute(self._mapping, node.type, free_to_dyn=True)
        return root.type

    def _report(self, node_offset: int, message: str) -> CelType:
        self.issues.append(Issue(node_offset, message))
        return ERROR

    def _check(self, node: Expr) -> CelType:
        """Set and return the type of a node. Chains are checked from their deepest node on, without recursion."""
        if node in self._checked:
            self._checked.remove(node)
            return node.type
        for below in spine(node)[:0:-1]:
            self._check_node(below)
            self._checked.add(below)
        return self._check_node(node)

    def _check_node(self, node: Expr) -> CelType:
        kind: CelType
        if isinstance(node, Literal):
            kind = _LITERALS[type(node.value)]
        elif isinstance(node, Ident):
            kind = self._ident(node)
        elif isinstance(node, Select):
            kind = self._select(node)
        elif isinstance(node, Call):
            kind = self._call(node)
        elif isinstance(node, ListNode):
            kind = self._list(node)
        elif isinstance(node, MapNode):
            kind = self._map(node)
        elif isinstance(node, StructNode):
            kind = self._struct(node)
        else:
            assert isinstance(node, Comprehension)
            kind = self._comprehension(node)
        node.type = kind
        return kind

    def _lookup(self, name: str) -> tuple[CelType, str] | None:
        """Return the type of a variable or type, and the name if it is a type."""
        name = name.removeprefix(".")
        for scope in reversed(self._scopes):
            if name in scope:
                return scope[name], ""
        named = self._types.get(name)
        if named is None and name in MESSAGES:
            named = MESSAGES[name].type
        return (CelType("type", "type", (named,)), name) if named is not None else None

    def _ident(self, node: Ident) -> CelType:
        found = self._lookup(node.name)
        if found is None:
            return self._report(node.offset, f"undeclared reference to '{node.name}' (in container '')")
        node.name = node.name.removeprefix(".")
        if found[1]:
            node.constant = TypeValue(found[1])
        return found[0]

    def _select(self, node: Select) -> CelType:
        name = None if node.test_only or node.optional else qualified_name(node)
        found = self._lookup(name) if name is not None and not self._is_local(node) else None
        if found is not None and name is not None:
            node.variable = Ident(node.offset, name)
            node.variable.type = found[0]
            node.variable.constant = TypeValue(found[1]) if found[1] else None
            return found[0]
        kind = self._field(node)
        return BOOL if node.test_only else substitute(self._mapping, kind)

    def _is_local(self, node: Expr) -> bool:
        while isinstance(node, Select):
            node = node.operand
        return isinstance(node, Ident) and any(node.name in scope for scope in self._scopes[1:])

    def _field(self, node: Select) -> CelType:
        operand = substitute(self._mapping, self._check(node.operand))
        target, was_optional = unwrap_optional(operand)
        kind = DYN
        if target.kind == "map":
            kind = target.params[1]
        elif target.kind == "struct":
            if node.field in RESERVED and node.field not in target.fields:  # `self.namespace` is `self.__namespace__`
                escaped = f"__{node.field}__"
                node.field = escaped if escaped in target.fields else node.field
            field = target.fields.get(node.field)
            kind = field if field is not None else self._report(node.offset, f"undefined field '{node.field}'")
        elif target.kind == "param":
            self._assign([(DYN, target)])
        elif not is_dyn_or_error(target):
            self._report(node.offset, f"type '{target}' does not support field selection")
        return optional_of(kind) if was_optional or node.optional else kind

    def _call(self, node: Call) -> CelType:
        for arg in node.args:
            self._check(arg)
        if node.target is not None:
            prefix = qualified_name(node.target)
            qualified = f"{prefix}.{node.function}".removeprefix(".") if prefix is not None else ""
            if qualified in self._functions:
                node.target = None
                node.function = qualified
            else:
                self._check(node.target)
        name = node.function.removeprefix(".")
        overloads = self._functions.get(name)
        if overloads is None:
            return self._report(node.offset, f"undeclared reference to '{node.function}' (in container '')")
        node.function = name
        if name in ("_&&_", "_||_"):
            return self._logic(node, overloads)
        return self._resolve(node, overloads)

    def _logic(self, node: Call, overloads: list[Overload]) -> CelType:
        node.overloads = [overloads[0]]
        fits = True
        for arg in node.args:
            if not self._assign([(arg.type, BOOL)]):
                fits = False
                self._report(arg.offset, f"expected type 'bool' but found '{self._shown(arg.type)}'")
        return BOOL if fits else ERROR

    def _shown(self, kind: CelType) -> CelType:
        return substitute(self._mapping, kind, free_to_dyn=True)

    def _resolve(self, node: Call, overloads: list[Overload]) -> CelType:
        args = [operand.type for operand in node.operands()]
        result: CelType | None = None
        for overload in overloads:
            if overload.member != (node.target is not None) or len(overload.params) != len(args):
                continue
            params, returned = self._instance(overload)
            if not self._assign(list(zip(args, params, strict=True))):
                continue
            node.overloads.append(overload)
            found = substitute(self._mapping, returned)
            if result is None:
                result = found
            elif result.kind != "dyn" and not _exactly(found, result):
                result = DYN
        if result is not None:
            return result
        shown = _signature([self._shown(arg) for arg in args], is_member=node.target is not None)
        return self._report(node.offset, f"found no matching overload for '{node.function}' applied to '{shown}'")

    def _instance(self, overload: Overload) -> tuple[tuple[CelType, ...], CelType]:
        """Return the signature with fresh variables in place of its type parameters."""
        fresh: unification.Mapping = {}
        for kind in (*overload.params, overload.result):
            self._freshen(kind, fresh)
        if not fresh:
            return overload.params, overload.result
        return tuple(substitute(fresh, kind) for kind in overload.params), substitute(fresh, overload.result)

    def _freshen(self, kind: CelType, fresh: unification.Mapping) -> None:
        if kind.kind == "param" and kind.name not in fresh:
            fresh[kind.name] = self._variable()
        for part in kind.params:
            self._freshen(part, fresh)

    def _variable(self) -> CelType:
        self._fresh += 1
        return param(f"_var{self._fresh - 1}")

    def _assign(self, pairs: list[tuple[CelType, CelType]]) -> bool:
        return unification.assign(self._mapping, pairs)

    def _join(self, previous: CelType | None, current: CelType) -> CelType:
        if previous is None:
            return current
        if self._assign([(previous, current)]):
            return most_general(previous, current)
        return DYN

    def _mismatch(self, offset: int, expected: CelType, actual: CelType) -> CelType:
        shown = self._shown(expected), self._shown(actual)
        return self._report(offset, f"expected type '{shown[0]}' but found '{shown[1]}'")

    def _element(self, node: Expr, *, optional: bool) -> CelType:
        kind = self._check(node)
        if not optional:
            return kind
        inner, was_optional = unwrap_optional(kind)
        if not was_optional and inner.kind != "dyn":
            self._mismatch(node.offset, optional_of(inner), inner)
        return inner

    def _list(self, node: ListNode) -> CelType:
        joined: CelType | None = None
        for index, element in enumerate(node.elements):
            kind = self._element(element, optional=index in node.optionals)
            joined = self._join(joined, kind)
        return list_of(joined if joined is not None else self._variable())

    def _map(self, node: MapNode) -> CelType:
        key_kind: CelType | None = None
        value_kind: CelType | None = None
        for key, value, optional in node.entries:
            key_kind = self._join(key_kind, self._check(key))
            value_kind = self._join(value_kind, self._element(value, optional=optional))
        if key_kind is None or value_kind is None:
            return map_of(self._variable(), self._variable())
        return map_of(key_kind, value_kind)

    def _struct(self, node: StructNode) -> CelType:
        message = MESSAGES.get(node.name.removeprefix("."))
        if message is not None:
            self._check_fields(node, message.fields)
            return message.type
        named = self._types.get(node.name.removeprefix("."))
        if named is None:
            return self._report(node.offset, f"undeclared reference to '{node.name}' (in container '')")
        if named.kind != "struct":
            return self._report(node.offset, f"'{named.name}' is not a message type")
        self._check_fields(node, named.fields)
        return named

    def _check_fields(self, node: StructNode, fields: MappingOf[str, CelType]) -> None:
        for offset, name, value, optional in node.entries:
            kind = self._element(value, optional=optional)
            field = fields.get(name)
            if field is None:
                self._report(offset, f"undefined field '{name}'")
            elif not self._assign([(field, kind)]):
                shown = self._shown(kind)
                self._report(offset, f"expected type of field '{name}' is '{field}' but provided type is '{shown}'")

    def _comprehension(self, node: Comprehension) -> CelType:
        self._check(node.iter_range)
        accumulated = self._check(node.accu_init)
        first, second = self._iteration_types(node)
        self._scopes.append({node.accu_var: accumulated})
        variables = {node.iter_var: first}
        if node.iter_var2:
            variables[node.iter_var2] = second
        self._scopes.append(variables)
        self._expect(node.condition, BOOL)
        self._expect(node.step, accumulated)
        self._scopes.pop()
        result = self._check(node.result)
        self._scopes.pop()
        return substitute(self._mapping, result)

    def _expect(self, node: Expr, expected: CelType) -> None:
        kind = self._check(node)
        if not self._assign([(expected, kind)]):
            self._mismatch(node.offset, expected, kind)

    def _iteration_types(self, node: Comprehension) -> tuple[CelType, CelType]:
        kind = substitute(self._mapping, node.iter_range.type)
        if kind.kind == "list":
            return (INT, kind.params[0]) if node.iter_var2 else (kind.params[0], ERROR)
        if kind.kind == "map":
            return kind.params[0], kind.params[1]
        if kind.kind in ("dyn", "error", "param") and kind.name != ANY.name:
            self._assign([(DYN, kind)])
            return DYN, DYN
        shown = self._shown(kind)
        message = f"expression of type '{shown}' cannot be range of a comprehension (must be list, map, or dynamic)"
        return self._report(node.iter_range.offset, message), ERROR


def _exactly(left: CelType, right: CelType) -> bool:
    return str(left) == str(right) and left.kind == right.kind


def check(
    root: Expr,
    source: str,
    *,
    variables: MappingOf[str, CelType],
    types: MappingOf[str, CelType],
    functions: MappingOf[str, list[Overload]],
) -> CelType:
    """Return the type of an expression. **Raises** CelTypeError with every error and its position."""
    checker = Checker(variables, types, functions)
    kind = checker.check(root)
    if checker.issues:
        raise CelTypeError(render(source, checker.issues))
    return kind
