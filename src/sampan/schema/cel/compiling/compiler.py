"""Compile a checked expression to closures."""

from collections.abc import Callable, Mapping
from typing import Any

from sampan.schema.cel import operators
from sampan.schema.cel.compiling import code, folds, selection
from sampan.schema.cel.compiling.code import FIRST_VARIABLE, Code, Frame, constant
from sampan.schema.cel.declarations import LIST_CREATE_COST, MAP_CREATE_COST, STRUCT_CREATE_COST
from sampan.schema.cel.errors import EVALUATION_ERRORS, CelCompileError, CelRuntimeError
from sampan.schema.cel.library.regex import compile_pattern
from sampan.schema.cel.library.standard import CONVERSIONS
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
    spine,
)
from sampan.schema.cel.types import CelType, unwrap_optional
from sampan.schema.cel.values import (
    ABSENT,
    INT_MAX,
    INT_MIN,
    NONE,
    TYPE_NAMES,
    OptionalValue,
    UInt,
    contains,
)

_EXACT = frozenset(("bool", "int", "uint", "string", "bytes", "timestamp", "duration", "double", "null"))
_PATTERNS = frozenset(("matches", "find", "findAll"))
_TEXTS = frozenset(("string", "bytes"))
_ORDER: dict[str, Callable[[Any, Any], bool]] = {
    "_<_": lambda left, right: left < right,
    "_<=_": lambda left, right: left <= right,
    "_>_": lambda left, right: left > right,
    "_>=_": lambda left, right: left >= right,
}


def _same(left: Any, right: Any) -> bool:
    return bool(left == right)


def _different(left: Any, right: Any) -> bool:
    return bool(left != right)


def _add_ints(left: Any, right: Any) -> int:
    result: int = left + right
    if INT_MIN <= result <= INT_MAX:
        return result
    raise CelRuntimeError("integer overflow")


