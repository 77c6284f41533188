"""Syntax tree of an expression. Macros are expanded: macros that loop become a `Comprehension`."""

from collections.abc import Iterable, Iterator
from typing import Any

from sampan.schema.cel.types import ERROR, CelType


class Expr:
    """Node of the tree, with the offset of the token for error messages, and the type that the checker finds."""

    __slots__ = ("offset", "type")

    def __init__(self, offset: int) -> None:
        self.offset = offset
        self.type: CelType = ERROR

    def children(self) -> Iterator["Expr"]:
        """Yield the direct children."""
        return iter(())


class Literal(Expr):
    """Constant: None, bool, int, UInt, float, str or bytes."""

    __slots__ = ("value",)

    def __init__(self, offset: int, value: Any) -> None:
        super().__init__(offset)
        self.value = value


class Ident(Expr):
    """Identifier. If it is the name of a type, the checker sets `constant` to the type value."""

    __slots__ = ("constant", "name")

    def __init__(self, offset: int, name: str) -> None:
        super().__init__(offset)
        self.name = name
        self.constant: Any = None


class Select(Expr):
    """Field selection: `operand.field`; `test_only` for `has(operand.field)`; `optional` for `operand.?field`."""

    __slots__ = ("field", "operand", "optional", "test_only", "variable")

    def __init__(
        self, offset: int, operand: Expr, field: str, *, test_only: bool = False, optional: bool = False
    ) -> None:
        super().__init__(offset)
        self.operand = operand
        self.field = field
        self.test_only = test_only
        self.optional = optional
        self.variable: Ident | None = None
        """Variable, set by the checker if the dotted name is the name of a variable or type."""

    def children(self) -> Iterator[Expr]:
        yield self.operand


class Call(Expr):
    """Call of a function or operator. `target` is the receiver; the checker sets `overloads`."""

    __slots__ = ("args", "function", "overloads", "target")

    def __init__(self, offset: int, function: str, args: list[Expr], target: Expr | None = None) -> None:
        super().__init__(offset)
        self.function = function
        self.target = target
        self.args = args
        self.overloads: list[Any] = []

    def children(self) -> Iterator[Expr]:
        if self.target is not None:
            yield self.target
        yield from self.args

    def operands(self) -> list[Expr]:
        """Return the receiver, if any, and the arguments."""
        return self.args if self.target is None else [self.target, *self.args]


class ListNode(Expr):
    """List literal: `[a, ?b]`; `optionals` are the indices of the optional elements."""

    __slots__ = ("elements", "optionals")

    def __init__(self, offset: int, elements: list[Expr], optionals: frozenset[int] = frozenset()) -> None:
        super().__init__(offset)
        self.elements = elements
        self.optionals = optionals

    def children(self) -> Iterator[Expr]:
        return iter(self.elements)


class MapNode(Expr):
    """Map literal: `{k: v, ?k: v}`."""

    __slots__ = ("entries",)

    def __init__(self, offset: int, entries: list[tuple[Expr, Expr, bool]]) -> None:
        super().__init__(offset)
        self.entries = entries

    def children(self) -> Iterator[Expr]:
        for key, value, _ in self.entries:
            yield key
            yield value


class StructNode(Expr):
    """Struct literal: `Name{field: value}`; each entry has the offset of its colon."""

    __slots__ = ("entries", "name")

    def __init__(self, offset: int, name: str, entries: list[tuple[int, str, Expr, bool]]) -> None:
        super().__init__(offset)
        self.name = name
        self.entries = entries

    def children(self) -> Iterator[Expr]:
        for _, _, value, _ in self.entries:
            yield value


class Comprehension(Expr):
    """Fold over a list or map. `kind` is the macro it was expanded from, or `bind` for a local variable.

    The generic parts (`accu_init`, `condition`, `step`, `result`) are type-checked and estimated. The program is
    compiled from `predicate` and `transform`, the macro's arguments.
    """

    __slots__ = (
        "accu_init", "accu_var", "condition", "iter_range", "iter_var", "iter_var2", "kind", "predicate", "result",
        "step", "transform",
    )  # fmt: skip

    def __init__(self, offset: int, kind: str, *, iter_range: Expr, iter_var: str, iter_var2: str = "") -> None:
        super().__init__(offset)
        self.kind = kind
        self.iter_range = iter_range
        self.iter_var = iter_var
        self.iter_var2 = iter_var2
        self.accu_var = "@result"
        self.accu_init: Expr = self
        self.condition: Expr = self
        self.step: Expr = self
        self.result: Expr = self
        self.predicate: Expr | None = None
        self.transform: Expr | None = None

    def children(self) -> Iterator[Expr]:
        return iter((self.iter_range, self.accu_init, self.condition, self.step, self.result))


_BINARY = frozenset(
    ("_+_", "_-_", "_*_", "_/_", "_%_", "_==_", "_!=_", "_<_", "_<=_", "_>_", "_>=_", "@in", "_[_]", "_[?_]")
)
_BRANCHES = frozenset(("_&&_", "_||_", "_?_:_", "dyn"))
"""Functions that are compiled or estimated together with their operands."""


def depth(root: Expr) -> int:
    """Return the height of the tree as cel-go's parser counts it, without recursion.

    Operators between two values, selections and methods are one level each. Other nodes are on the level of their
    operands: literals of lists and maps, functions, `!`, `&&` and `||`.
    """
    deepest = 0
    stack = [(root, 1)]
    while stack:
        node, level = stack.pop()
        deepest = max(deepest, level)
        below = level + _is_level(node)
        stack.extend((child, below) for child in _written(node))
    return deepest


def _is_level(node: Expr) -> bool:
    if isinstance(node, Call):
        return node.target is not None or (len(node.args) == 2 and node.function in _BINARY)
    return isinstance(node, Comprehension) or (isinstance(node, Select) and not node.test_only)


def _written(node: Expr) -> Iterable[Expr]:
    """Return the operands of a node; those of a macro are its arguments, not its expansion."""
    if isinstance(node, Comprehension) and node.kind != "bind":
        return [each for each in (node.iter_range, node.predicate, node.transform) if each is not None]
    return node.children()


def spine(node: Expr) -> list[Expr]:
    """Return the node, its first operand, the first operand of that and so on, the deepest last.

    A chain such as `a + b + c`, `a[0][1]` or `a.f().g()` is as deep as it is long. Code that handles its nodes from the
    deepest on needs no recursion. A name such as `a.b` is one node, because it may be the name of a variable.
    """
    nodes = [node]
    while True:
        below: Expr | None = None
        if isinstance(node, Call) and node.function not in _BRANCHES:
            below = node.target if node.target is not None else (node.args[0] if node.args else None)
            if node.target is not None and qualified_name(node.target) is not None:
                below = None
        elif isinstance(node, Select) and qualified_name(node) is None:
            below = node.operand
        if below is None:
            return nodes
        nodes.append(node := below)


def walk(root: Expr) -> Iterator[Expr]:
    """Yield all nodes."""
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(node.children())


def qualified_name(node: Expr) -> str | None:
    """Return `a.b.c` if the node is a plain chain of names, else None."""
    names: list[str] = []
    while isinstance(node, Select) and not node.test_only and not node.optional:
        names.append(node.field)
        node = node.operand
    if not isinstance(node, Ident):
        return None
    return ".".join([node.name, *reversed(names)])
