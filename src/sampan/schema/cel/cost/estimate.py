"""Estimate the maximum cost of an expression from the limits that schemas declare.

Costs and sizes are ranges (minimum, maximum), capped at `UNBOUNDED`. Source: cel-go checker/cost.go (0.26).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from sampan.schema.cel.cost.calls import Operand, call_estimate
from sampan.schema.cel.cost.range import ONE, UNKNOWN, ZERO, Range, fixed
from sampan.schema.cel.declarations import LIST_CREATE_COST, MAP_CREATE_COST, STRUCT_CREATE_COST
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
from sampan.schema.cel.types import CelType, is_optional, unwrap

Path = tuple[str, ...]
_SELF = "self"


class _Entries(NamedTuple):
    """Sizes of a container's keys and values."""

    container: str
    key: Range
    value: Range


class _Local(NamedTuple):
    path: Path | None
    size: Range | None
    entries: _Entries | None


@dataclass(slots=True)
class _Facts:
    """Estimated properties of a node."""

    path: Path | None = None
    size: Range | None = None
    entries: _Entries | None = None


@dataclass(slots=True)
class _Estimator:
    variables: Mapping[str, CelType]
    facts: dict[int, _Facts] = field(default_factory=dict)
    locals: list[tuple[str, _Local]] = field(default_factory=list)
    costs: dict[int, Range] = field(default_factory=dict)
    """Costs of operands that are estimated before the node that they belong to, by the id of the node."""

    def cost(self, node: Expr) -> Range:
        """Return the cost of a node. Chains are estimated from their deepest node on, without recursion."""
        found = self.costs.pop(id(node), None)
        if found is not None:
            return found
        for below in spine(node)[:0:-1]:
            self.costs[id(below)] = self._cost(below)
        return self._cost(node)

    def _cost(self, node: Expr) -> Range:
        if isinstance(node, Literal):
            return ZERO
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
            total = fixed(STRUCT_CREATE_COST)
            for _, _, value, _ in node.entries:
                total = total.plus(self.cost(value))
            return total
        assert isinstance(node, Comprehension)
        return self._bind(node) if node.kind == "bind" else self._fold(node)

    def _of(self, node: Expr) -> _Facts:
        return self.facts.setdefault(id(node), _Facts())

    def _local(self, node: Expr) -> _Local | None:
        if not isinstance(node, Ident):
            return None
        return next((local for name, local in reversed(self.locals) if name == node.name), None)

    def _path(self, node: Expr) -> Path | None:
        local = self._local(node)
        return local.path if local is not None else self._of(node).path

    def _ident(self, node: Ident) -> Range:
        local = self._local(node)
        self._of(node).path = local.path if local is not None else (node.name,)
        return ONE

    def _select(self, node: Select) -> Range:
        if node.variable is not None:
            self._of(node).path = (node.variable.name,)
            return ONE
        # The order is cel-go's: the path of the operand is known only after its cost was computed.
        total = self.cost(node.operand)
        # `has(x.y)` costs no more than `x`: cel-go does not count the test itself.
        if node.test_only:
            return total
        path = self._path(node.operand)
        self._of(node).path = None if path is None else (*path, node.field)
        if node.optional:
            return total.plus(ONE)
        return total.plus(ONE) if node.operand.type.kind in ("map", "struct", "param") else total

    def _call(self, node: Call) -> Range:
        # `dyn` changes only the type, so the size limits of its argument still apply.
        if node.function == "dyn":
            total = ONE.plus(self.cost(node.args[0]))
            facts = self._of(node)
            facts.size, facts.entries = self._size(node.args[0]), self._entries(node.args[0])
            return total
        arg_costs = [self.cost(arg) for arg in node.args]
        target_cost = self.cost(node.target) if node.target is not None else ZERO
        args = [self._operand(arg) for arg in node.args]
        target = self._operand(node.target) if node.target is not None else None
        cost: Range | None = None
        size: Range | None = None
        # The types may allow several overloads. The estimate must cover the most expensive one.
        for overload in node.overloads:
            self._combine_entries(node, overload.id)
            estimate = call_estimate(node.function, overload.id, target, args, arg_costs)
            cost = estimate.cost if cost is None else cost.union(estimate.cost)
            if estimate.size is not None:
                size = estimate.size if size is None else size.union(estimate.size)
            if overload.id in ("index_list", "index_map"):
                size = self._index(node, overload.id)
            if size is None:
                size = self._size(node)
        if size is not None:
            self._of(node).size = size
        return target_cost.plus(cost if cost is not None else ZERO)

    def _index(self, node: Call, overload: str) -> Range | None:
        path = self._path(node.args[0])
        if path is not None:
            self._of(node).path = (*path, "@items" if overload == "index_list" else "@values")
        entries = self._entries(node.args[0])
        return entries.value if entries is not None else None

    def _combine_entries(self, node: Call, overload: str) -> None:
        # Of a conditional, either branch may be the result. Of a sum, both parts are in it.
        pair = {"conditional": (1, 2), "add_string": (0, 1), "add_bytes": (0, 1), "add_list": (0, 1)}.get(overload)
        if pair is None:
            return
        one, other = (self._entries(node.args[position]) for position in pair)
        if one is not None and other is not None:
            key, value = one.key.union(other.key), one.value.union(other.value)
            self._of(node).entries = _Entries(one.container, key, value)

    def _list(self, node: ListNode) -> Range:
        total, size = fixed(LIST_CREATE_COST), None
        for element in node.elements:
            total = total.plus(self.cost(element))
            # One element without a limit makes the whole list unlimited.
            found = self._size(element) or UNKNOWN
            size = found if size is None else size.union(found)
        self._of(node).entries = _Entries("list", ONE, size or ZERO)
        return total

    def _map(self, node: MapNode) -> Range:
        total, keys, values = fixed(MAP_CREATE_COST), None, None
        for key, value, _ in node.entries:
            total = total.plus(self.cost(key)).plus(self.cost(value))
            key_size, value_size = self._size(key) or UNKNOWN, self._size(value) or UNKNOWN
            keys = key_size if keys is None else keys.union(key_size)
            values = value_size if values is None else values.union(value_size)
        self._of(node).entries = _Entries("map", keys or ZERO, values or ZERO)
        return total

    def _bind(self, node: Comprehension) -> Range:
        total = fixed(LIST_CREATE_COST).plus(self.cost(node.accu_init))
        local = _Local(self._path(node.accu_init), self._size(node.accu_init), self._entries(node.accu_init))
        self.locals.append((node.accu_var, local))
        total = total.plus(self.cost(node.result))
        facts = self._of(node)
        facts.size, facts.entries = self._size(node.result), self._entries(node.result)
        self.locals.pop()
        return total

    def _fold(self, node: Comprehension) -> Range:
        total = self.cost(node.iter_range).plus(self.cost(node.accu_init))
        self.locals.append(
            (
                node.accu_var,
                _Local(self._path(node.accu_init), self._size(node.accu_init), self._entries(node.accu_init)),
            )
        )
        self._push_iteration(node)
        iteration_cost = self.cost(node.condition).plus(self.cost(node.step))
        step_entries = self._entries(node.step)
        # The result may use the accumulator, but no iteration variable.
        del self.locals[-2 if node.iter_var2 else -1 :]
        total = total.plus(self.cost(node.result))
        self.locals.pop()
        count = self._size(node.iter_range) or UNKNOWN
        facts = self._of(node)
        # `all`, `exists` and the like result in a scalar. `map` and `filter` have as many items as the range.
        if isinstance(node.accu_init, Literal):
            facts.size = self._size(node.accu_init)
        else:
            facts.size, facts.entries = count, step_entries
        return total.plus(count.times(iteration_cost))

    def _push_iteration(self, node: Comprehension) -> None:
        path = self._path(node.iter_range) or ()
        entries = self._entries(node.iter_range)
        container = entries.container if entries is not None else node.iter_range.type.kind
        is_list = container == "list"
        key = entries.key if entries is not None else None
        value = entries.value if entries is not None else None
        keys = _Local((*path, "@indices" if is_list else "@keys"), key, None)
        values = _Local((*path, "@items" if is_list else "@values"), value, None)
        if node.iter_var2:
            self.locals.append((node.iter_var, keys))
            self.locals.append((node.iter_var2, values))
        else:
            # With one variable, a list iterates over items and a map over keys.
            self.locals.append((node.iter_var, values if is_list else keys))

    def _operand(self, node: Expr) -> Operand:
        items: Range | None = None
        item_kind = ""
        if node.type.params:
            element = node.type.params[0]
            item_kind = element.kind
            path = self._path(node)
            items = self._declared_size((*path, "@items")) if path is not None else None
        value = node.value if isinstance(node, Literal) else None
        return Operand(node.type, self._size(node), item_kind, items, value)

    def _size(self, node: Expr) -> Range | None:
        facts = self._of(node)
        if facts.size is not None:
            return facts.size
        known = _literal_size(node)
        if known is not None:
            return known
        path = self._path(node)
        declared = self._declared_size(path) if path else None
        if declared is not None:
            facts.size = declared
            return declared
        # After the declared size, because a duration or timestamp is stored as text with a declared length.
        if _is_scalar(node.type):
            return ONE
        local = self._local(node)
        return local.size if local is not None else None

    def _entries(self, node: Expr) -> _Entries | None:
        found = self._of(node).entries
        if found is not None:
            return found
        local = self._local(node)
        return local.entries if local is not None else None

    def _declared_size(self, path: Path) -> Range | None:
        """Return the size that the schema allows for the value at a path; None if there is no path or no limit.

        An iteration variable over an expression without a path (a conditional, a literal, the result of `map`) has a
        path that starts with `@items`. Kubernetes resolves paths relative to the schema that has the rule, and ignores
        their first step. So `@items` is equivalent to `self`.
        Source: apiextensions-apiserver pkg/apiserver/schema/cel/compilation.go sizeEstimator.EstimateSize (1.36).
        """
        if not path:
            return None
        kind = self.variables.get(path[0]) or self.variables.get(_SELF)
        for name in path[1:]:
            if kind is None:
                return None
            kind = _below(kind, name)
        if kind is None or (kind.kind == "dyn" and kind.max_elements is None):
            return None
        return Range(0, kind.max_elements or 0)


def _below(kind: CelType, name: str) -> CelType | None:
    if is_optional(kind):
        kind = kind.params[0]
    if name in ("@items", "@values"):
        return kind.params[-1] if kind.kind in ("list", "map") else None
    if name == "@keys":
        return kind.params[0] if kind.kind == "map" else None
    return kind.fields.get(name)


def _literal_size(node: Expr) -> Range | None:
    if isinstance(node, Literal):
        return fixed(len(node.value)) if isinstance(node.value, str | bytes) else ONE
    if isinstance(node, ListNode):
        return fixed(len(node.elements))
    return fixed(len(node.entries)) if isinstance(node, MapNode) else None


def _is_scalar(kind: CelType) -> bool:
    if is_optional(kind):
        return _is_scalar(kind.params[0])
    return unwrap(kind).kind in ("bool", "double", "duration", "int", "timestamp", "uint")


def estimate(root: Expr, variables: Mapping[str, CelType]) -> Range:
    """Return the minimum and maximum cost of a checked expression, given the types of its variables."""
    return _Estimator(variables).cost(root)