class Compiler:
    """Compiler of one expression. Variables that the program reads get slots in its frame."""

    def __init__(self) -> None:
        self.slots: dict[str, int] = {}
        """Slots of the environment's variables, by name."""
        self._locals: list[tuple[str, int]] = []
        self._compiled: dict[int, Code] = {}
        """Code of operands that are compiled before the node that they belong to, by the id of the node."""
        self.size = FIRST_VARIABLE
        """Number of entries in a frame."""

    def compile(self, node: Expr) -> Code:
        """Return the code of a node. Chains are compiled from their deepest node on, without recursion."""
        found = self._compiled.pop(id(node), None)
        if found is not None:
            return found
        for below in spine(node)[:0:-1]:
            self._compiled[id(below)] = self._compile(below)
        return self._compile(node)

    def _compile(self, node: Expr) -> Code:
        if isinstance(node, Literal):
            return constant(node.value)
        if isinstance(node, Ident):
            return self._ident(node)
        if isinstance(node, Select):
            return self._select(node)
        if isinstance(node, Call):
            return self._call(node)
        if isinstance(node, ListNode):
            return self._list(node)
        if isinstance(node, MapNode):
            return self._map(node)
        if isinstance(node, StructNode):
            return self._struct(node)
        assert isinstance(node, Comprehension)
        return self._fold(node)

    def _slot(self) -> int:
        self.size += 1
        return self.size - 1

    def _ident(self, node: Ident) -> Code:
        if node.constant is not None:
            if node.constant.name in MESSAGES and node.constant.name not in TYPE_NAMES:
                raise CelCompileError(f"reference to undefined type: {node.constant.name}")
            return constant(node.constant)
        slot = next((slot for name, slot in reversed(self._locals) if name == node.name), None)
        if slot is None:
            slot = self.slots.get(node.name)
        if slot is None:
            slot = self.slots[node.name] = self._slot()
        found = slot
        return Code(lambda frame: frame[found], 1, attribute="path", slot=found)

    def _part(self, operand: Code) -> tuple[int, str]:
        """Return the cost of an operand of a selection, and the `attribute` of the result."""
        if operand.attribute:
            return operand.cost, operand.attribute
        return operand.cost + 1, "path"

    def _select(self, node: Select) -> Code:
        if node.variable is not None:
            return self._ident(node.variable)
        operand = self.compile(node.operand)
        if node.test_only:
            return self._has(node, operand)
        cost, attribute = self._part(operand)
        return Code(self._field(node, operand), cost + 1, attribute=attribute)

    def _field(self, node: Select, operand: Code) -> Callable[[Frame], Any]:
        kind, was_optional = unwrap_optional(node.operand.type)
        name, run = node.field, operand.run
        key = kind.keys.get(name, name)
        declared = kind.kind == "struct"
        if was_optional or node.optional:
            if not declared or kind.wrap is not None or kind.fields[name].wrap is None:
                return selection.optional_field_code(run, key, declared=declared)
            return selection.wrapped_optional(run, key, kind.fields[name])
        if declared:
            if kind.wrap is not None:
                return selection.object_field(run, key, kind.fields[name].wrap, name)
            return selection.plain_field(operand, key, kind.fields[name].wrap, name)
        if kind.kind == "map":
            return selection.entry(run, key)
        return selection.any_field(run, key)

    def _has(self, node: Select, operand: Code) -> Code:
        kind, _ = unwrap_optional(node.operand.type)
        run = operand.run
        key = kind.keys.get(node.field, node.field)
        declared = kind.kind == "struct"
        cost = operand.cost if operand.attribute else operand.cost + 1
        if declared and kind.wrap is None and kind is node.operand.type:
            return Code(lambda frame: run(frame).get(key) is not None, cost, attribute="path")

        def has(frame: Frame) -> bool:
            value = run(frame)
            if type(value) is OptionalValue:
                return selection.present(frame, selection.optional_field(value, key, declared=declared)) is not NONE
            return selection.find_field(value, key, declared=declared) is not ABSENT

        return Code(has, cost)

    def _call(self, node: Call) -> Code:
        special = _SPECIAL.get(node.function)
        if special is not None:
            return special(self, node)
        args = [self.compile(operand) for operand in node.operands()]
        kinds = [operand.type for operand in node.operands()]
        if len(args) == 2:
            fast = self._fast(node.function, args, kinds)
            if fast is not None:
                return fast
        impl, cost = code.implementation(node.function, node.overloads, kinds)
        if node.function in _PATTERNS and isinstance(args[1].constant, str):
            self._check_constant(compile_pattern, args[1].constant)
        if node.function in CONVERSIONS and args[0].is_constant:
            return self._folded(impl, args[0].constant)
        return code.call(impl, args, cost)

    def _check_constant(self, check: Callable[[Any], object], value: Any) -> None:
        try:
            check(value)
        except EVALUATION_ERRORS as error:
            raise CelCompileError(str(error)) from None

    def _folded(self, impl: Callable[..., Any], value: Any) -> Code:
        try:
            return constant(impl(value))
        except EVALUATION_ERRORS as error:
            raise CelCompileError(str(error)) from None

    def _fast(self, function: str, args: list[Code], kinds: list[CelType]) -> Code | None:
        """Return faster code for operators whose operands have the same simple type, or None."""
        left, right = kinds[0].kind, kinds[1].kind
        if left != right:
            return None
        order = _ORDER.get(function)
        if order is not None:
            if left in _TEXTS:
                return code.text_relation(args[0], args[1], order)
            return self._ordered(function, args) if left == "int" else None
        if function in ("_==_", "_!=_") and left in _EXACT:
            impl = _same if function == "_==_" else _different
            if left in _TEXTS:
                return code.text_relation(args[0], args[1], impl)
            return code.call(impl, args, 1)
        if function == "_+_" and left == "int":
            return code.call(_add_ints, args, 1)
        return None

    def _ordered(self, function: str, args: list[Code]) -> Code:
        one, other = args[0].run, args[1].run
        cost = args[0].cost + args[1].cost + 1
        if function == "_<_":
            return Code(lambda frame: one(frame) < other(frame), cost)
        if function == "_<=_":
            return Code(lambda frame: one(frame) <= other(frame), cost)
        if function == "_>_":
            return Code(lambda frame: one(frame) > other(frame), cost)
        return Code(lambda frame: one(frame) >= other(frame), cost)

    def logic(self, node: Call) -> Code:
        """Compile && and ||, with nested calls of one operator flattened."""
        terms: list[Code] = []
        stack: list[Expr] = [node]
        while stack:
            term = stack.pop()
            if isinstance(term, Call) and term.function == node.function:
                stack.extend(reversed(term.args))
            else:
                terms.append(self.compile(term))
        return code.logical(terms, stop=node.function == "_||_")

    def ternary(self, node: Call) -> Code:
        """Compile `a ? b : c`."""
        condition, yes, no = (self.compile(arg) for arg in node.args)
        return code.choice(condition, yes, no)

    def index(self, node: Call) -> Code:
        """Compile `a[b]` and `a[?b]`."""
        container, key = (self.compile(arg) for arg in node.args)
        if key.is_constant:
            self._check_constant(operators.check_key, key.constant)
        cost, attribute = self._part(container)
        cost += key.cost if key.attribute else key.cost + 1
        run, key_run = container.run, key.run
        if node.function == "_[?_]" or node.args[0].type.kind not in ("list", "map"):
            index = selection.any_index(run, key, optional=node.function == "_[?_]")
            return Code(index, cost, attribute=attribute)
        return Code(lambda frame: operators.index(run(frame), key_run(frame)), cost, attribute=attribute)

    def membership(self, node: Call) -> Code:
        """Compile `a in b`."""
        args = [self.compile(arg) for arg in node.args]
        value, container = args
        if len(node.overloads) == 1 and node.overloads[0].id == "in_list" and container.is_constant:
            found = self._constant_membership(node, value, container.constant)
            if found is not None:
                return found
        impl, cost = code.implementation("@in", node.overloads, [arg.type for arg in node.args])
        return code.call(impl, args, cost)

    def _constant_membership(self, node: Call, value: Code, items: list[Any]) -> Code | None:
        """Compile `value in [constants]`. Only the value has a cost: the list is built once, at compile time."""
        if not items:
            return constant(False)
        if any(type(item) not in (str, int, UInt, float, bool, type(None)) for item in items):
            return None
        run = value.run
        if node.args[0].type.kind == "string":
            known = frozenset(items)
            return Code(lambda frame: run(frame) in known, value.cost)
        return Code(lambda frame: contains(items, run(frame)), value.cost)

    def alternative(self, node: Call) -> Code:
        """Compile `optional.or(other)` and `optional.orValue(default)`; the argument is evaluated only if needed."""
        first, second = (self.compile(operand) for operand in node.operands())
        run, other, cost = first.run, second.run, second.cost
        unwrap = node.function == "orValue"

        def choose(frame: Frame) -> Any:
            value = run(frame)
            if type(value) is not OptionalValue:
                return value
            if value.value is not ABSENT:
                return value.value if unwrap else value
            frame[code.COST] += cost
            return other(frame)

        return Code(choose, first.cost)

    def _list(self, node: ListNode) -> Code:
        elements = [self.compile(element) for element in node.elements]
        if all(element.is_constant for element in elements) and not node.optionals:
            return constant([element.constant for element in elements])
        runs = [element.run for element in elements]
        cost = sum(element.cost for element in elements) + LIST_CREATE_COST
        if not node.optionals:
            return Code(lambda frame: [run(frame) for run in runs], cost)

        def make(frame: Frame) -> list[Any]:
            made: list[Any] = []
            for position, run in enumerate(runs):
                value = run(frame)
                if position not in node.optionals:
                    made.append(value)
                elif type(value) is not OptionalValue:
                    raise CelRuntimeError("cannot initialize optional list element from non-optional value")
                elif value.value is not ABSENT:
                    made.append(value.value)
            return made

        return Code(make, cost)

    def _map(self, node: MapNode) -> Code:
        entries = [(self.compile(key), self.compile(value), optional) for key, value, optional in node.entries]
        runs = [(key.run, value.run, optional) for key, value, optional in entries]

        def make(frame: Frame) -> dict[Any, Any]:
            made: dict[Any, Any] = {}
            for key_run, value_run, optional in runs:
                key, value = key_run(frame), value_run(frame)
                if type(key) not in (str, int, UInt, bool):
                    raise CelRuntimeError(f"unsupported key type: {type(key).__name__}")
                if optional:
                    if type(value) is not OptionalValue:
                        raise CelRuntimeError(f"cannot initialize optional entry '{key}' from non-optional value")
                    if value.value is ABSENT:
                        continue
                    value = value.value
                made[key] = value
            return made

        kinds = (str, int, UInt, bool)
        if all(k.is_constant and type(k.constant) in kinds and v.is_constant and not o for k, v, o in entries):
            return constant(make([]))
        return Code(make, sum(key.cost + value.cost for key, value, _ in entries) + MAP_CREATE_COST)

    def _struct(self, node: StructNode) -> Code:
        entries = [(name, self.compile(value), optional) for _, name, value, optional in node.entries]
        runs = [(node.type.keys.get(name, name), value.run, optional) for name, value, optional in entries]
        message = MESSAGES.get(node.name.removeprefix("."))

        def make(frame: Frame) -> Any:
            made: dict[str, Any] = {}
            for name, run, optional in runs:
                value = run(frame)
                if optional:
                    if value.value is ABSENT:
                        continue
                    value = value.value
                made[name] = value
            return made if message is None else message.make(made)

        return Code(make, sum(value.cost for _, value, _ in entries) + STRUCT_CREATE_COST)

    def _fold(self, node: Comprehension) -> Code:
        if node.kind == "bind":
            value = self.compile(node.accu_init)
            slot = self._slot()
            self._locals.append((node.accu_var, slot))
            body = self.compile(node.result)
            self._locals.pop()
            return folds.local(slot, value, body)
        source = self.compile(node.iter_range)
        first = self._slot()
        second = self._slot() if node.iter_var2 else None
        depth = len(self._locals)
        self._locals.append((node.iter_var, first))
        if second is not None:
            self._locals.append((node.iter_var2, second))
        predicate = self.compile(node.predicate) if node.predicate is not None else None
        transform = self.compile(node.transform) if node.transform is not None else None
        del self._locals[depth:]
        return folds.comprehension(node.kind, source, (first, second), predicate, transform)


_SPECIAL: Mapping[str, Callable[[Compiler, Call], Code]] = {
    "_&&_": Compiler.logic,
    "_||_": Compiler.logic,
    "_?_:_": Compiler.ternary,
    "_[_]": Compiler.index,
    "_[?_]": Compiler.index,
    "@in": Compiler.membership,
    "or": Compiler.alternative,
    "orValue": Compiler.alternative,
}
